/**
 * Beneficiaries by the age of their latest payout, for the erasure of those that are not paid any
 * more.
 *
 * - A page reads a bounded number of rows along the primary key. Ids have the time of their
 *   creation; the latest payout is a look-up in the index of a beneficiary's payouts.
 */
import type { Instant } from '../base/clock.js'
import { leastIdAt } from '../base/ids.js'
import { hasDiscrepancy } from './archive.js'
import type { Statement } from './database.js'

export interface BeneficiaryAge {
  readonly id: string
  readonly tenant: string
  /** 1: its name and account are erased. */
  readonly isErased: 0 | 1
  /** Null means that it was never paid. */
  readonly latestPayout: string | null
}

export interface PayoutOfBeneficiary {
  readonly id: string
  /** 1: it is open, has a timer, or a discrepancy that is not resolved. */
  readonly isNeeded: 0 | 1
}

export interface BeneficiaryAges {
  /** Beneficiaries with ids after `after` that were created before the moment, in order. */
  beneficiaries(after: string, before: Instant, limit: number): Promise<readonly BeneficiaryAge[]>
  /** Payouts to a beneficiary with ids after `after`, in order. */
  payouts(
    beneficiary: Pick<BeneficiaryAge, 'id' | 'tenant'>,
    after: string,
    limit: number,
  ): Promise<readonly PayoutOfBeneficiary[]>
}

export const createBeneficiaryAges = (
  read: <R>(statement: Statement) => Promise<R[]>,
): BeneficiaryAges => ({
  beneficiaries: (after, before, limit) => read(beneficiaryAgesStatement(after, before, limit)),
  payouts: (beneficiary, after, limit) =>
    read(payoutsOfBeneficiaryStatement(beneficiary, after, limit)),
})

export const beneficiaryAgesStatement = (
  after: string,
  before: Instant,
  limit: number,
): Statement => ({
  sql: () => `SELECT b.id, b.tenant, CASE WHEN b.account_last4 = '' THEN 1 ELSE 0 END AS "isErased",
      (SELECT max(p.id) FROM payouts p WHERE p.tenant = b.tenant AND p.beneficiary = b.id)
        AS "latestPayout"
    FROM beneficiaries b WHERE b.id > ? AND b.id < ? ORDER BY b.id LIMIT ?`,
  values: [after, leastIdAt('beneficiary', before), limit],
})

export const payoutsOfBeneficiaryStatement = (
  { id, tenant }: Pick<BeneficiaryAge, 'id' | 'tenant'>,
  after: string,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT id, CASE WHEN state IN ('created', 'processing') OR due_at IS NOT NULL
      OR ${hasDiscrepancy(d)} THEN 1 ELSE 0 END AS "isNeeded"
    FROM payouts p ${d.indexedBy('payouts_by_beneficiary')}
    WHERE tenant = ? AND beneficiary = ? AND id > ? ORDER BY id LIMIT ?`,
  values: [tenant, id, after, limit],
})
