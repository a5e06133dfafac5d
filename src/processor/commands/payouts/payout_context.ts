/** The context of a new payout: its terms, frozen. */
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

export interface PayoutTerms {
  readonly beneficiary: BeneficiaryRow
  readonly currency: Currency
  readonly route: Route
  /** Null: the payout is refused. */
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
