/** The model of a partner's operations: create, re-mint, cancel, refund, get. */
import {
  INTENT_TTL,
  inquiryAt,
  RECEIPT_TTL,
  REFUNDABLE_FOR,
  SESSION_TTL,
  type CorridorName,
} from './contract_rules.js'
import {
  enter,
  accepted,
  isOpen,
  refused,
  release,
  type BoundKey,
  type Expectation,
  type Model,
  type ModelIntent,
} from './model.js'
import { intentView, receiptView, timeText } from './model_views.js'
export interface Attested {
  readonly verified: boolean
  readonly clean: boolean
}

export interface Create extends Attested {
  readonly user: string
  readonly cents: number
  readonly corridor: CorridorName
  readonly key: string | null
}

/** The intent, and the calling tenant: its owner or another one. */
export interface OnIntent {
  readonly by: 'owner' | 'other tenant'
  readonly intent: ModelIntent
}

export interface Remint extends OnIntent, Attested {
  readonly user: string
}

const NOT_FOUND = refused('payment_intent_not_found')
const seconds = (at: number): number => Math.floor(at / 1_000)

export function expectCreate(model: Model, operation: Create): Expectation {
  const { key, user, cents, corridor, verified, clean } = operation
  const request = JSON.stringify([user, cents, corridor, verified, clean])
  const bound = key === null ? undefined : model.createKeys.get(key)
  if (bound !== undefined) {
    if (bound.request !== request) return refused('idempotency_conflict')
    return replayOf(bound)
  }
  if (!verified || !clean) return refused('attestation_not_satisfied')

  const intent = newIntent(model, operation)
  model.intents.push(intent)
  const binding: BoundKey = { request, intent, answer: null }
  if (key !== null) model.createKeys.set(key, binding)
  const sessionEnds = seconds(model.now + SESSION_TTL)
  return {
    code: 'ok',
    replayed: false,
    onAccepted: (answer) => {
      intent.id = String(answer.intent_id)
      intent.jtis.push(jtiOf(String(answer.session_token), intent.id, sessionEnds))
      binding.answer = JSON.stringify(answer)
    },
    view: () => ({
      intent_id: intent.id,
      status: 'created',
      amount_usd_cents: cents,
      corridor,
      created_at: timeText(intent.createdAt),
      session_token: (JSON.parse(binding.answer ?? '{}') as { session_token?: string })
        .session_token,
      session_expires_at: sessionEnds,
    }),
  }
}

/** The first response of a key, including the order of its members. */
const replayOf = (bound: BoundKey): Expectation => ({
  code: 'ok',
  replayed: true,
  view: () => JSON.parse(bound.answer ?? '{}') as object,
})

function newIntent({ now }: Model, { user, cents, corridor }: Create): ModelIntent {
  return {
    id: null,
    jtis: [],
    user,
    cents,
    corridor,
    createdAt: now,
    expiresAt: now + INTENT_TTL,
    state: 'created',
    quotes: [],
    confirmation: null,
    submittedAt: null,
    inquiries: 0,
    transactionId: null,
    enteredAt: {},
    failure: null,
    recall: null,
    refundsFailed: 0,
    wakeAt: now + INTENT_TTL,
  }
}

/** The token's id; fails if the token has another intent or expiry. */
function jtiOf(token: string, intentId: string, expiresAt: number): string {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  const { jti, sub, exp } = JSON.parse(payload) as Readonly<Record<string, unknown>>
  if (sub !== intentId || exp !== expiresAt || typeof jti !== 'string') {
    throw new Error(`a token of another intent or time: ${payload}`)
  }
  return jti
}

export function expectRemint(model: Model, operation: Remint): Expectation {
  const { intent } = operation
  if (operation.by === 'other tenant') return NOT_FOUND
  if (operation.user !== intent.user) return refused('user_mismatch')
  if (!operation.verified || !operation.clean) return refused('attestation_not_satisfied')
  if (intent.state !== 'authorized' && !isOpen(intent, model.now)) {
    return refused('payment_intent_terminal')
  }
  const expiresAt = seconds(model.now + SESSION_TTL)
  let token = ''
  return {
    code: 'ok',
    onAccepted: (answer) => {
      token = String(answer.session_token)
      const jti = jtiOf(token, intent.id ?? '', expiresAt)
      if (intent.jtis.includes(jti)) throw new Error('a token id is generated twice')
      intent.jtis.push(jti)
    },
    view: () => ({ intent_id: intent.id, session_token: token, session_expires_at: expiresAt }),
  }
}

/** Only an intent that is not paid and not submitted. */
export function expectCancel(model: Model, { by, intent }: OnIntent): Expectation {
  if (by === 'other tenant') return NOT_FOUND
  const isWaiting = intent.state === 'authorized' && intent.submittedAt === null
  if (!isWaiting && !isOpen(intent, model.now)) return refused('payment_intent_not_cancelable')
  if (isWaiting) release(model, intent)
  enter(model, intent, 'cancelled')
  const view = intentView(intent)
  model.events.push({ type: 'payment_intent.cancelled', intent, view })
  return accepted(view)
}

export function expectRefund(
  model: Model,
  { by, intent, key }: OnIntent & { readonly key: string | null },
): Expectation {
  if (by === 'other tenant') return NOT_FOUND
  const bound = key === null ? undefined : model.refundKeys.get(key)
  if (bound !== undefined) {
    return bound.intent === intent ? replayOf(bound) : refused('idempotency_conflict')
  }
  const capturedAt = intent.enteredAt.captured ?? Number.NEGATIVE_INFINITY
  const isPending = intent.recall !== null && intent.recall.refusedAt === null
  const isLate = model.now >= capturedAt + REFUNDABLE_FOR
  if (intent.state !== 'captured' || isPending || isLate) {
    return refused('payment_intent_not_refundable')
  }
  intent.recall = { requestedAt: model.now, inquiries: 0, refusedAt: null }
  intent.wakeAt = inquiryAt(model.now, 0, model.now)
  model.instructions.push({ kind: 'recall', intent })
  const binding: BoundKey = { request: '', intent, answer: null }
  if (key !== null) model.refundKeys.set(key, binding)
  return {
    code: 'ok',
    replayed: false,
    onAccepted: (answer) => (binding.answer = JSON.stringify(answer)),
    view: intentView(intent),
  }
}

export function expectGet(_: Model, { by, intent }: OnIntent): Expectation {
  return by === 'other tenant' ? NOT_FOUND : accepted(intentView(intent))
}

export function expectReceipt(
  _: Model,
  { by, intent, user }: OnIntent & { readonly user: string },
): Expectation {
  if (by === 'other tenant' || user !== intent.user) return NOT_FOUND
  return accepted(receiptView(intent))
}

export function expectReceiptToken(model: Model, { by }: OnIntent): Expectation {
  if (by === 'other tenant') return NOT_FOUND
  let token: unknown
  return {
    code: 'ok',
    onAccepted: (answer) => (token = answer.receipt_token),
    view: () => ({
      receipt_token: token,
      receipt_token_expires_at: seconds(model.now + RECEIPT_TTL),
    }),
  }
}
