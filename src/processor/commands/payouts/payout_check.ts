/**
 * Whether a payout is accepted, and on what terms.
 *
 * Does not own: the shape of the request (src/api/payouts).
 */
import {
  accepted,
  invalid,
  atPointer,
  refused,
  type Outcome,
  type Refusal,
} from '../../../base/errors.js'
import { environmentOf, isIdOf, type TenantId } from '../../../base/ids.js'
import { currencyOf, type Currency } from '../../../money/currency.js'
import { feesFor } from '../../../money/fees.js'
import { parsePositiveInt64 } from '../../../money/money.js'
import { payoutRoute } from '../../../rails/rail_table.js'
import { isText } from '../../../rails/wire_validators.js'
import { decisionByReference } from '../../../screening/screening.js'
import type { CreatePayout__Output as CreatePayout } from '../../../../protos/types/causeway/v1/CreatePayout.js'
import type { PayoutContext } from '../../../../actors/payout/context.js'
import type { Route } from '../../../money/payout_routes.js'
import { beneficiaryRow, takesPayouts, type BeneficiaryRow } from '../../changes/beneficiaries.js'
import { canPostPayout } from '../../changes/books.js'
import { railForNew } from '../../changes/payment_rail.js'
import { isSuspended } from '../../changes/directory.js'
import type { Screened } from '../../changes/screening.js'
import type { CommandContext } from '../../cycle/command.js'
import { newContext, withReviewDeadline, type PayoutTerms } from './payout_context.js'

export type CheckedPayout =
  | {
      readonly ok: true
      readonly beneficiary: BeneficiaryRow
      readonly isNew: boolean
      readonly context: PayoutContext
      readonly held: boolean
    }
  | Refusal

/** What a payout is screened on. */
export interface CheckedTerms {
  readonly beneficiary: BeneficiaryRow
  readonly isNew: boolean
  readonly amount: bigint
  readonly currency: Currency
  readonly route: Route
  readonly fees: PayoutTerms['fees']
}

/** Checks beneficiary, currency, destination and limits, in this order. */
export function checkTerms(
  ctx: CommandContext,
  tenant: TenantId,
  request: CreatePayout,
): Outcome<CheckedTerms> {
  if (isSuspended(ctx.memory, tenant)) return refused('partner_suspended')
  const amount = parsePositiveInt64(request.amount)
  if (amount === undefined) return refused('invalid_request')
  if (!isText(request.reference)) return invalid('/reference', 'must have no control characters')

  const found = beneficiaryOf(ctx, tenant, request)
  if (!found.ok) return found
  const { beneficiary, isNew } = found.value
  const currency = currencyOf(request.currency)
  if (currency === undefined || beneficiary.currency !== currency)
    return refused('unsupported_currency')
  const route = ctx.memory.routes.find(tenant, beneficiary.destination_country, currency)
  if (!route?.enabled) return refused('unsupported_destination')
  const fees = feesFor(amount, route.fees)
  if (!fees.ok || !isAllowed(route, amount)) return refused('payout_limit_exceeded')
  return accepted({ beneficiary, isNew, amount, currency, route, fees })
}

/**
 * Checks the terms, then compliance, risk, balance and rail, in this order; the first failure is
 * the refusal. A payout on which the screening service has not answered is held for review.
 */
export function checkPayout(
  ctx: CommandContext,
  tenant: TenantId,
  request: CreatePayout,
  screened: Screened,
): CheckedPayout {
  const checked = checkTerms(ctx, tenant, request)
  if (!checked.ok) return checked
  const { beneficiary, isNew, amount, currency, route, fees } = checked.value
  const hint = hintOf(tenant, request)
  const verdict = screened === 'not_configured' ? decisionByReference(hint) : screened
  if (verdict === 'not_asked') return refused('configuration_error')
  if (verdict !== 'pass' && verdict !== 'unavailable') return refused(verdict)
  const isUnscreened = verdict === 'unavailable'
  const isReviewed = isUnscreened || hint === 'sandbox:review' || isHeld(route, amount)
  const country = beneficiary.destination_country
  const rail = railForNew(ctx, payoutRoute(environmentOf(tenant), country, currency))
  const terms = { beneficiary, currency, route, fees, rail }
  const created = {
    ...newContext(ctx, tenant, request, terms),
    ...(isUnscreened ? { reviewCause: 'screening_unavailable' as const } : {}),
  }
  const context = withReviewDeadline(ctx, created, isReviewed)
  const held = context.orphan !== undefined || isReviewed
  if (!canPostPayout(ctx, context, 'payout_accepted')) return refused('insufficient_balance')
  if (hint === 'sandbox:rail_unavailable' || rail === null) return refused('rail_unavailable')
  return { ok: true, beneficiary, isNew, context, held }
}

/** The outcome that a sandbox partner requests; empty in production. */
export const hintOf = (tenant: TenantId, { reference }: CreatePayout): string =>
  environmentOf(tenant) === 'sandbox' ? reference : ''

const isHeld = ({ reviewFrom }: Route, amount: bigint): boolean =>
  reviewFrom !== null && amount >= reviewFrom

const isAllowed = ({ amountMin, amountMax }: Route, amount: bigint): boolean =>
  amount >= (amountMin ?? amount) && amount <= (amountMax ?? amount)

function beneficiaryOf(
  ctx: CommandContext,
  tenant: TenantId,
  request: CreatePayout,
): Outcome<{ readonly beneficiary: BeneficiaryRow; readonly isNew: boolean }> {
  if (request.beneficiary) {
    const row = atPointer('/beneficiary', beneficiaryRow(ctx, tenant, request.beneficiary))
    return row.ok ? accepted({ beneficiary: row.value, isNew: true }) : row
  }
  const id = request.beneficiary_id ?? ''
  const known = isIdOf('beneficiary', id) ? ctx.memory.beneficiaries.get(id) : undefined
  if (!known || known.tenant !== tenant || !takesPayouts(known)) return NO_BENEFICIARY
  return accepted({ beneficiary: known, isNew: false })
}

const NO_BENEFICIARY = invalid(
  '/beneficiary_id',
  'must name an active beneficiary',
  'invalid_beneficiary',
)
