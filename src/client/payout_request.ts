/** The request of a payout: a choice that the types of the document do not express. */
import type { CreatePayoutRequest } from './api_types.js'

type Beneficiaries = 'beneficiary' | 'beneficiary_id'

/** Exactly one form of beneficiary: an existing one, or one that the payout creates. */
export type CreatePayout = Omit<CreatePayoutRequest, Beneficiaries> &
  (
    | { readonly beneficiary_id: string; readonly beneficiary?: never }
    | {
        readonly beneficiary: NonNullable<CreatePayoutRequest['beneficiary']>
        readonly beneficiary_id?: never
      }
  )
