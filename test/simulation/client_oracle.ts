/**
 * The partner's record of requests and responses, and the checks of later responses against it. It
 * survives every crash, so it detects lost data.
 *
 * - A repeated key gets the same response, byte for byte.
 * - A status never regresses.
 */
import assert from 'node:assert/strict'
import type { CreateIntent__Output as CreateIntent } from '../../protos/types/causeway/v1/CreateIntent.js'
import type { CreatePayout__Output as CreatePayout } from '../../protos/types/causeway/v1/CreatePayout.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { mayFollow } from '../support/lifecycle.js'

/** The first response to a call; null while none was received. */
export interface RecordedAnswer {
  answer: string | null
}

interface RequestRecord<Kind extends string, Request> {
  readonly kind: Kind
  /** Unique per request, and stored in the row. */
  readonly mark: string
  readonly key: string | null
  readonly request: Request
  readonly creation: RecordedAnswer
  /** The number of calls. */
  sent: number
  id: string | null
  /** The latest that a response showed. */
  status: string | null
  /** The latest in the books. */
  stored: string | null
}

/** A beneficiary that was saved. */
export interface SavedBeneficiary {
  readonly id: string
  /** A response showed it as disabled. */
  disabled: boolean
}

/** A conversion between currencies. */
export interface FxQuote {
  readonly id: string
  readonly conversion: RecordedAnswer
}

export interface IntentRecord extends RequestRecord<'intent', CreateIntent> {
  readonly tokens: string[]
  readonly confirmation: RecordedAnswer
  readonly refund: RecordedAnswer
  /** Its confirmation is lost: the user scans the same code again, and confirms it again. */
  scanAgain: { readonly amount: string; isDone: boolean } | null
}
export interface PayoutRecord extends RequestRecord<'payout', CreatePayout> {
  /** A saved beneficiary. Null means that the request contains one. */
  readonly to: SavedBeneficiary | null
}
export type AnyRecord = IntentRecord | PayoutRecord

/** The partner's record. */
export interface PartnerMemory {
  readonly intents: readonly IntentRecord[]
  readonly payouts: readonly PayoutRecord[]
  readonly saved: readonly SavedBeneficiary[]
  readonly quotes: readonly FxQuote[]
}

/**
 * Records a status that a response showed.
 *
 * @param floor the latest status before the call. A late response may be older than later ones,
 *   but not older than this
 */
export function recordStatus(record: AnyRecord, status: string, floor = record.status): void {
  assertAfter(record, floor, status)
  if (isAfter(record, record.status, status)) record.status = status
  else assertAfter(record, status, record.status ?? status)
}

/** Records the status in the books. */
export function recordStored(record: AnyRecord, status: string): void {
  assertAfter(record, record.stored, status)
  assertAfter(record, record.status, status)
  record.stored = status
}

const isAfter = ({ kind }: AnyRecord, before: string | null, status: string): boolean =>
  before === null || mayFollow(kind, before, status)

function assertAfter(record: AnyRecord, before: string | null, status: string): void {
  const { id, mark } = record
  assert.ok(
    isAfter(record, before, status),
    `${id ?? mark} was ${before} and is shown as ${status}`,
  )
}

/**
 * Records a response to a call that may repeat a key.
 *
 * @param isLate a refusal may be older than an acceptance by the next owner
 * @returns the view, when it is the first one
 */
export function recordAnswer(call: RecordedAnswer, answer: Answer, isLate: boolean): View | null {
  const before = call.answer
  if (!answer.ok) {
    const isBefore = isLate || answer.code === 'timeout'
    assert.ok(before === null || isBefore, `accepted before, and now ${answer.code}`)
    return null
  }
  const text = JSON.stringify(answer.view)
  assert.equal(text, before ?? text, 'the same key gets the same answer')
  call.answer = text
  return before === null ? (answer.view as View) : null
}

export type View = Readonly<Record<string, unknown>>

/** The claims of the token in the response to a create or re-mint. */
export function jtiIn(token: unknown): string {
  const payload = Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()
  return String((JSON.parse(payload) as { jti: unknown }).jti)
}
