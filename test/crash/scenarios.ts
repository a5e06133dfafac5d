/**
 * Scenarios of intents and payouts, run in rounds: a round is one step of each scenario.
 *
 * Owns: the steps and the expected outcome of each scenario. Does not own: the kills between and
 * within rounds (runner).
 */
import { strict as assert } from 'node:assert'
import { expected } from '../support/payments.js'
import { ACCOUNTS, ENDINGS } from '../support/sandbox_outcomes.js'
import type { ClientDriver } from './client_driver.js'

export type Step = (client: ClientDriver) => Promise<unknown>

/** The expected outcome of an entity. */
export interface ExpectedOutcome {
  readonly status: string
  /** Without the entity's prefix, in order. */
  readonly events: readonly string[]
  /** Executions at the rail. Null means that the instruction was never submitted. */
  readonly executions: 0 | 1 | null
}

export interface Scenario {
  /** The ending of its user. Default: the usual one. */
  readonly user?: string
  readonly steps: readonly Step[]
  readonly expected: readonly ExpectedOutcome[]
}

const idle: Step = () => Promise.resolve()
const create: Step = (client) => client.createIntent()
const createViet: Step = (client) => client.createIntent({ corridor: 'vn_vietqr' })
const scan: Step = async (client) => expected(await client.scan(), 200)
const confirm: Step = async (client) => expected(await client.confirm(), 200)
const refund: Step = async (client) => expected(await client.refund(), 202)
const cancel: Step = (client) => client.cancel()
const becomes =
  (status: string): Step =>
  (client) =>
    client.until(status, (projection) => projection['status'] === status)
const resolve =
  (outcome: 'completed' | 'failed'): Step =>
  (client) =>
    client.resolve(outcome)
const together =
  (...steps: readonly Step[]): Step =>
  async (client) => {
    for (const step of steps) await step(client)
  }

const has = (value: unknown, member: string, wanted: unknown): boolean =>
  typeof value === 'object' && value !== null && Reflect.get(value, member) === wanted

/** The first answer is recorded; later ones must be equal. */
const sameAnswer =
  (name: string, call: (client: ClientDriver) => Promise<{ readonly text: string }>): Step =>
  async (client) => {
    const { text } = await call(client)
    assert.equal(
      text,
      client.notes.get(name) ?? text,
      `${client.name}: ${name} gets the same answer`,
    )
    client.notes.set(name, text)
  }
const confirmed = sameAnswer('confirm', async (client) => expected(await client.confirm(), 200))
const created = sameAnswer('create', (client) => client.createIntent({}, 'one key'))

const scenario = (expected: ExpectedOutcome, ...steps: readonly Step[]): Scenario => ({
  steps,
  expected: [expected],
})
const ends = (
  status: string,
  events: string,
  executions: ExpectedOutcome['executions'] = null,
): ExpectedOutcome => ({ status, events: events.split(' '), executions })

const CAPTURED = ends('captured', 'authorized captured', 1)
const REFUNDED = ends('refunded', 'authorized captured refunded', 1)
const REFUND_REFUSED = ends('captured', 'authorized captured refund_failed', 1)
const INTENT_FAILED = ends('failed', 'authorized failed', 0)
const EXPIRED = ends('expired', 'expired')

const captured = [create, scan, confirm, becomes('captured')]

