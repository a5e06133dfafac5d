/**
 * Scenarios of intents and payouts, run in rounds: a round is one step of each scenario.
 *
 * Owns: the steps and the expected outcome of each scenario. Does not own: the kills between and
 * within rounds (runner).
 */
import { strict as assert } from 'node:assert'
import { expected, type ClientDriver } from './client_driver.js'

export type Step = (client: ClientDriver) => Promise<unknown>

/** The expected outcome of an entity. */
export interface Ending {
  readonly status: string
  /** Without the entity's prefix, in order. */
  readonly events: readonly string[]
  /** Executions at the rail; null: the instruction was never submitted. */
  readonly executions: 0 | 1 | null
}

export interface Scenario {
  readonly user?: '+fail' | '+slow' | '+unknown'
  readonly steps: readonly Step[]
  readonly ends: readonly Ending[]
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
const together =
  (...steps: readonly Step[]): Step =>
  async (client) => {
    for (const step of steps) await step(client)
  }

const has = (value: unknown, member: string, wanted: unknown): boolean =>
  typeof value === 'object' && value !== null && Reflect.get(value, member) === wanted

/** Recorded the first time; later it must be equal. */
const sameAnswer =
  (name: string, call: (client: ClientDriver) => Promise<{ readonly text: string }>): Step =>
  async (client) => {
    const { text } = await call(client)
    assert.equal(
      text,
      client.notes.get(name) ?? text,
      `${client.name}: ${name} is answered the same`,
    )
    client.notes.set(name, text)
  }
const confirmed = sameAnswer('confirm', async (client) => expected(await client.confirm(), 200))
const created = sameAnswer('create', (client) => client.createIntent({}, 'one key'))

const CAPTURED: Ending = {
  status: 'captured',
  events: ['authorized', 'captured'],
  executions: 1,
}
const INTENT_FAILED: Ending = { status: 'failed', events: ['authorized', 'failed'], executions: 0 }

export const INTENT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'captured in Thailand': {
    steps: [create, scan, confirm, becomes('captured')],
    ends: [CAPTURED],
  },
  'captured in Vietnam': {
    steps: [createViet, scan, confirm, becomes('captured')],
    ends: [CAPTURED],
  },
  failed: {
    user: '+fail',
    steps: [create, scan, confirm, becomes('failed')],
    ends: [INTENT_FAILED],
  },
  cancelled: {
    steps: [create, scan, idle, cancel],
    ends: [{ status: 'cancelled', events: ['cancelled'], executions: null }],
  },
  slow: {
    user: '+slow',
    steps: [create, scan, confirm, becomes('captured')],
    ends: [CAPTURED],
  },
  'unknown, then paid': {
    user: '+unknown',
    steps: [create, scan, confirm, becomes('captured')],
    ends: [CAPTURED],
  },
  refunded: {
    steps: [create, scan, confirm, becomes('captured'), refund, becomes('refunded')],
    ends: [{ ...CAPTURED, status: 'refunded', events: [...CAPTURED.events, 'refunded'] }],
  },
  'refund refused': {
    steps: [
      create,
      scan,
      confirm,
      together(becomes('captured'), (client) => client.bank.disown(client.entities[0] ?? '')),
      refund,
      (client) => client.until('refused', ({ refund }) => has(refund, 'status', 'refused')),
      (client) => client.bank.own(client.entities[0] ?? ''),
    ],
    ends: [{ ...CAPTURED, events: [...CAPTURED.events, 'refund_failed'] }],
  },
  'paid with a second token': {
    steps: [create, scan, (client) => client.remint(), confirm, becomes('captured')],
    ends: [CAPTURED],
  },
  'created and confirmed again and again': {
    steps: [created, created, scan, confirmed, becomes('captured'), confirmed, created],
    ends: [CAPTURED],
  },
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
    ends: [CAPTURED, CAPTURED],
  },
}

/** At the sandbox bank, by their ends. */
const ACCOUNTS = {
  usual: '0123456789',
  notFound: '9990000002',
  returned: '9990000005',
  unknownPaid: '9990000006',
  unknownRefused: '9990000007',
  stuck: '9990000008',
} as const

const payTo =
  (account: keyof typeof ACCOUNTS, over: Record<string, unknown> = {}): Step =>
  (client) =>
    client.payOut(ACCOUNTS[account], over)
const paid = sameAnswer('payout', (client) => client.payOut(ACCOUNTS.usual))
const held = payTo('usual', { reference: 'sandbox:review' })

const COMPLETED: Ending = {
  status: 'completed',
  events: ['created', 'processing', 'completed'],
  executions: 1,
}
const PAYOUT_FAILED: Ending = {
  status: 'failed',
  events: ['created', 'processing', 'failed'],
  executions: 0,
}

export const PAYOUT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  completed: {
    steps: [payTo('usual'), idle, becomes('completed')],
    ends: [COMPLETED],
  },
  refused: {
    steps: [payTo('notFound'), idle, becomes('failed')],
    ends: [PAYOUT_FAILED],
  },
  reversed: {
    steps: [payTo('returned'), idle, idle, becomes('reversed')],
    ends: [{ ...COMPLETED, status: 'reversed', events: [...COMPLETED.events, 'reversed'] }],
  },
  'held and approved': {
    steps: [held, idle, (client) => client.decide('ApprovePayout', 'completed')],
    ends: [COMPLETED],
  },
  'held and rejected': {
    steps: [held, idle, (client) => client.decide('RejectPayout', 'failed')],
    ends: [{ status: 'failed', events: ['created', 'failed'], executions: null }],
  },
  'unknown, then paid': {
    steps: [payTo('unknownPaid'), idle, idle, becomes('completed')],
    ends: [COMPLETED],
  },
  'unknown, then refused': {
    steps: [payTo('unknownRefused'), idle, idle, becomes('failed')],
    ends: [PAYOUT_FAILED],
  },
  'stuck, and known to be paid': {
    steps: [payTo('stuck'), idle, idle, idle, (client) => client.resolve('completed')],
    ends: [{ ...COMPLETED, executions: 0 }],
  },
  'stuck, and known not to be paid': {
    steps: [payTo('stuck'), idle, idle, idle, (client) => client.resolve('failed')],
    ends: [PAYOUT_FAILED],
  },
  'ordered again and again': {
    steps: [
      paid,
      paid,
      becomes('completed'),
      paid,
      async (client) => expected(await client.payOut(ACCOUNTS.usual, { amount: '1' }), 409),
    ],
    ends: [COMPLETED],
  },
}

/** Deadlines: the first step starts one, the others run after it. */
export const LATE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  expired: {
    steps: [create, becomes('expired')],
    ends: [{ status: 'expired', events: ['expired'], executions: null }],
  },
  'expired with a quote': {
    steps: [
      together(create, scan),
      becomes('expired'),
      async (client) => expected(await client.confirm(), 409),
    ],
    ends: [{ status: 'expired', events: ['expired'], executions: null }],
  },
  'held for too long': {
    steps: [held, becomes('failed')],
    ends: [{ status: 'failed', events: ['created', 'failed'], executions: null }],
  },
}

/** Submitted while the rail is stopped, received too late: the rail must refuse. */
export const FROZEN_SCENARIO: Scenario = {
  steps: [create, scan, confirm, becomes('failed')],
  ends: [INTENT_FAILED],
}
