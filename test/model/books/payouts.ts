/** The model of payouts: acceptance, the rail's reports, reviewers and operators. */
import type { PayoutStatus } from '../../support/lifecycle.js'
import { isMove, reportOf, type Report, type ReportedMove } from './discrepancies.js'
import type { BooksModel, Change, Code } from './model.js'

const REVIEW_MS = 72 * 3_600_000
const PLATFORM_FIXED = 5_000n
const RAIL_FIXED = 3_300n
const PLATFORM_BPS = 20n
const CURRENCY = 'VND'

export interface ModelPayout {
  readonly number: number
  readonly amount: bigint
  readonly fee: bigint
  readonly account: string
  readonly createdAt: number
  id: string
  state: PayoutStatus
  isSubmitted: boolean
  /** The rail's id of the execution. */
  transaction: string | null
}

export interface PayoutRequest {
  readonly number: number
  readonly amount: bigint
  readonly account: string
  readonly isHeld: boolean
}

const enter = (model: BooksModel, payout: ModelPayout, state: ModelPayout['state']): void => {
  payout.state = state
  model.events.push(`${payout.number} payout.${state}`)
}

export function createPayout(model: BooksModel, request: PayoutRequest): Code {
  const { number, amount, account } = request
  const known = model.payouts.find((each) => each.number === number)
  if (known !== undefined) return known.amount === amount ? 'ok' : 'duplicate_payout'
  const fee = PLATFORM_FIXED + (amount * PLATFORM_BPS + 9_999n) / 10_000n + RAIL_FIXED
  if (model.ledger.of(CURRENCY, 'prefund') < amount + fee) return 'insufficient_balance'
  model.ledger.move(CURRENCY, 'prefund', 'reserved', amount + fee)
  const payout: ModelPayout = {
    ...{ number, amount, fee, account, createdAt: model.now, id: '' },
    ...{ state: 'created', isSubmitted: false, transaction: null },
  }
  model.payouts.push(payout)
  enter(model, payout, 'created')
  if (!request.isHeld) process(model, payout)
  return 'ok'
}

function process(model: BooksModel, payout: ModelPayout): void {
  enter(model, payout, 'processing')
  payout.isSubmitted = model.isRailUp
}

const complete = (model: BooksModel, payout: ModelPayout): void => {
  model.ledger.move(CURRENCY, 'reserved', 'rail_clearing', payout.amount)
  model.ledger.move(CURRENCY, 'reserved', 'fees', payout.fee)
  enter(model, payout, 'completed')
}

const fail = (model: BooksModel, payout: ModelPayout): void => {
  model.ledger.move(CURRENCY, 'reserved', 'prefund', payout.amount + payout.fee)
  enter(model, payout, 'failed')
}

/** The route refunds its fees. */
const reverse = (model: BooksModel, payout: ModelPayout): void => {
  model.ledger.move(CURRENCY, 'rail_clearing', 'prefund', payout.amount)
  model.ledger.move(CURRENCY, 'fees', 'prefund', payout.fee)
  enter(model, payout, 'reversed')
}

/** Timers: an expired review, and payouts that waited for the rail. */
export function fireTimers(model: BooksModel): void {
  for (const payout of model.payouts) {
    if (payout.state === 'created' && model.now >= payout.createdAt + REVIEW_MS) fail(model, payout)
    else if (payout.state === 'processing' && model.isRailUp) payout.isSubmitted = true
  }
}

/** A report about the payout. What does not match is a discrepancy. */
export function report(model: BooksModel, payout: ModelPayout, given: Report): void {
  const isOpen = payout.state === 'processing'
  const isPaid = payout.state === 'completed' || payout.state === 'reversed'
  if (!isMove(given)) {
    if (given.status === 'refused' && isOpen) fail(model, payout)
    else if (isPaid) reportOf(model, payout, given)
    return
  }
  const isEqual = given.amount === payout.amount && given.account === payout.account
  const isSameExecution =
    isPaid && (payout.transaction === null || payout.transaction === given.transaction)
  if (given.status === 'executed') execute(model, payout, given, { isEqual, isSameExecution })
  else if (isEqual && (isOpen || isSameExecution)) {
    if (isOpen) complete(model, payout)
    payout.transaction = given.transaction
    if (payout.state === 'completed') reverse(model, payout)
  } else {
    if (!isSameExecution) reportOf(model, payout, { ...given, status: 'executed' })
    reportOf(model, payout, given)
  }
}

function execute(
  model: BooksModel,
  payout: ModelPayout,
  given: ReportedMove,
  { isEqual, isSameExecution }: { readonly isEqual: boolean; readonly isSameExecution: boolean },
): void {
  if (isEqual && payout.state === 'processing') {
    complete(model, payout)
    payout.transaction = given.transaction
  } else if (isEqual && isSameExecution) payout.transaction = given.transaction
  else reportOf(model, payout, given)
}

const changeOf = (
  payout: ModelPayout,
  what: string,
  refusal: () => Code | null,
  apply: () => void,
): Change => ({
  key: `${what} ${payout.id}`,
  ...{ currency: CURRENCY, amount: payout.amount, refusal, apply },
})

export const approvalOf = (model: BooksModel, payout: ModelPayout): Change =>
  changeOf(
    payout,
    'approve',
    () => (payout.state === 'created' ? null : 'payout_not_held'),
    () => process(model, payout),
  )

export function rejectPayout(model: BooksModel, payout: ModelPayout): Code {
  if (payout.state !== 'created') return 'payout_not_held'
  fail(model, payout)
  return 'ok'
}

export const resolutionOf = (
  model: BooksModel,
  payout: ModelPayout,
  outcome: 'completed' | 'failed',
): Change =>
  changeOf(
    payout,
    `resolve ${outcome}`,
    () => (payout.state === 'processing' && payout.isSubmitted ? null : 'payout_not_at_rail'),
    () => (outcome === 'completed' ? complete(model, payout) : fail(model, payout)),
  )

export const reversalOf = (model: BooksModel, payout: ModelPayout): Change =>
  changeOf(
    payout,
    'reverse',
    () => (payout.state === 'completed' ? null : 'payout_not_completed'),
    () => reverse(model, payout),
  )
