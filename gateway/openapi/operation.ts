/** The description of an operation beyond its route: texts, schemas and error codes. */
import type { ErrorCode } from '../../src/base/errors.js'
import type { Schema } from '../../src/requests/check.js'

export const TAGS = {
  'Payment intents':
    'QR payments: create, scan, confirm, refund. Your backend signs; your app uses tokens.',
  Receipts: 'Receipts of a user, opened with a receipt token.',
  Beneficiaries: 'Bank accounts to pay out to.',
  Payouts: 'Payouts to bank accounts from your balance in the same currency.',
  Balances: 'Your balances, deposits and conversions.',
  Webhooks: 'Endpoints that receive your events, and their deliveries.',
  Events: 'Your events by number, whether or not an endpoint subscribes to them.',
  Account: 'What is configured for you.',
  Sandbox: 'Tools that exist in the sandbox only.',
  Contract: 'This document.',
} as const

export type Tag = keyof typeof TAGS

export interface RequestBody {
  /** Its name in `components.schemas`. */
  readonly name: string
  readonly schema: Schema
  /** Default: true. */
  readonly required?: boolean
}

export interface OperationDescription {
  /** The operationId: generated clients name their methods after it. */
  readonly id: string
  readonly tag: Tag
  /** At most 60 characters, imperative, without a period. */
  readonly summary: string
  /** Markdown. */
  readonly description: string
  readonly body?: RequestBody
  /** The schema of a list's query. */
  readonly query?: Schema
  /** Default: optional. Only for operations that read an Idempotency-Key. */
  readonly keyRequired?: boolean
  /** The answer's schema in `components.schemas`; null: no call succeeds. */
  readonly answer: string | null
  readonly answerText: string
  /** Beyond those that every operation can answer. */
  readonly errors: readonly ErrorCode[]
}

/** By `METHOD /path` of the route table. */
export type Operations = Readonly<Record<string, OperationDescription>>
