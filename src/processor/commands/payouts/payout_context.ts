/** A new payout in the forms in which it is compared and stored: its request, and its context. */
import { plus } from '../../../base/clock.js'
import { newId, type BeneficiaryId, type PayoutId, type TenantId } from '../../../base/ids.js'
import type { Currency } from '../../../money/currency.js'
import type { feesFor } from '../../../money/fees.js'
import { toWire } from '../../../money/money.js'
import type { CreatePayout__Output as CreatePayout } from '../../../../protos/types/causeway/v1/CreatePayout.js'
import type { FrozenBeneficiary, PayoutContext } from '../../../../actors/payout/context.js'
import type { Route } from '../../../money/payout_routes.js'
import type { BeneficiaryRow } from '../../changes/beneficiaries.js'
import { orphanOfPayout } from '../../changes/orphans.js'
import type { CommandContext } from '../../cycle/command.js'
import type { Vault } from '../../keys/vault.js'

/** Requests that differ only in surrounding blanks are the same. */
export function trimmed(given: CreatePayout): CreatePayout {
  const { beneficiary: inline, ...request } = given
  const reference = given.reference.trim()
  if (!inline) return { ...request, reference }
  const beneficiary = { ...inline, name: inline.name.trim(), bank_code: inline.bank_code.trim() }
  return { ...request, reference, beneficiary }
}

/**
 * The parts by which two requests are compared: the validated body, trimmed and with its defaults.
 * A member added by a later version must be omitted while absent: null would change the hash of
 * requests whose keys are bound already.
 */
export function hashedParts(request: CreatePayout): Parameters<Vault['hashRequest']>[0] {
  const { amount, currency, reference, metadata } = request
  const inline = request.beneficiary
  return {
    amount,
    currency,
    reference,
    metadata,
    description: request.description ?? null,
    beneficiary_id: request.beneficiary_id ?? null,
    beneficiary: inline
      ? {
          type: inline.type,
          name: inline.name,
          destination_country: inline.destination_country,
          currency: inline.currency,
          account_number: inline.account_number,
          bank_code: inline.bank_code,
        }
      : null,
  }
}

export interface PayoutTerms {
  readonly beneficiary: BeneficiaryRow
  readonly currency: Currency
  readonly route: Route
  /** Null means that the payout is refused. */
  readonly rail: string | null
  readonly fees: Extract<ReturnType<typeof feesFor>, { ok: true }>
}

/** The context, with a review deadline when it is under review or matches an orphan execution. */
export function withReviewDeadline(
  ctx: CommandContext,
  context: PayoutContext,
  isReviewed: boolean,
): PayoutContext {
  const orphan = orphanOfPayout(ctx, context)
  if (orphan === undefined && !isReviewed) return context
  return {
    ...context,
    ...(orphan === undefined ? {} : { orphan: orphan.instruction }),
    dueAt: plus(ctx.now, ctx.rules.reviewTtlMs),
  }
}

export function newContext(
  { now, random, origin }: CommandContext,
  tenant: TenantId,
  request: CreatePayout,
  { beneficiary, currency, route, fees, rail }: PayoutTerms,
): PayoutContext {
  return {
    id: newId<PayoutId>('payout', now, random),
    tenant,
    amount: request.amount,
    recipientAmount: toWire(fees.recipient),
    total: toWire(fees.total),
    currency,
    fees: {
      platform: toWire(fees.platform),
      rail: toWire(fees.rail),
      sum: toWire(fees.fee),
    },
    refundFeesOnReversal: route.fees.refundFeesOnReversal,
    reference: request.reference,
    ...(request.description === undefined ? {} : { description: request.description }),
    metadata: request.metadata,
    beneficiary: frozenCopy(beneficiary),
    ...(rail === null ? {} : { rail }),
    createdAt: now,
    ...(origin.requestId === null ? {} : { requestId: origin.requestId }),
    ...(origin.traceparent === undefined ? {} : { traceparent: origin.traceparent }),
    dueAt: now,
  }
}

const frozenCopy = (row: BeneficiaryRow): FrozenBeneficiary => ({
  id: row.id as BeneficiaryId,
  name: row.name,
  accountLast4: row.account_last4,
  sealedAccount: row.sealed_account,
  bankCode: row.bank_code,
  country: row.destination_country,
})
