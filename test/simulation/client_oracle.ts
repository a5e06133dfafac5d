/**
 * The partner's record of requests and responses, and the checks of later responses against it. It
 * outlives every crash, so it detects lost data.
 *
 * - A repeated key gets the same response, byte for byte.
 * - A status never goes back.
 */
import assert from 'node:assert/strict'
import type { CreateIntent__Output as CreateIntent } from '../../protos/types/causeway/v1/CreateIntent.js'
import type { CreatePayout__Output as CreatePayout } from '../../protos/types/causeway/v1/CreatePayout.js'
import type { Answer } from '../../src/processor/cycle/answer.js'

/** The first response to a call; null while none was received. */
export interface Remembered {
  answer: string | null
}

interface Wish<Kind extends string, Request> {
  readonly kind: Kind
  /** Unique per request, and stored in the row. */
  readonly mark: string
  readonly key: string | null
  readonly request: Request
  readonly creation: Remembered
  /** The number of calls. */
  asked: number
  id: string | null
  status: string | null
}

/** A beneficiary that was saved. */
export interface Saved {
  readonly id: string
  /** A response showed it as disabled. */
  disabled: boolean
}

/** A conversion between currencies. */
export interface Offer {
  readonly id: string
  readonly conversion: Remembered
}

export interface IntentWish extends Wish<'intent', CreateIntent> {
  readonly tokens: string[]
  readonly confirmation: Remembered
  readonly refund: Remembered
}
export interface PayoutWish extends Wish<'payout', CreatePayout> {
  /** A saved beneficiary; null: the request contains one. */
  readonly to: Saved | null
}
export type AnyWish = IntentWish | PayoutWish

/** The partner's record. */
export interface PartnerMemory {
  readonly intents: readonly IntentWish[]
  readonly payouts: readonly PayoutWish[]
  readonly saved: readonly Saved[]
  readonly offers: readonly Offer[]
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  'intent created': ['authorized', 'captured', 'failed', 'expired', 'cancelled', 'refunded'],
  'intent authorized': ['captured', 'failed', 'cancelled', 'refunded'],
  'intent captured': ['refunded'],
  'payout created': ['processing', 'completed', 'failed', 'reversed'],
  'payout processing': ['completed', 'failed', 'reversed'],
  'payout completed': ['reversed'],
}

/** Records a status that a response showed. */
export function see(wish: AnyWish, status: string): void {
  const before = wish.status
  const isLegal =
    before === null || before === status || (NEXT[`${wish.kind} ${before}`] ?? []).includes(status)
  assert.ok(isLegal, `${wish.id ?? wish.mark} was ${before} and is shown as ${status}`)
  wish.status = status
}

/**
 * Records a response to a call that may repeat a key.
 *
 * @returns the view, when it is the first one
 */
export function remember(call: Remembered, answer: Answer): View | null {
  const before = call.answer
  if (!answer.ok) {
    const isDropped = answer.code === 'timeout'
    assert.ok(before === null || isDropped, `granted before, and now ${answer.code}`)
    return null
  }
  const text = JSON.stringify(answer.view)
  assert.equal(text, before ?? text, 'the same key is answered the same')
  call.answer = text
  return before === null ? (answer.view as View) : null
}

export type View = Readonly<Record<string, unknown>>

/** The claims of the token in the response to a create or re-mint. */
export function jtiIn(token: unknown): string {
  const payload = Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()
  return String((JSON.parse(payload) as { jti: unknown }).jti)
}

export const isOver = (status: string): boolean =>
  ['failed', 'expired', 'cancelled', 'refunded', 'reversed'].includes(status)
