/**
 * Sequential objects of the partner API, for histories of concurrent clients: a balance, an
 * idempotency key, a signed request and an intent.
 *
 * Written from the contract; shares no logic with src or actors.
 */
import { stepsFrom } from '../support/lifecycle.js'
import type { Model } from './linearizability.js'

/** Amounts are totals, in minor units. */
export type BalanceInput =
  | { readonly kind: 'deposit'; readonly amount: bigint }
  | { readonly kind: 'pay'; readonly total: bigint }
  | { readonly kind: 'read' }
export type BalanceOutput = 'done' | 'insufficient' | { readonly available: bigint }

/** What is available for payouts that are not returned. */
export const balance: Model<bigint, BalanceInput, BalanceOutput> = {
  initial: 0n,
  step: (available, input, output) => {
    switch (input.kind) {
      case 'deposit':
        return [available + input.amount]
      case 'pay': {
        const canPay = available >= input.total
        if (output === undefined) return canPay ? [available, available - input.total] : [available]
        if (output === 'done') return canPay ? [available - input.total] : []
        return canPay ? [] : [available]
      }
      case 'read':
        if (output === undefined) return [available]
        return typeof output === 'object' && output.available === available ? [available] : []
    }
  },
  keyOf: String,
}

/** The request of an idempotency key, as text. */
export type KeyInput = string
export type KeyOutput = { readonly id: string; readonly isNew: boolean } | 'conflict'
type KeyState = { readonly request: string; readonly id: string } | null

/** An idempotency key: the first request owns it. */
export const idempotencyKey: Model<KeyState, KeyInput, KeyOutput> = {
  initial: null,
  step: (state, request, output) => {
    if (output === undefined) throw new Error('requests with a key are repeated until an answer')
    if (output === 'conflict') return state !== null && state.request !== request ? [state] : []
    if (state === null) return [{ request, id: output.id }]
    return !output.isNew && state.request === request && state.id === output.id ? [state] : []
  },
  keyOf: (state) => (state === null ? '' : `${state.id} ${state.request}`),
}

/** One signed request that is sent several times: its nonce is accepted once. */
export const signedRequest: Model<boolean, 'send', 'accepted' | 'refused'> = {
  initial: false,
  step: (isUsed, _, output) => {
    if (output === undefined) return [isUsed, true]
    return (output === 'refused') === isUsed ? [true] : []
  },
  keyOf: String,
}

export type IntentInput =
  | { readonly kind: 'scan'; readonly amount: string }
  | { readonly kind: 'confirm'; readonly key: string }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'read' }
/** What an answer shows of an intent. */
export interface IntentView {
  readonly status: string
  /** Local minor units of the last scan; absent before the first. */
  readonly amount?: string | undefined
}
export type IntentOutput = IntentView | 'refused'

interface IntentState extends IntentView {
  /** The key of the confirm that was accepted. */
  readonly confirmedBy?: string
}

/** An intent in time and within its limits, with a session token that a confirm consumes. */
export const intent: Model<IntentState, IntentInput, IntentOutput> = {
  initial: { status: 'created' },
  step: (state, input, output) => {
    const isUnknown = output === undefined
    const isOpen = state.status === 'created'
    if (input.kind === 'read') {
      if (isUnknown) return [state]
      return reached(state, output)
    }
    const after = accepted(state, input)
    if (isUnknown) return after === null ? [state] : [state, after]
    if (output === 'refused') {
      // An authorized intent can have been submitted, and then it is not cancelled.
      const mayRefuse = input.kind === 'cancel' && state.status === 'authorized'
      return after === null || mayRefuse ? [state] : []
    }
    if (input.kind === 'confirm' && !isOpen && state.confirmedBy === input.key) {
      return output.status === 'authorized' && output.amount === state.amount ? [state] : []
    }
    return after !== null && shows(after, output) ? [after] : []
  },
  keyOf: ({ status, amount, confirmedBy }) => `${status} ${amount} ${confirmedBy}`,
}

/** The state after a call that is accepted; null if it must be refused. */
function accepted(
  state: IntentState,
  input: Exclude<IntentInput, { kind: 'read' }>,
): IntentState | null {
  if (input.kind === 'scan')
    return state.status === 'created' ? { ...state, amount: input.amount } : null
  const [status] = stepsFrom('intent', state.status, input.kind)
  if (input.kind === 'cancel') return status === undefined ? null : { ...state, status }
  if (state.confirmedBy === input.key) return state
  if (status === undefined || state.amount === undefined) return null
  return { ...state, status, confirmedBy: input.key }
}

/** The rail reports at any time. */
function reached(state: IntentState, output: IntentOutput): readonly IntentState[] {
  if (output === 'refused') return []
  const statuses = [state.status, ...stepsFrom('intent', state.status, 'rail')]
  return statuses.map((status) => ({ ...state, status })).filter((next) => shows(next, output))
}

const shows = ({ status, amount }: IntentState, view: IntentView): boolean =>
  status === view.status && amount === view.amount
