/**
 * What operators stop and let go on: submissions to the rail, and the partner.
 *
 * Does not own: when they do (simulation), the check of each instruction (invariant_checker).
 *
 * - A stop holds from its acknowledgment until a call that ends it, across crashes and take-overs.
 * - One operator stops; two let submissions go on.
 * - While its partner is suspended, no call starts anything.
 */
import assert from 'node:assert/strict'
import { approveRequest } from '../../src/processor/commands/approvals/approval_request_decide.js'
import {
  pauseSubmissions,
  resumeSubmissions,
} from '../../src/processor/commands/operators/submissions_pause.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { partsOfTenant } from '../../src/base/ids.js'
import type { Command } from '../../src/processor/cycle/command.js'
import type { SimulatedCall } from './calls.js'
import type { View } from './client_oracle.js'
import { actor, LINKS, OPERATORS } from './operators.js'
import { DEMO } from '../support/world.js'

export interface OperatorStop {
  /** The books are an older copy: they may have it or not. */
  restored(): void
  /** The answer from which it holds. Null means that it may not hold. */
  readonly held: View | null
  /** Whether the books may have it. */
  readonly mayHold: boolean
  /** Sets it; ends it when it holds. */
  next(): SimulatedCall
  /** Ends it; to be repeated while it may hold. */
  end(): SimulatedCall
}

const [FIRST, SECOND] = OPERATORS
const PARTNER = partsOfTenant(DEMO).partner
/** All that the simulated rail carries. */
const SUBJECT = 'environment sandbox'
/** Commands that start something, and whose repetition is marked in the answer. */
const STARTING: ReadonlySet<string> = new Set([
  ...(['create_intent', 'scan_intent', 'confirm_intent', 'approve_intent'] as const),
  ...(['create_payout', 'approve_payout', 'create_beneficiary'] as const),
  ...(['create_fx_quote', 'create_fx_conversion'] as const),
])

export interface OperatorStops {
  readonly all: readonly OperatorStop[]
  /** The books are an older copy. */
  restored(): void
  isHeld(): boolean
  /** Those that are held, or else all. */
  candidates(): readonly OperatorStop[]
  /** Epoch milliseconds after which no submission was decided. Null means that it may go on. */
  pausedSince(): number | null
  /** Checks the answer to a call that is made now. */
  checkStart(name: string): (answer: Answer) => void
}

export function createOperatorStops(): OperatorStops {
  const pause = createStop(
    'two',
    () => pauseSubmissions(actor(FIRST), SUBJECT),
    () => resumeSubmissions(actor(FIRST), SUBJECT),
  )
  const suspension = createStop(
    'one',
    () => changePartner(actor(FIRST), PARTNER, { kind: 'suspend' }),
    () => changePartner(actor(FIRST), PARTNER, { kind: 'resume' }),
  )
  const all = [pause, suspension]
  const heldOnes = (): readonly OperatorStop[] => all.filter(({ held }) => held !== null)
  return {
    all,
    restored: () => {
      for (const stop of all) stop.restored()
    },
    isHeld: () => heldOnes().length > 0,
    candidates: () => (heldOnes().length > 0 ? heldOnes() : all),
    pausedSince: () => (pause.held === null ? null : Date.parse(String(pause.held['paused_at']))),
    checkStart: (name) => {
      const held = STARTING.has(name) ? suspension.held : null
      return (answer) => {
        const isRefused = !answer.ok || answer.replayed === true
        assert.ok(
          held === null || held !== suspension.held || isRefused,
          `${name} of a suspended partner`,
        )
      }
    },
  }
}

/** @param endedBy with `two`, the call of the first operator asks for that of the second one */
function createStop(
  endedBy: 'one' | 'two',
  starts: () => Command,
  ends: () => Command,
): OperatorStop {
  let held: View | null = null
  let mayHold = false
  let request: string | null = null
  let calls = 0

  const ended = (call: number): void => {
    request = null
    if (call === calls) mayHold = false
  }
  const begin = (): SimulatedCall => {
    mayHold = true
    const call = ++calls
    return {
      commandAt: starts,
      onAnswer: (answer) => {
        if (answer.ok && call === calls) held = answer.view as View
      },
    }
  }
  const end = (): SimulatedCall => {
    const id = request
    const call = ++calls
    const isRequest = endedBy === 'two' && id === null
    if (!isRequest) held = null
    return {
      commandAt: () => (id === null ? ends() : approveRequest(actor(SECOND), id, LINKS)),
      onAnswer: (answer) => {
        assert.ok(!answer.ok || !isRequest, 'one operator ends it')
        if (answer.ok) ended(call)
        else if ('approvalRequest' in answer) request = answer.approvalRequest
        else if (answer.code === 'submissions_not_paused') ended(call)
        else request = null
      },
    }
  }
  return {
    get held() {
      return held
    },
    get mayHold() {
      return mayHold
    },
    restored: () => {
      held = null
      request = null
      mayHold = true
    },
    next: () => (held === null ? begin() : end()),
    end,
  }
}
