/** Each change that a second operator must approve, and how a test sees that it took effect. */
import { generateKeyPairSync } from 'node:crypto'
import type { OrphanExecution__Output as Execution } from '../../protos/types/causeway/operator/v1/OrphanExecution.js'
import {
  callerEntry,
  configuredCaller,
  createCallers,
  type Callers,
} from '../../src/auth/callers.js'
import { tokenDigest } from '../../src/auth/caller_token.js'
import { THB, VND } from '../../src/money/currency.js'
import { rateKey } from '../../src/quotes/rates.js'
import { approveRequest } from '../../src/processor/commands/approvals/approval_request_decide.js'
import type { GuardedLinks } from '../../src/processor/commands/approvals/guarded_command.js'
import { createCaller } from '../../src/processor/commands/callers/caller_create.js'
import { rotateCaller } from '../../src/processor/commands/callers/caller_rotate.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { correctDeposit } from '../../src/processor/commands/funds/deposit_correct.js'
import { withdraw } from '../../src/processor/commands/funds/withdraw.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { releaseRecovery } from '../../src/processor/commands/operators/recovery_release.js'
import {
  resolveIntent,
  reverseIntent,
} from '../../src/processor/commands/intents/intent_resolve.js'
import { approveIntent } from '../../src/processor/commands/intents/intent_review.js'
import { addOrphans } from '../../src/processor/commands/operators/orphan_add.js'
import { resolveOrphan } from '../../src/processor/commands/operators/orphan_resolve.js'
import { setRate, setRates } from '../../src/processor/commands/operators/rate_set.js'
import { createRailTable, sandboxRail } from '../../src/rails/rail_table.js'
import {
  pauseSubmissions,
  resumeSubmissions,
} from '../../src/processor/commands/operators/submissions_pause.js'
import { setRouteRail } from '../../src/processor/commands/operators/route_rail_set.js'
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { issueKey, keysOf } from '../../src/processor/commands/partners/key_issue.js'
import { eraseUser } from '../../src/processor/commands/partners/user_erase.js'
import {
  resolvePayout,
  reversePayout,
} from '../../src/processor/commands/payouts/payout_resolve.js'
import { approvePayout } from '../../src/processor/commands/payouts/payout_review.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import type { GuardedOperation } from '../../src/processor/changes/second_operator.js'
import type { Actor } from '../../src/processor/changes/operator_log.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { NO_FINDINGS, RELEASE } from '../support/statements.js'
import { codeOf, DEMO, PRODUCTION, viewOf, type World } from '../support/world.js'
import { authorized, beginLifecycle, captured, type Stage } from './intent_lifecycle.js'
import { aRoute, balanceOf, discrepanciesOf, executed, pay, see } from './scenarios.js'

export const ANN: Actor = { name: 'ann', reason: 'ticket 1' }

export const BEN: Actor = { name: 'ben', reason: 'checked with the bank' }

const DIGEST = tokenDigest('a token that its owner made')

const PARTNERS_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

export const EVIDENCE = 'line 12 of the statement'

const configured = ['root', 'ann', 'ben', 'cid'].map((name) =>
  configuredCaller(callerEntry('operator', name, `token-of-${name}`)),
)

export const callersIn = (world: World): Callers =>
  createCallers(configured, world.clock, world.memory().callers)

export const linksIn = (world: World): GuardedLinks => ({
  callers: callersIn(world),
  findings: NO_FINDINGS,
  isCluster: false,
})

export const approve = (world: World, by: Actor, id: string): Command =>
  approveRequest(by, id, linksIn(world))

/** The id of the approval request; fails the test on any other answer. */
export function requestIn(answer: Answer): string {
  if (answer.ok || !('approvalRequest' in answer))
    throw new Error(`not requested: ${codeOf(answer)}`)
  return answer.approvalRequest
}

interface Prepared {
  /** The change. */
  readonly command: (actor: Actor) => Command
  /** Whether it took effect. */
  readonly isDone: () => boolean | Promise<boolean>
}

interface Case {
  readonly operation: GuardedOperation
  prepare(world: World): Prepared | Promise<Prepared>
  /** The action in the log. Default: named as the operation. */
  readonly action?: string | readonly string[]
}

/** Whether a payout has this status. */
const isPayout = (world: World, id: string, status: string) => async () =>
  (await see(world, id)).status === status

const AMOUNT = { currency: 'VND', amount: '12500000' }

/** Whether the balance has changed by the amount. */
async function hasChanged(world: World, by: 1n | -1n): Promise<() => Promise<boolean>> {
  const available = async () => BigInt((await balanceOf(world)).available)
  const expected = (await available()) + by * BigInt(AMOUNT.amount)
  return async () => (await available()) === expected
}

