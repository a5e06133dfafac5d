/**
 * Calls of operators with the checks of their responses: deposits that need two of them,
 * discrepancies that are settled, signing keys that are rotated.
 *
 * Does not own: the choice of the next call (workload).
 *
 * - A large deposit is made by two operators, and once.
 * - An acknowledged settlement or revocation is final.
 */
import assert from 'node:assert/strict'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import type { KeyId } from '../../src/base/ids.js'
import { systemClock } from '../../src/base/clock.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import {
  approveRequest,
  rejectRequest,
} from '../../src/processor/commands/approvals/approval_request_decide.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { revokeKey } from '../../src/processor/commands/partners/key_revoke.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { rulesOf, type Rules } from '../../src/processor/cycle/rules.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { NO_FINDINGS } from '../support/statements.js'
import { DEMO, RULES } from '../support/world.js'
import type { SimulatedCall } from './calls.js'
import { recordAnswer, type RecordedAnswer, type View } from './client_oracle.js'

/** Minor units from which a deposit in US dollars needs two operators; no other change does. */
const TWO_FROM = 100_000n
const NEVER = '9000000000000000'

export const SIMULATED_RULES: Rules = {
  ...RULES,
  secondOperator: rulesOf(
    readSettings({ SECOND_OPERATOR_FROM: `USD:${TWO_FROM},VND:${NEVER},THB:${NEVER}` }, ''),
  ).secondOperator,
}

export const OPERATORS = ['ann', 'ben'] as const
const SETTLEMENTS = ['keep', 'undo', 'write_off', 'charge_partner', 'credit_partner'] as const
export const actor = (name: string) => ({ name, reason: 'a simulation' })
const callers = createCallers(
  OPERATORS.map((name) => configuredCaller(callerEntry('operator', name, `token of ${name}`))),
  systemClock,
)
export const LINKS = { callers, findings: NO_FINDINGS, isCluster: false }

/** A deposit of an operator, which may wait for another one. */
export interface OperatorDeposit {
  readonly key: string
  readonly amount: string
  readonly by: string
  readonly made: RecordedAnswer
  /** The id of the latest request for a second operator. */
  request: string | null
  isApproved: boolean
}

export function depositBy(one: OperatorDeposit): SimulatedCall {
  const { key, amount, by, made } = one
  const isLarge = BigInt(amount) >= TWO_FROM
  return {
    commandAt: () =>
      deposit(actor(by), DEMO, { currency: 'USD', amount, idempotencyKey: `operator ${key}` }),
    onAnswer: (answer, isLate) => {
      if (!answer.ok && 'approvalRequest' in answer) {
        one.request = answer.approvalRequest
        return
      }
      if (answer.ok && isLarge)
        assert.ok(answer.replayed === true, `${key} was made by one operator`)
      recordAnswer(made, answer, isLate)
    },
  }
}

/** Also by the one who asked, who is refused, and again after the decision. */
export function decide(one: OperatorDeposit, random: SeededRandom): SimulatedCall {
  const id = one.request!
  const by = random.pick(OPERATORS)
  const isApproval = !random.once(5)
  return {
    commandAt: () =>
      isApproval ? approveRequest(actor(by), id, LINKS) : rejectRequest(actor(by), id),
    onAnswer: (answer) => {
      if (!answer.ok) return
      assert.ok(!one.isApproved, `${id} is decided once`)
      if (!isApproval) return
      assert.notEqual(by, one.by, `${id} is approved by another operator`)
      one.isApproved = true
    },
  }
}

/** @param settled final settlements that were acknowledged */
export function settleDiscrepancy(
  id: string,
  settled: Set<string>,
  random: SeededRandom,
): SimulatedCall {
  const settlement = random.pick(SETTLEMENTS)
  const isFinal = settled.has(id)
  return {
    commandAt: () => resolveDiscrepancy(actor('ann'), id, { settlement, evidence: 'statement' }),
    onAnswer: (answer) => {
      if (!answer.ok) return
      assert.ok(!isFinal, `${id} is settled once`)
      if (settlement !== 'keep') settled.add(id)
    },
  }
}

/** The signing keys of the partner. */
export interface SigningKeys {
  /** The newest one last; it is never revoked. */
  readonly active: KeyId[]
  /** Their revocation was acknowledged. */
  readonly revoked: KeyId[]
}

/** Issues a key, or revokes an older one. */
export function rotateKey({ active, revoked }: SigningKeys, random: SeededRandom): SimulatedCall {
  const [oldest] = active
  if (active.length < 2 || oldest === undefined || random.once(2)) {
    return {
      commandAt: () => issueKey(actor('ann'), DEMO),
      onAnswer: (answer) => {
        if (answer.ok) active.push((answer.view as View)['key_id'] as KeyId)
      },
    }
  }
  return {
    commandAt: () => revokeKey(actor('ann'), oldest),
    onAnswer: (answer) => {
      if (!answer.ok || revoked.includes(oldest)) return
      active.splice(active.indexOf(oldest), 1)
      revoked.push(oldest)
    },
  }
}
