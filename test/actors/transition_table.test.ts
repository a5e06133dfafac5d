/** The tables of transitions do what XState's own actors do, for every state and event. */
import { equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  assign,
  createActor,
  createMachine,
  setup,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
} from 'xstate'
import { intentMachine, intentTransitions } from '../../actors/intent/machine.js'
import { payoutMachine, payoutTransitions } from '../../actors/payout/machine.js'
import { transitionsOf, type Transitions } from '../../actors/transition_table.js'
import { deliveryMachine, deliveryTransitions } from '../../actors/webhook/delivery/machine.js'

const RUNS_OF_A_PAIR = 150

const at = fc.nat(1_000)
const railUp = fc.boolean()
const heldFor = fc.record(
  { orphan: fc.constant('pout_1'), until: at, approvedAt: at },
  { requiredKeys: ['orphan', 'until'] },
)
const source = fc.constantFrom('rail', 'service')
const event = (type: string, members = {}, optional = {}): fc.Arbitrary<object> => {
  const required = { type: fc.constant(type), at, ...members }
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) as never[] })
}
const OF_PAYMENTS = [
  event('hold', { heldFor }),
  event('reject'),
  event('timer', { railUp }),
  event('notFound'),
  event('executed', {}, { transactionId: fc.constant('tx_1') }),
  event('refused', { refusal: fc.constant('account_closed') }, { source }),
  event('returned', {}, { source }),
  event('inquiryAnswered'),
  event('unknown'),
]
const waiting = { dueAt: fc.option(at), capturedAt: at, failedAt: at, completedAt: at }
const optional = { submittedAt: at, inquiries: fc.nat(9), heldFor }
const context = (required: object, more: object): fc.Arbitrary<object> =>
  fc.record({ ...required, ...more }, { requiredKeys: Object.keys(required) as never[] })

const TABLES = {
  intent: {
    machine: intentMachine as AnyStateMachine,
    transitions: intentTransitions as unknown as Transitions<string, object, object, object>,
    context: context(waiting, {
      ...optional,
      confirmation: fc.record({ jti: fc.constant('jti_1'), notAfter: at }),
      recall: fc.record(
        { requestedAt: at, inquiries: fc.nat(3), refused: fc.boolean() },
        { requiredKeys: ['requestedAt', 'inquiries'] },
      ),
      remints: fc.array(fc.record({ at, jti: fc.string() }), { maxLength: 30 }),
      refundsFailed: fc.nat(3),
    }),
    events: [
      ...OF_PAYMENTS,
      event('scan', { scanned: fc.constant({ qrKind: 'static' }) }),
      event('remint', { remint: fc.constant({ at: 5, jti: 'jti_2' }) }),
      event('confirm', { confirmation: fc.record({ notAfter: at }), railUp }, { heldFor }),
      event('approve', { railUp, notAfter: at }),
      event('cancel'),
      event('recall'),
      event('recallRefused'),
    ],
  },
  payout: {
    machine: payoutMachine as AnyStateMachine,
    transitions: payoutTransitions as unknown as Transitions<string, object, object, object>,
    context: context(waiting, optional),
    events: [...OF_PAYMENTS, event('approve', { railUp })],
  },
  delivery: {
    machine: deliveryMachine as AnyStateMachine,
    transitions: deliveryTransitions as unknown as Transitions<string, object, object, object>,
    context: context(
      {
        ...{ attempts: fc.nat(9), tries: fc.nat(9), dueAt: fc.option(at) },
        ...{
          probing: fc.boolean(),
          endedAt: fc.option(at),
          reason: fc.constantFrom('', 'timeout'),
        },
      },
      {},
    ),
    events: [
      ...['attempt', 'probe', 'succeeded', 'redrive', 'unknown'].map((type) => event(type)),
      ...['refused', 'abandon'].map((type) => event(type, { reason: fc.constant('http_404') })),
      event('failed', { retryAt: fc.option(at), reason: fc.constant('timeout') }),
    ],
  },
}

for (const [name, { machine, transitions, context, events }] of Object.entries(TABLES)) {
  t.test(`${name}: every state and event as in XState`, async (t) => {
    const taken = new Set<unknown>()
    const states: readonly AnyStateNode[] = Object.values(machine.root.states)
    for (const { key: state } of states) {
      for (const event of events) {
        fc.assert(
          fc.property(context, event, (before, given) => {
            const unchanged = JSON.stringify([before, given])
            const snapshot = machine.resolveState({ value: state, context: before })
            for (const one of machine.getTransitionData(snapshot, given) ?? []) {
              taken.add(one)
            }
            const outputs: unknown[] = []
            const actor = createActor(machine, { snapshot, input: before })
            actor.on('*', (output: unknown) => void outputs.push(output))
            actor.start()
            const isTaken = actor.getSnapshot().can(given)
            actor.send(given)
            const { value, context: after } = actor.getSnapshot() as {
              value: unknown
              context: unknown
            }

            const step = transitions.step(state, before, given)
            // As text, because the order of the members is stored too.
            const [own, ofXState] = [
              [step !== null, step?.state ?? state, step?.context ?? before, step?.outputs ?? []],
              [isTaken, value, after, outputs],
            ].map((result) => JSON.stringify(result))
            equal(own, ofXState, `${state} takes ${JSON.stringify(given)}`)
            equal(JSON.stringify([before, given]), unchanged, 'a step changed what it was given')
          }),
          { numRuns: RUNS_OF_A_PAIR },
        )
      }
    }
    const all: readonly AnyTransitionDefinition[] = states.flatMap((state) =>
      [...state.transitions.values()].flat(),
    )
    const missed = all.filter((one) => !taken.has(one))
    t.same(
      missed.map(({ source, eventType, guard }): readonly unknown[] => [
        source.key,
        eventType,
        guard,
      ]),
      [],
      'each one was taken',
    )
  })

  t.test(`${name}: it begins as in XState`, async (t) => {
    const before = { dueAt: 1 }
    const fresh = createActor(machine, { input: before }).start().getSnapshot()
    t.same([transitions.initial, before], [fresh.value, fresh.context])
  })

  t.test(`${name}: a state that it does not have is an error`, async (t) => {
    t.throws(() => transitions.step('nowhere', {}, { type: 'timer' }), /no state nowhere/)
  })
}

t.test('a machine with more than the table supports fails at start', async (t) => {
  const actions = { note: () => undefined }
  const machines = {
    'an entry': setup({ actions }).createMachine({
      initial: 'a',
      states: { a: { entry: 'note' } },
    }),
    'an event of the root': createMachine({
      initial: 'a',
      on: { go: '.a' },
      states: { a: {} },
    }),
    'a state inside a state': createMachine({
      initial: 'a',
      states: { a: { initial: 'b', states: { b: {} } } },
    }),
    'any event': createMachine({ initial: 'a', states: { a: { on: { '*': 'a' } } } }),
    'an assignment by members': setup({ actions: { note: assign({ a: 1 }) } }).createMachine({
      initial: 'a',
      states: { a: { on: { go: { actions: 'note' } } } },
    }),
    'an inline guard': createMachine({
      initial: 'a',
      states: { a: { on: { go: { guard: () => true, target: 'a' } } } },
    }),
    'an action of one’s own': setup({ actions }).createMachine({
      initial: 'a',
      states: { a: { on: { go: { actions: 'note' } } } },
    }),
  }
  for (const [what, machine] of Object.entries(machines)) {
    t.throws(() => transitionsOf(machine as AnyStateMachine), /does not support/, what)
  }
})