/** A return without an execution posts two discrepancies. */
export async function aDiscrepancy(world: World, settlement: string) {
  const { id } = await pay(world)
  await world.railReports({ status: 'refused', id, reportId: 'r', refusal: 'rejected' })
  const isPaid = settlement !== 'credit_partner'
  await world.railReports(executed(id, isPaid ? {} : { status: 'returned' }))
  const plan = isPaid ? 'discrepancy_paid' : 'discrepancy_returned'
  const found = (await discrepanciesOf(world)).find((one) => one.plan === plan)!
  return {
    command: (actor: Actor) =>
      resolveDiscrepancy(actor, found.id, { settlement, evidence: EVIDENCE }),
    isDone: async () => !(await discrepanciesOf(world)).some(({ id }) => id === found.id),
  }
}

/** Restores books that lack an execution equal to `aPayout`, or to a payment of 360 baht. */
async function restoredWithout(world: World, purpose: 'payout' | 'qr_payment') {
  const lost: Execution = {
    instruction_id: `lost-${purpose}`,
    ...(purpose === 'payout' ? AMOUNT : { amount: '36000', currency: 'THB' }),
    transaction_id: 'TX1',
    executed_at: String(world.clock.now()),
    purpose,
    state: '',
  }
  await world.run(enterRecovery('a test'))
  viewOf(await world.run(addOrphans(ANN, [lost])))
  const release = await world.run(releaseRecovery(ANN, RELEASE, NO_FINDINGS))
  if (!release.ok) viewOf(await world.run(approve(world, BEN, requestIn(release))))
  await world.rebuild()
  return lost.instruction_id
}

async function anIntent(world: World, ...stages: readonly Stage[]) {
  const lifecycle = await beginLifecycle(world)
  for (const stage of stages) await stage(lifecycle)
  return {
    id: lifecycle.id,
    isIn: async (status: string) => (await lifecycle.see()).status === status,
  }
}

const resolvedPayout = (outcome: 'completed' | 'failed'): Case => ({
  operation: 'resolve_payout',
  action: `resolve_payout_${outcome}`,
  prepare: async (world) => {
    const { id } = await pay(world)
    return {
      command: (actor) => resolvePayout(actor, id, { outcome, evidence: EVIDENCE }),
      isDone: isPayout(world, id, outcome),
    }
  },
})

const resolvedIntent = (outcome: 'captured' | 'failed'): Case => ({
  operation: 'resolve_intent',
  action: `resolve_intent_${outcome}`,
  prepare: async (world) => {
    const { id, isIn } = await anIntent(world, authorized)
    return {
      command: (actor) => resolveIntent(actor, id, { outcome, evidence: EVIDENCE }),
      isDone: () => isIn(outcome),
    }
  },
})

const settledDiscrepancy = (settlement: string): Case => ({
  operation: 'resolve_discrepancy',
  action: `resolve_discrepancy_${settlement}`,
  prepare: (world) => aDiscrepancy(world, settlement),
})

const newCaller = (kind: string, roles: readonly string[] = []): Case => ({
  operation: 'create_caller',
  prepare: (world) => {
    const given = { name: 'dot', kind, roles, partners: [], tokenSha256: DIGEST }
    return {
      command: (actor) => createCaller(actor, callersIn(world), given),
      isDone: () => world.memory().callers.has('dot'),
    }
  },
})

