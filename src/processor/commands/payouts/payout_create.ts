/**
 * Accepts a payout: freezes its beneficiary and fees, reserves its total and submits it to the
 * rail.
 *
 * - The same key with the same input replays the first answer byte for byte, whatever happened
 *   since to the payout, the beneficiary or the fees. A refusal does not bind the key.
 * - Checks run in the order of `check`; a refusal changes nothing.
 * - `created` and `processing` are two transitions with an event each, in one commit. A held payout
 *   stays `created`.
 * - A payout that matches an orphan execution is held: it is not submitted before an operator
 *   decides.
 */
import {
  DESCRIPTION_MAX,
  METADATA_KEY_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_MAX,
  PAYOUT_IDEMPOTENCY_KEY_MAX,
  REFERENCE_MAX,
} from '../../../base/constants.js'
import { plus } from '../../../base/clock.js'
import {
  accepted,
  invalid,
  placedAt,
  refused,
  type Outcome,
  type Refusal,
} from '../../../base/errors.js'
import {
  environmentOf,
  isIdOf,
  newId,
  type BeneficiaryId,
  type PayoutId,
  type TenantId,
} from '../../../base/ids.js'
import { isWithin } from '../../../base/text.js'
import { accountKey } from '../../../ledger/accounts.js'
import { currencyOf, type Currency } from '../../../money/currency.js'
import { feesFor } from '../../../money/fees.js'
import { parsePositiveInt64, toWire } from '../../../money/money.js'
import { isText } from '../../../rails/wire_validators.js'
import type { CreatePayout__Output as CreatePayout } from '../../../../protos/types/causeway/v1/CreatePayout.js'
import type { FrozenBeneficiary, PayoutContext } from '../../../../actors/payout/context.js'
import { payoutTransitions } from '../../../../actors/payout/machine.js'
import { payoutView } from '../../../../actors/payout/view.js'
import { advancePayout, publishPayout, stagePayout } from '../../changes/advance_payout.js'
import { withLowBalance } from '../../changes/balance_alerts.js'
import { canPostPayout, postPayout } from '../../changes/books.js'
import { recordTransition } from '../../changes/transitions.js'
import { orphanOfPayout } from '../../changes/orphans.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { isSuspended } from '../../changes/directory.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import type { Route } from '../../cache/payout_routes.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import {
  beneficiaryRow,
  stageBeneficiary,
  takesPayouts,
  type BeneficiaryRow,
} from '../../changes/beneficiaries.js'
import { beneficiaryAccountPlace, openedFor } from '../../changes/rail_instructions.js'

/** Payouts are accepted during shorter outages of the rail and submitted after them. */
const RAIL_OUTAGE_MS = 10_000

export function createPayout(tenant: TenantId, given: CreatePayout): Command {
  const request = trimmed(given)
  const rowKey = idempotencyRowKey(tenant, 'create_payout', request.idempotency_key)
  const beneficiaryId = request.beneficiary_id ?? null

  return {
    name: 'create_payout',

    needs: (needs) => {
      needs.idempotency(rowKey)
      if (beneficiaryId !== null) needs.beneficiary(beneficiaryId)
    },

    decide: (ctx) => {
      const { memory } = ctx
      const requestHash = ctx.vault.hashRequest(hashedParts(request))
      const known = boundRow(memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('duplicate_payout')
        return replay(JSON.parse(known.response ?? '') as object)
      }

      const checked = check(ctx, tenant, request)
      if (!checked.ok) return checked
      const account = checked.isNew ? null : storedAccount(ctx, checked.beneficiary)

      // From here on it must succeed.
      const { beneficiary, isNew, context, held } = checked
      if (isNew) stageBeneficiary(ctx, beneficiary)
      const live = { state: payoutTransitions.initial, context }
      const post = (): void => postPayout(ctx, context, 'payout_accepted')
      if (hintOf(tenant, request) === 'sandbox:balance_low') {
        withLowBalance(ctx, accountKey(tenant, context.currency, 'prefund'), post)
      } else post()
      publishPayout(ctx, live, 'payout.created')
      recordTransition(ctx, live, null)
      if (held) stagePayout(ctx, live)
      else advancePayout(ctx, live, { type: 'approve', at: ctx.now, railUp: ctx.railUp }, account)
      const view = payoutView(live.state, live.context, ctx.rules.brand)
      const response = JSON.stringify(view)
      bindKey(ctx, rowKey, { requestHash, entity: context.id, response })
      return answer(view)
    },
  }
}

