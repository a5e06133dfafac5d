/**
 * A random call: what the model answers and does, and the product's command.
 *
 * - Few keys, amounts and operators cause conflicts.
 */
import assert from 'node:assert/strict'
import type { CreatePayout__Output as CreatePayout } from '../../../protos/types/causeway/v1/CreatePayout.js'
import { callerEntry, configuredCaller, createCallers } from '../../../src/auth/callers.js'
import type { EffectId } from '../../../src/base/ids.js'
import {
  approveRequest,
  rejectRequest,
} from '../../../src/processor/commands/approvals/approval_request_decide.js'
import { deposit } from '../../../src/processor/commands/funds/deposit.js'
import { createFxConversion } from '../../../src/processor/commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../../../src/processor/commands/funds/fx_quote_create.js'
import { withdraw } from '../../../src/processor/commands/funds/withdraw.js'
import * as payout from '../../../src/processor/commands/payouts/payout_create.js'
import {
  resolvePayout,
  reversePayout,
} from '../../../src/processor/commands/payouts/payout_resolve.js'
import * as review from '../../../src/processor/commands/payouts/payout_review.js'
import { resolveDiscrepancy } from '../../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import type { RailReport } from '../../../src/rails/rail.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import { aPayout, payeeOf } from '../../support/requests.js'
import { NO_FINDINGS } from '../../support/statements.js'
import { DEMO, type World } from '../../support/world.js'
import { approve, changeBy, reject, type ModelRequest } from './approvals.js'
import {
  convert,
  fundsChange,
  quote,
  type FundsRequest,
  type ModelQuote,
  type QuoteRequest,
} from './conversions.js'
import { needsMoney, SETTLEMENTS, settlementOf, type Report } from './discrepancies.js'
import type { BooksModel, Change, Code } from './model.js'
import {
  approvalOf,
  createPayout,
  rejectPayout,
  report,
  resolutionOf,
  reversalOf,
  type ModelPayout,
} from './payouts.js'

export interface Draw {
  readonly text: string
  readonly command: Command
  /** Changes the model. */
  expected(): Code
  /** Takes what the product has chosen, e.g. an id. */
  learn?(view: Readonly<Record<string, unknown>>): void
  /** The change of one operator, for the request that may follow. */
  readonly guarded?: { readonly operator: string; readonly change: Change }
}

/** The rows of discrepancies by the payout's id, from the product. */
export interface Known {
  readonly world: World
  readonly model: BooksModel
  readonly random: SeededRandom
  /** Ids of the product's discrepancies, by the model's facts. */
  readonly discrepancyIds: ReadonlyMap<string, string>
}

const OPERATORS = ['ann', 'ben', 'cid'] as const
const ACCOUNTS = ['0123456789', '0123456788'] as const
const AMOUNTS = [100_000n, 3_000_000n, 13_000_000n] as const
const FUNDS = [100n, 40_000n, 150_000n, 9_000_000n] as const
const CURRENCIES = ['USD', 'VND', 'THB'] as const
const TRANSACTIONS = ['tx 1', 'tx 1', 'tx 2'] as const
const FORGOTTEN_MS = 120_000
const EVIDENCE = 'line 12 of the statement'
const configured = OPERATORS.map((name) =>
  configuredCaller(callerEntry('operator', name, `token-of-${name}`)),
)

type Kind = (known: Known) => Draw | null

const actor = (name: string) => ({ name, reason: 'a model' })

function drawPayout({ model, random }: Known): Draw {
  const repeats = model.payouts.length > 0 && random.once(4)
  const known = repeats ? random.pick(model.payouts) : undefined
  const number = known?.number ?? model.payouts.length + 1
  const amount = random.once(4) || known === undefined ? random.pick(AMOUNTS) : known.amount
  const account = known?.account ?? random.pick(ACCOUNTS)
  // The reference is part of the request: it follows from the number, so a repetition has it too.
  const isHeld = number % 3 === 0
  const request: CreatePayout = aPayout({
    ...{ idempotency_key: `payout ${number}`, amount: String(amount) },
    ...{ reference: isHeld ? 'sandbox:review' : 'invoice' },
    beneficiary: payeeOf(account),
  })
  return {
    text: `payout ${number} of ${amount}`,
    command: payout.createPayout(DEMO, request),
    expected: () => createPayout(model, { number, amount, account, isHeld }),
    learn: ({ id }) => {
      const created = model.payouts.find((each) => each.number === number)
      if (created !== undefined) created.id = String(id)
    },
  }
}

const forPayout =
  (make: (known: Known, chosen: ModelPayout) => Draw): Kind =>
  (known) => {
    const { payouts } = known.model
    const recent = known.random.once(4) ? payouts : payouts.slice(-4)
    return recent.length === 0 ? null : make(known, known.random.pick(recent))
  }

const drawReport = forPayout(({ model, random }, chosen) => {
  const status = random.pick(['executed', 'executed', 'returned', 'refused', 'not_found'] as const)
  const isMove = status === 'executed' || status === 'returned'
  const move = {
    transaction: random.pick(TRANSACTIONS),
    amount: random.once(6) ? chosen.amount + 1n : chosen.amount,
    account: random.once(8) ? '999' : chosen.account,
  }
  const given: Report = isMove ? { status, ...move } : { status }
  const id = chosen.id as EffectId
  const sent: RailReport = isMove
    ? {
        ...{ status, id, reportId: null, transactionId: move.transaction, amount: move.amount },
        ...{ currency: 'VND', destinationAccount: move.account },
      }
    : status === 'refused'
      ? { status, id, reportId: null, refusal: 'account_closed' }
      : { status: 'not_found', id, reportId: null }
  return {
    text: `${chosen.number} ${status} ${isMove ? Object.values(move).join(' ') : ''}`,
    command: applyRailReport(sent, 0),
    expected: () => {
      report(model, chosen, given)
      return 'ok'
    },
  }
})