export const INTENT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'captured in Thailand': scenario(CAPTURED, ...captured),
  'captured in Vietnam': scenario(CAPTURED, createViet, scan, confirm, becomes('captured')),
  failed: {
    user: ENDINGS.refused,
    ...scenario(INTENT_FAILED, create, scan, confirm, becomes('failed')),
  },
  cancelled: scenario(ends('cancelled', 'cancelled'), create, scan, idle, cancel),
  slow: { user: ENDINGS.slow, ...scenario(CAPTURED, ...captured) },
  'unknown, then paid': { user: ENDINGS.unknownPaid, ...scenario(CAPTURED, ...captured) },
  refunded: scenario(REFUNDED, ...captured, refund, becomes('refunded')),
  'refund refused': scenario(
    REFUND_REFUSED,
    create,
    scan,
    confirm,
    together(becomes('captured'), ({ bank, entities }) => bank.hideExecution(entities[0] ?? '')),
    refund,
    (client) => client.until('refused', ({ refund }) => has(refund, 'status', 'refused')),
    ({ bank, entities }) => bank.restoreExecution(entities[0] ?? ''),
  ),
  'paid with a second token': scenario(
    CAPTURED,
    create,
    scan,
    (client) => client.renewSession(),
    confirm,
    becomes('captured'),
  ),
  'created and confirmed repeatedly': scenario(
    CAPTURED,
    ...[created, created, scan, confirmed, becomes('captured'), confirmed, created],
  ),
  'the same code scanned twice': {
    steps: [
      create,
      scan,
      confirm,
      together(create, async (client) => expected(await client.scan(), 409)),
      async (client) => expected(await client.scan({ duplicate_confirmed: true }), 200),
      confirm,
      becomes('captured'),
    ],
    expected: [CAPTURED, CAPTURED],
  },
}

const payTo =
  (account: keyof typeof ACCOUNTS, over: Record<string, unknown> = {}): Step =>
  (client) =>
    client.payOut(ACCOUNTS[account], over)
const paid = sameAnswer('payout', (client) => client.payOut(ACCOUNTS.usual))
const held = payTo('usual', { reference: 'sandbox:review' })

const COMPLETED = ends('completed', 'created processing completed', 1)
const PAYOUT_FAILED = ends('failed', 'created processing failed', 0)
const REVERSED = ends('reversed', 'created processing completed reversed', 1)
const REJECTED = ends('failed', 'created failed')

export const PAYOUT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  completed: scenario(COMPLETED, payTo('usual'), idle, becomes('completed')),
  refused: scenario(PAYOUT_FAILED, payTo('notFound'), idle, becomes('failed')),
  reversed: scenario(REVERSED, payTo('returned'), idle, idle, becomes('reversed')),
  'held and approved': scenario(COMPLETED, held, idle, (client) =>
    client.decide('ApprovePayout', 'completed'),
  ),
  'held and rejected': scenario(REJECTED, held, idle, (client) =>
    client.decide('RejectPayout', 'failed'),
  ),
  'unknown, then paid': scenario(
    COMPLETED,
    ...[payTo('unknownPaid'), idle, idle, becomes('completed')],
  ),
  'unknown, then refused': scenario(
    PAYOUT_FAILED,
    ...[payTo('unknownRefused'), idle, idle, becomes('failed')],
  ),
  'stuck, resolved as paid': scenario(
    { ...COMPLETED, executions: 0 },
    ...[payTo('stuck'), idle, idle, idle, resolve('completed')],
  ),
  'stuck, resolved as not paid': scenario(
    PAYOUT_FAILED,
    ...[payTo('stuck'), idle, idle, idle, resolve('failed')],
  ),
  'created repeatedly': scenario(
    COMPLETED,
    ...[paid, paid, becomes('completed'), paid],
    async (client) => expected(await client.payOut(ACCOUNTS.usual, { amount: '1' }), 409),
  ),
}

/** Deadlines: the first step starts one, the others run after it. */
export const LATE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  expired: scenario(EXPIRED, create, becomes('expired')),
  'expired with a quote': scenario(
    EXPIRED,
    together(create, scan),
    becomes('expired'),
    async (client) => expected(await client.confirm(), 409),
  ),
  'review expired': scenario(REJECTED, held, becomes('failed')),
}

/** Submitted while the rail is stopped and received too late: the rail must refuse. */
export const FROZEN_SCENARIO = scenario(INTENT_FAILED, create, scan, confirm, becomes('failed'))