/** @throws CorruptRow before anything has changed, because the instruction needs the number */
function storedAccount(
  { vault }: CommandContext,
  { id, sealed_account: sealed }: BeneficiaryRow,
): string {
  return openedFor(id, () => vault.openAccount(sealed, beneficiaryAccountPlace(id)))
}

/** Requests that differ only in surrounding blanks are the same. */
function trimmed(given: CreatePayout): CreatePayout {
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
function hashedParts(request: CreatePayout): Parameters<CommandContext['vault']['hashRequest']>[0] {
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

type Checked =
  | {
      readonly ok: true
      readonly beneficiary: BeneficiaryRow
      readonly isNew: boolean
      readonly context: PayoutContext
      readonly held: boolean
    }
  | Refusal

/**
 * Checks shape, beneficiary, currency, destination, limits, compliance, risk, balance and rail, in
 * this order; the first failure is the refusal.
 */
function check(ctx: CommandContext, tenant: TenantId, request: CreatePayout): Checked {
  if (isSuspended(ctx.memory, tenant)) return refused('partner_suspended')
  const amount = parsePositiveInt64(request.amount)
  if (amount === undefined || !isWellFormed(request)) return refused('invalid_request')
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
  const hint = hintOf(tenant, request)
  if (hint === 'sandbox:compliance') return refused('compliance_rejected')
  if (hint === 'sandbox:risk') return refused('risk_rejected')
  const isReviewed = hint === 'sandbox:review' || isHeld(route, amount)
  const terms = { beneficiary, currency, route, fees }
  const context = withReviewDeadline(ctx, newContext(ctx, tenant, request, terms), isReviewed)
  const held = context.orphan !== undefined || isReviewed
  if (!canPostPayout(ctx, context, 'payout_accepted')) return refused('insufficient_balance')
  if (hint === 'sandbox:rail_unavailable' || ctx.railDownForMs > RAIL_OUTAGE_MS) {
    return refused('rail_unavailable')
  }
  return { ok: true, beneficiary, isNew, context, held }
}

/** The outcome that a sandbox partner requests; empty in production. */
const hintOf = (tenant: TenantId, { reference }: CreatePayout): string =>
  environmentOf(tenant) === 'sandbox' ? reference : ''

/**
 * Both fronts check the same by src/requests. A metadata key `\\` is refused because of a V8 13
 * parser bug (gateway/decode/json).
 */
function isWellFormed(request: CreatePayout): boolean {
  const pairs = Object.entries(request.metadata)
  return (
    /^[A-Z]{3}$/.test(request.currency) &&
    isAbsent(request.beneficiary) !== isAbsent(request.beneficiary_id) &&
    request.idempotency_key !== '' &&
    isWithin(request.idempotency_key, PAYOUT_IDEMPOTENCY_KEY_MAX) &&
    request.reference !== '' &&
    isWithin(request.reference, REFERENCE_MAX) &&
    isWithin(request.description ?? '', DESCRIPTION_MAX) &&
    pairs.length <= METADATA_PAIRS_MAX &&
    pairs.every(
      ([key, value]) =>
        key !== '\\' && isWithin(key, METADATA_KEY_MAX) && isWithin(value, METADATA_VALUE_MAX),
    )
  )
}

const isAbsent = (member: unknown): boolean => member === undefined || member === null

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
    const row = placedAt('/beneficiary', beneficiaryRow(ctx, tenant, request.beneficiary))
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

interface Terms {
  readonly beneficiary: BeneficiaryRow
  readonly currency: Currency
  readonly route: Route
  readonly fees: Extract<ReturnType<typeof feesFor>, { ok: true }>
}

/** The context, with a review deadline when it is under review or matches an orphan execution. */
function withReviewDeadline(
  ctx: CommandContext,
  context: PayoutContext,
  isReviewed: boolean,
): PayoutContext {
  const orphan = orphanOfPayout(ctx, context)
  if (orphan === undefined && !isReviewed) return context
  return {
    ...context,
    ...(orphan === undefined ? {} : { orphan: orphan.instruction }),
    wakeAt: plus(ctx.now, ctx.rules.reviewTtlMs),
  }
}

function newContext(
  { now, random, origin }: CommandContext,
  tenant: TenantId,
  request: CreatePayout,
  { beneficiary, currency, route, fees }: Terms,
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
    ...(request.description ? { description: request.description } : {}),
    metadata: request.metadata,
    beneficiary: frozenCopy(beneficiary),
    createdAt: now,
    ...(origin.requestId === null ? {} : { requestId: origin.requestId }),
    wakeAt: now,
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