/** A change of one operator that may need a second one. */
function guarded(
  { model, random }: Known,
  change: Change,
  commandOf: (by: ReturnType<typeof actor>) => Command,
): Draw {
  const operator = random.pick(OPERATORS)
  return {
    text: `${operator}: ${change.key}`,
    command: commandOf(actor(operator)),
    expected: () => changeBy(model, operator, change),
    guarded: { operator, change },
  }
}

const drawReview = forPayout((known, chosen) => {
  if (!known.random.once(4)) {
    return guarded(known, approvalOf(known.model, chosen), (by) =>
      review.approvePayout(by, chosen.id),
    )
  }
  return {
    text: `reject ${chosen.number}`,
    command: review.rejectPayout(actor('ann'), chosen.id),
    expected: () => rejectPayout(known.model, chosen),
  }
})

const drawResolution = forPayout((known, chosen) => {
  const outcome = known.random.pick(['completed', 'failed'] as const)
  const given = { outcome, evidence: EVIDENCE }
  return guarded(known, resolutionOf(known.model, chosen, outcome), (by) =>
    resolvePayout(by, chosen.id, given),
  )
})

const drawReversal = forPayout((known, chosen) =>
  guarded(known, reversalOf(known.model, chosen), (by) => reversePayout(by, chosen.id, EVIDENCE)),
)

const drawFunds: Kind = (known) => {
  const { random, model } = known
  const request: FundsRequest = {
    kind: random.pick(['deposit', 'withdraw']),
    currency: random.pick(['USD', 'VND']),
    amount: random.pick(FUNDS),
    key: `key ${random.int(12)}`,
  }
  const { kind, currency, key: idempotencyKey } = request
  const given = { currency, amount: String(request.amount), idempotencyKey }
  return guarded(known, fundsChange(model, request), (by) =>
    kind === 'deposit'
      ? deposit(by, DEMO, given)
      : withdraw(by, DEMO, { ...given, evidence: EVIDENCE }),
  )
}

const drawQuote: Kind = ({ random, model }) => {
  const request: QuoteRequest = {
    ...{ sell: random.pick(CURRENCIES), buy: random.pick(CURRENCIES) },
    sold: random.pick([1n, 777n, 50_000n, 90_000_000_000n]),
  }
  const { sell, buy, sold } = request
  return {
    text: `quote ${sold} ${sell} for ${buy}`,
    command: createFxQuote(DEMO, {
      ...{ sell_currency: sell, buy_currency: buy, sell_amount: String(sold) },
    }),
    expected: () => quote(model, request),
    learn: ({ id, buy_amount }) => {
      const made = model.quotes.at(-1)!
      made.id = String(id)
      assert.equal(buy_amount, String(made.bought), 'the quote buys')
    },
  }
}

const drawConversion: Kind = ({ random, model }) => {
  // One that expired long ago is deleted at some time.
  const recent = model.quotes.filter(({ expiresAt }) => model.now < expiresAt + FORGOTTEN_MS)
  const quotes: readonly ModelQuote[] = recent.slice(-4)
  if (quotes.length === 0) return null
  const chosen = random.pick(quotes)
  const key = random.once(5) ? random.pick(quotes).id : chosen.id
  return {
    text: `convert ${chosen.id} with key ${key}`,
    command: createFxConversion(DEMO, { quote_id: chosen.id, idempotency_key: key }),
    expected: () => convert(model, chosen, key),
  }
}

const drawSettlement: Kind = (known) => {
  const { model, random, discrepancyIds } = known
  const facts = [...model.discrepancies.keys()].slice(-5)
  if (facts.length === 0) return null
  const fact = random.pick(facts)
  const id = discrepancyIds.get(fact)
  if (id === undefined) throw new Error(`there is no discrepancy of ${fact}`)
  const settlement = random.pick(SETTLEMENTS)
  const change = settlementOf(model, id, model.discrepancies.get(fact)!, settlement)
  const given = { settlement, evidence: EVIDENCE }
  if (needsMoney(settlement)) {
    return guarded(known, change, (by) => resolveDiscrepancy(by, id, given))
  }
  return {
    text: change.key,
    command: resolveDiscrepancy(actor('ann'), id, given),
    expected: () => {
      const refusal = change.refusal()
      if (refusal === null) change.apply()
      return refusal ?? 'ok'
    },
  }
}

const drawDecision: Kind = ({ world, model, random }) => {
  const recent = model.approvals.requests.slice(-4)
  if (recent.length === 0) return null
  const request: ModelRequest = random.pick(recent)
  if (random.once(6)) {
    return {
      text: `reject ${request.change.key}`,
      command: rejectRequest(actor('cid'), request.id),
      expected: () => reject(model, request),
    }
  }
  const operator = random.pick(OPERATORS)
  const callers = createCallers(configured, world.clock, world.memory().callers)
  const links = { callers, findings: NO_FINDINGS, isCluster: false }
  return {
    text: `${operator} approves ${request.change.key}`,
    command: approveRequest(actor(operator), request.id, links),
    expected: () => approve(model, operator, request),
  }
}

const KINDS: readonly Kind[] = [
  ...[drawPayout, drawPayout, drawPayout, drawReport, drawReport, drawReport, drawReport],
  ...[drawReview, drawReview, drawResolution, drawReversal, drawFunds, drawFunds, drawQuote],
  ...[drawConversion, drawConversion, drawSettlement, drawSettlement, drawDecision, drawDecision],
]

export function drawCall(known: Known): Draw {
  for (;;) {
    const drawn = known.random.pick(KINDS)(known)
    if (drawn !== null) return drawn
  }
}
