/**
 * What the partner knows: everything it asked for, and everything it was answered.
 *
 * Owns: the partner's memory, and what an answer may not be after the ones before. It outlives
 * every crash, so it convicts a processor that forgets.
 *
 * - What was answered once is answered the same again: by its key, byte for byte.
 * - A status never goes back.
 */
import assert from 'node:assert/strict'
import type { CreateIntent__Output as CreateIntent } from '../../protos/types/causeway/v1/CreateIntent.js'
import type { CreatePayout__Output as CreatePayout } from '../../protos/types/causeway/v1/CreatePayout.js'
import type { Answer } from '../../src/processor/cycle/answer.js'

/** The first answer to a call; null while nobody has heard one. */
export interface Remembered {
  answer: string | null
}

interface Wish<Kind extends string, Request> {
  readonly kind: Kind
  /** No other wish has it; it lies in the row. */
  readonly mark: string
  readonly key: string | null
  readonly request: Request
  readonly creation: Remembered
  /** How often it was asked for. */
  asked: number
  id: string | null
  status: string | null
}

/** A beneficiary that was saved. */
export interface Saved {
  readonly id: string
  /** Its end was answered. */
  disabled: boolean
}

/** Of one currency for another. */
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
  /** A saved beneficiary; null: the request bears one of its own. */
  readonly to: Saved | null
}
export type AnyWish = IntentWish | PayoutWish

/** All that the partner knows. */
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

/** The status was shown to somebody. */
export function see(wish: AnyWish, status: string): void {
  const before = wish.status
  const isLegal =
    before === null || before === status || (NEXT[`${wish.kind} ${before}`] ?? []).includes(status)
  assert.ok(isLegal, `${wish.id ?? wish.mark} was ${before} and is shown as ${status}`)
  wish.status = status
}

/**
 * An answer to a call that may have been made before, under the same key.
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

/** What lies in the token of a create's or a re-mint's answer. */
export function jtiIn(token: unknown): string {
  const payload = Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()
  return String((JSON.parse(payload) as { jti: unknown }).jti)
}

export const isOver = (status: string): boolean =>
  ['failed', 'expired', 'cancelled', 'refunded', 'reversed'].includes(status)
