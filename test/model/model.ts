/**
 * The reference model: the expected intents, balances, limits and rail instructions of one tenant.
 *
 * Owns: the model's state and the steps that operations share. Does not own: the operations
 * (partner_rules, payer_rules, rail_rules), the system under test (harness).
 *
 * - The model is written from the contract in plain values; it shares no logic with src or actors.
 * - Ids and tokens that the system generates are unknown until it responds. Views are therefore
 *   functions, called after the response, which freeze the state when they are made.
 * - Operations apply in order, each decided on the state before it, as in a commit batch.
 */
import {
  CORRIDOR_FACTS,
  DUPLICATE_WINDOW,
  SUBMIT_WITHIN,
  periodsAt,
  inquiryAt,
  type CorridorName,
} from './observations.js'
import { samePayee, type MerchantCode } from './merchant_codes.js'

export type ModelState =
  'created' | 'authorized' | 'captured' | 'failed' | 'expired' | 'refunded' | 'cancelled'

export interface ModelQuote {
  /** Drawn by the system. */
  id: string | null
  readonly version: number
  readonly cents: number
  readonly minor: bigint
  readonly expiresAt: number
  readonly acknowledged: boolean
  readonly code: MerchantCode
}

export interface ModelConfirmation {
  readonly jti: string
  readonly key: string | null
  readonly at: number
  readonly answer: View
}

export interface ModelIntent {
  /** Drawn by the system. */
  id: string | null
  /** Its session tokens, oldest first. */
  readonly jtis: string[]
  readonly user: string
  readonly cents: number
  readonly corridor: CorridorName
  readonly createdAt: number
  readonly expiresAt: number
  state: ModelState
  /** Its quotes; the last one is bound. */
  readonly quotes: ModelQuote[]
  confirmation: ModelConfirmation | null
  submittedAt: number | null
  inquiries: number
  /** The rail's transaction id of the execution that counts. */
  transactionId: string | null
  readonly moments: Partial<Record<Exclude<ModelState, 'created'>, number>>
  failure: { readonly code: string; readonly source: string; readonly at: number } | null
  recall: { readonly requestedAt: number; inquiries: number; refusedAt: number | null } | null
  /** Recalls that the rail refused. */
  refundsFailed: number
  wakeAt: number | null
}

export type View = () => object

/** The expected response of one operation. */
export interface Expectation {
  /** `ok` or the error code. */
  readonly code: string
  readonly view?: View
  readonly replayed?: boolean
  /** Records the values that the system generated. */
  readonly learn?: (answer: Readonly<Record<string, unknown>>) => void
}

export interface ModelEvent {
  readonly type: string
  readonly intent: ModelIntent
  readonly view: View
}

/** An instruction that must be sent to the rail. */
export interface ModelInstruction {
  readonly kind: 'instruct' | 'query' | 'recall' | 'acknowledge'
  readonly intent: ModelIntent | null
  readonly reportId?: string
}

export interface Usage {
  readonly user: string
  readonly corridor: CorridorName
  /** An instant within the period. */
  readonly at: number
  used: bigint
}

/** The request of an idempotency key. */
export interface BoundKey {
  readonly request: string
  readonly intent: ModelIntent
  /** The first response, byte for byte. */
  answer: string | null
}

export interface Model {
  now: number
  railUp: boolean
  readonly rates: Record<'THB' | 'VND', string>
  readonly intents: ModelIntent[]
  readonly createKeys: Map<string, BoundKey>
  readonly refundKeys: Map<string, BoundKey>
  /** By user, corridor and period. */
  readonly usage: Map<string, Usage>
  /** USD cents. */
  prefund: bigint
  reserved: bigint
  usdOut: bigint
  /** Minor units paid to merchants. */
  readonly paidOut: Record<'THB' | 'VND', bigint>
  /** Since the last comparison. */
  events: ModelEvent[]
  instructions: ModelInstruction[]
  /** Intents with a contradicting report since the last comparison. */
  mismatches: (ModelIntent | null)[]
}