export const CASES: Readonly<Record<string, Case>> = {
  'a payout approval': {
    operation: 'approve_payout',
    prepare: async (world) => {
      const { id } = await pay(world, { reference: 'sandbox:review' })
      return {
        command: (actor) => approvePayout(actor, id),
        isDone: isPayout(world, id, 'processing'),
      }
    },
  },
  'a payout resolved as failed': resolvedPayout('failed'),
  'a payout resolved as completed': resolvedPayout('completed'),
  'a reversal of a payout': {
    operation: 'reverse_payout',
    prepare: async (world) => {
      const { id } = await pay(world)
      await world.railReports(executed(id))
      return {
        command: (actor) => reversePayout(actor, id, EVIDENCE),
        isDone: isPayout(world, id, 'reversed'),
      }
    },
  },
  'an approval of a held intent': {
    operation: 'approve_intent',
    action: ['approve_intent', 'other_than_orphan'],
    prepare: async (world) => {
      const orphan = await restoredWithout(world, 'qr_payment')
      const { id } = await anIntent(world, authorized)
      const sent = world.railInstructions.length
      return {
        command: (actor) => approveIntent(actor, id, [orphan]),
        isDone: () => world.railInstructions.length > sent,
      }
    },
  },
  'an intent resolved as failed': resolvedIntent('failed'),
  'an intent resolved as captured': resolvedIntent('captured'),
  'a reversal of an intent': {
    operation: 'reverse_intent',
    prepare: async (world) => {
      const { id, isIn } = await anIntent(world, captured)
      return {
        command: (actor) => reverseIntent(actor, id, EVIDENCE),
        isDone: () => isIn('refunded'),
      }
    },
  },
  'a deposit': {
    operation: 'deposit',
    prepare: async (world) => {
      const request = { ...AMOUNT, idempotencyKey: 'd1' }
      const command = (actor: Actor) => deposit(actor, DEMO, request)
      return { command, isDone: await hasChanged(world, 1n) }
    },
  },
  'a withdrawal': {
    operation: 'withdraw',
    prepare: async (world) => {
      const given = { ...AMOUNT, evidence: EVIDENCE, idempotencyKey: 'w' }
      const command = (actor: Actor) => withdraw(actor, DEMO, given)
      return { command, isDone: await hasChanged(world, -1n) }
    },
  },
  'a correction of a deposit': {
    operation: 'correct_deposit',
    prepare: async (world) => {
      const credit = { ...AMOUNT, idempotency_key: 'd2' }
      const { id } = viewOf<{ id: string }>(await world.run(depositSandboxFunds(DEMO, credit)))
      const given = { ...AMOUNT, evidence: EVIDENCE, idempotencyKey: 'c' }
      const command = (actor: Actor) => correctDeposit(actor, DEMO, id, given)
      return { command, isDone: await hasChanged(world, -1n) }
    },
  },
  'a charge for a discrepancy': settledDiscrepancy('charge_partner'),
  'a credit for a discrepancy': settledDiscrepancy('credit_partner'),
  'a discrepancy written off': settledDiscrepancy('write_off'),
  'an orphan execution matched with a payout': {
    operation: 'resolve_orphan',
    action: 'resolve_orphan_matched',
    prepare: async (world) => {
      const instruction = await restoredWithout(world, 'payout')
      const { id: paymentId } = await pay(world)
      const match = { resolution: 'matched', paymentId, evidence: EVIDENCE }
      return {
        command: (actor) => resolveOrphan(actor, instruction, match),
        isDone: isPayout(world, paymentId, 'completed'),
      }
    },
  },
  'a recovery release': {
    operation: 'release_recovery',
    prepare: async (world) => {
      await world.run(enterRecovery('a test'))
      return {
        command: (actor) => releaseRecovery(actor, RELEASE, NO_FINDINGS),
        isDone: async () => (await world.store.stoppedByRecovery()) === null,
      }
    },
  },
  'the erasure of a user': {
    operation: 'erase_user',
    prepare: async (world) => {
      const { id } = await beginLifecycle(world)
      return {
        command: (actor) => eraseUser(actor, DEMO, id),
        isDone: () => world.memory().userErasures.size === 1,
      }
    },
  },
  'a signing key of production': {
    operation: 'issue_key',
    prepare: (world) => ({
      command: (actor) => issueKey(actor, PRODUCTION, PARTNERS_KEY.publicKey),
      isDone: () => keysOf(world.memory(), PRODUCTION).length === 1,
    }),
  },
  'a route': {
    operation: 'set_route',
    prepare: (world) => ({
      command: (actor) => setRoute(actor, null, aRoute()),
      isDone: () => world.memory().routes.inForce(null, 'VN', VND) !== null,
    }),
  },
  'the end of a pause': {
    operation: 'resume_submissions',
    prepare: async (world) => {
      await world.run(pauseSubmissions(ANN, 'rail bank'))
      return {
        command: (actor) => resumeSubmissions(actor, 'rail bank'),
        isDone: () => world.memory().pauses.size === 0,
      }
    },
  },
  'the rail of a route': {
    operation: 'set_route_rail',
    prepare: (world) => ({
      command: (actor) => setRouteRail(actor, 'sandbox/VN/VND', 'bank'),
      isDone: () => world.memory().railRoutes.get('sandbox/VN/VND')?.rail === 'bank',
    }),
  },
  'the first rate of a currency': {
    operation: 'set_rate',
    prepare: (world) => ({
      command: (actor) => setRate(actor, 'THB', '36.10'),
      isDone: () => world.memory().rates.has(rateKey('production', THB)),
    }),
  },
  'several rates': {
    operation: 'set_rates',
    action: ['set_rate', 'set_rate'],
    prepare: (world) => ({
      command: (actor) =>
        setRates(actor, [
          { currency: 'THB', rate: '36.10', environment: 'production' },
          { currency: 'VND', rate: '26000' },
        ]),
      isDone: () =>
        ['production THB', 'production VND', 'sandbox VND'].every((key) =>
          [...world.memory().rates.keys()].some((known) => known === key),
        ),
    }),
  },
  'another operator who decides': newCaller('operator', ['decide', 'read']),
  'another operator who operates': newCaller('operator', ['operate']),
  'another internal service': newCaller('service'),
  'another gateway': newCaller('gateway'),
  'another webhook pool': newCaller('webhooks'),
  'a new token of another operator who decides': {
    operation: 'rotate_caller',
    prepare: (world) => ({
      command: (actor) => rotateCaller(actor, callersIn(world), 'root', DIGEST),
      isDone: () => world.memory().callers.has('root'),
    }),
  },
}

const BANK = { ...sandboxRail(true), name: 'bank' }

export const RAILS = createRailTable([sandboxRail(true), BANK])
