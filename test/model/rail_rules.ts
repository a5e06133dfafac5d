/** The model of timers and rail reports. */
import { CORRIDOR_RULES, inquiryAt } from './contract_rules.js'
import {
  enter,
  accepted,
  submit,
  submitDeadlineOf,
  release,
  type Expectation,
  type Model,
  type ModelIntent,
} from './model.js'
import { intentView } from './model_views.js'

export type ReportStatus =
  'accepted' | 'executed' | 'refused' | 'returned' | 'not_found' | 'recall_refused'

export interface Report {
  /** Null means that the instruction is unknown. */
  readonly intent: ModelIntent | null
  readonly status: ReportStatus
  readonly execution: Execution
  readonly refusal: string
  readonly reportId: string | null
}

/** The content of the rail's report. */
export interface Execution {
  readonly transactionId: string
  readonly amount: bigint
  readonly currency: string
  readonly account: string
}

const DONE = accepted(() => ({}))

/** A timer that fires early or twice changes nothing. */
export function expectTimer(model: Model, intent: ModelIntent): Expectation {
  if (intent.wakeAt === null || intent.wakeAt > model.now) return DONE
  const submittedAt = intent.submittedAt
  const isSent = submittedAt !== null || intent.state === 'captured'
  if (intent.state === 'created') end(model, intent, 'expired')
  else if (!isSent && model.now >= submitDeadlineOf(intent)) {
    fail(model, intent, 'rail_unavailable', 'service')
  } else if (!model.railUp) {
    const waitsUntil = isSent ? null : submitDeadlineOf(intent)
    const route = isSent ? null : `sandbox/${intent.corridor}`
    return accepted(() => ({ rail: 'sandbox', route, waitsUntil }))
  } else if (intent.state === 'captured') recallAgain(model, intent)
  else if (submittedAt !== null) inquireAgain(model, intent, submittedAt)
  else submit(model, intent)
  return DONE
}

function inquireAgain(model: Model, intent: ModelIntent, since: number): void {
  intent.inquiries += 1
  intent.wakeAt = inquiryAt(since, intent.inquiries, model.now)
  model.instructions.push({ kind: 'query', intent })
}

function recallAgain(model: Model, intent: ModelIntent): void {
  const recall = intent.recall!
  recall.inquiries += 1
  intent.wakeAt = inquiryAt(recall.requestedAt, recall.inquiries, model.now)
  model.instructions.push({ kind: 'recall', intent })
}

export function expectReport(model: Model, report: Report): Expectation {
  const { intent, status, reportId } = report
  if (intent === null) model.mismatches.push(null)
  else if (status === 'executed') onExecuted(model, intent, report)
  else if (status === 'returned') onReturned(model, intent, report)
  else if (status === 'refused') onRefused(model, intent, report.refusal)
  else if (status === 'not_found') onNotFound(model, intent)
  else if (status === 'recall_refused') onRecallRefused(model, intent)
  if (reportId !== null) model.instructions.push({ kind: 'acknowledge', intent: null, reportId })
  return DONE
}

/** Whether a report matches the instruction of an authorized intent. */
function matches({ state, corridor, quotes }: ModelIntent, { execution }: Report): boolean {
  const quote = quotes.at(-1)
  return (
    (state === 'authorized' || state === 'captured' || state === 'refunded') &&
    execution.amount === quote?.minor &&
    execution.currency === CORRIDOR_RULES[corridor].currency &&
    execution.account === quote.code.account
  )
}

function onExecuted(model: Model, intent: ModelIntent, report: Report): void {
  const { transactionId } = report.execution
  if (!matches(intent, report)) model.mismatches.push(intent)
  else if (intent.state === 'authorized') capture(model, intent, transactionId)
  else if (intent.transactionId !== transactionId) model.mismatches.push(intent)
}

/** A return implies an execution, whether that was reported or not. */
function onReturned(model: Model, intent: ModelIntent, report: Report): void {
  if (!matches(intent, report)) return void model.mismatches.push(intent)
  const { transactionId } = report.execution
  if (intent.state === 'authorized') capture(model, intent, transactionId)
  if (intent.transactionId !== transactionId) return void model.mismatches.push(intent)
  if (intent.state === 'refunded') return
  const { cents, minor } = intent.quotes.at(-1)!
  model.prefund += BigInt(cents)
  model.usdOut -= BigInt(cents)
  model.paidOut[CORRIDOR_RULES[intent.corridor].currency] -= minor
  end(model, intent, 'refunded')
}

function onRefused(model: Model, intent: ModelIntent, refusal: string): void {
  if (intent.state === 'authorized') fail(model, intent, refusal, 'rail')
  else if (intent.state === 'captured' || intent.state === 'refunded') model.mismatches.push(intent)
}

/** Sends the same instruction again: the rail never received it, so it cannot be paid. */
function onNotFound(model: Model, intent: ModelIntent): void {
  const { state, submittedAt } = intent
  if (state === 'captured' || state === 'refunded') model.mismatches.push(intent)
  if (state !== 'authorized' || submittedAt === null) return
  model.instructions.push({ kind: 'instruct', intent })
}

function onRecallRefused(model: Model, intent: ModelIntent): void {
  const { state, recall } = intent
  if (state !== 'captured' || recall === null || recall.refusedAt !== null) return
  intent.recall = { ...recall, refusedAt: model.now }
  intent.refundsFailed += 1
  intent.wakeAt = null
  const view = intentView(intent)
  model.events.push({ type: 'payment_intent.refund_failed', intent, view })
}

function capture(model: Model, intent: ModelIntent, transactionId: string): void {
  intent.transactionId = transactionId
  const { cents, minor } = intent.quotes.at(-1)!
  model.reserved -= BigInt(cents)
  model.usdOut += BigInt(cents)
  model.paidOut[CORRIDOR_RULES[intent.corridor].currency] += minor
  end(model, intent, 'captured')
}

function fail(model: Model, intent: ModelIntent, code: string, source: string): void {
  release(model, intent)
  intent.failure = { code, source, at: model.now }
  end(model, intent, 'failed')
}

type FinalState = 'captured' | 'failed' | 'expired' | 'refunded'

function end(model: Model, intent: ModelIntent, state: FinalState): void {
  enter(model, intent, state)
  model.events.push({ type: `payment_intent.${state}`, intent, view: intentView(intent) })
}