export function emptyModel(now: number, prefund: bigint): Model {
  return {
    now,
    railUp: true,
    rates: { THB: '36.00', VND: '26500' },
    intents: [],
    createKeys: new Map(),
    refundKeys: new Map(),
    usage: new Map(),
    prefund,
    reserved: 0n,
    usdOut: 0n,
    paidOut: { THB: 0n, VND: 0n },
    events: [],
    instructions: [],
    mismatches: [],
  }
}

export const refused = (code: string): Expectation => ({ code })
export const granted = (view: View): Expectation => ({ code: 'ok', view })

export const boundQuote = (intent: ModelIntent): ModelQuote | null => intent.quotes.at(-1) ?? null

export const isOpen = ({ state, expiresAt }: ModelIntent, now: number): boolean =>
  state === 'created' && now < expiresAt

/**
 * True when this user has a standing payment of the same amount to the same payee, made just now.
 */
export function isDuplicate(
  model: Model,
  intent: ModelIntent,
  code: MerchantCode,
  minor: bigint,
): boolean {
  return model.intents.some((other) => {
    const quote = boundQuote(other)
    if (other === intent || other.user !== intent.user) return false
    if (other.confirmation === null || quote === null) return false
    if (other.state !== 'authorized' && other.state !== 'captured') return false
    if (other.confirmation.at <= model.now - DUPLICATE_WINDOW) return false
    return samePayee(quote.code, code) && quote.minor === minor
  })
}

export function usedIn(model: Model, intent: ModelIntent, at: number): readonly [bigint, bigint] {
  const [day, month] = usageOf(model, intent.user, intent.corridor, at)
  return [day.used, month.used]
}

/** The limit counters of a user's local day and month. */
export function usageOf(
  model: Model,
  user: string,
  corridor: CorridorName,
  at: number,
): readonly [Usage, Usage] {
  const [day, month] = periodsAt(at).map((period) => {
    const key = `${user} ${corridor} ${period}`
    const usage = model.usage.get(key) ?? { user, corridor, at, used: 0n }
    model.usage.set(key, usage)
    return usage
  })
  if (day === undefined || month === undefined) throw new Error('a day and a month')
  return [day, month]
}

/** Whether a payment fits into its user's limits. */
export function fitsLimits(model: Model, intent: ModelIntent, minor: bigint): boolean {
  const { perTransaction, perDay, perMonth } = CORRIDOR_FACTS[intent.corridor]
  const [day, month] = usedIn(model, intent, model.now)
  return minor <= perTransaction && day + minor <= perDay && month + minor <= perMonth
}

/** Reserves the money of a confirmed quote and counts it. */
export function reserve(model: Model, intent: ModelIntent, quote: ModelQuote): void {
  move(model, -quote.cents, quote.cents)
  count(model, intent, quote.minor)
}

/** Releases both: the payment will not be made. */
export function release(model: Model, intent: ModelIntent): void {
  const quote = intent.quotes.at(-1)!
  move(model, quote.cents, -quote.cents)
  count(model, intent, -quote.minor)
}

/** Moves an amount between available and reserved. */
export function move(model: Model, available: number, reserved: number): void {
  model.prefund += BigInt(available)
  model.reserved += BigInt(reserved)
}

function count(model: Model, intent: ModelIntent, minor: bigint): void {
  const at = intent.confirmation!.at
  for (const usage of usageOf(model, intent.user, intent.corridor, at)) usage.used += minor
}

/** From here on the instruction counts as submitted. */
export function submit(model: Model, intent: ModelIntent): void {
  intent.submittedAt = model.now
  intent.inquiries = 0
  intent.wakeAt = inquiryAt(model.now, 0)
  model.instructions.push({ kind: 'instruct', intent })
}

export const mustLeaveBy = (intent: ModelIntent): number => intent.confirmation!.at + SUBMIT_WITHIN

/** A public transition: state, timestamp, timer cleared. The caller adds the event. */
export function enter(
  model: Model,
  intent: ModelIntent,
  state: Exclude<ModelState, 'created'>,
): void {
  intent.state = state
  intent.moments[state] = model.now
  intent.wakeAt = null
}
