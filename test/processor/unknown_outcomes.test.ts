/** Unanswered instructions and recalls: the list, the metric after a day, one log line each. */
import t from 'tap'
import { DAY, MINUTE, SECOND } from '../../src/base/clock.js'
import type { Logger } from '../../src/base/log.js'
import { inquire } from '../../src/processor/commands/operators/inquire.js'
import { listUnknownOutcomes } from '../../src/processor/queries/unknown_outcome_list.js'
import { createStuckPaymentMonitor } from '../../src/processor/background/stuck_payment_monitor.js'
import { unknownStatement } from '../../src/store/unknown_outcomes.js'
import { sqliteOnly } from '../support/books.js'
import { codeOf, createWorld, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  scanned,
  waiting,
  intentAt,
} from './intent_lifecycle.js'
import { metricsOf } from './metrics_registry.js'
import {
  discrepanciesOf,
  executed,
  OPERATOR,
  operatorLogOf,
  pay,
  read,
  readAll,
  runOnBothStores,
  see,
  planIn,
} from './scenarios.js'

interface Unknown {
  readonly entity: string
  readonly over_24h: boolean
}

const unknown = (world: World, limit = 100): Promise<Unknown[]> =>
  readAll<Unknown>(world, (page) => listUnknownOutcomes({ limit, ...page }, world.clock.now()))

const entities = async (world: World, limit?: number): Promise<string[]> =>
  (await unknown(world, limit)).map(({ entity }) => entity)

runOnBothStores({
  'an operator inquires now': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    const { id } = await pay(world)
    const ask = (payment: string) => world.run(inquire(OPERATOR, payment))
    const sentBefore = world.railInstructions.length
    t.ok((await ask(lifecycle.id)).ok)
    t.ok((await ask(id)).ok)
    t.match(world.railInstructions.slice(sentBefore), [
      { kind: 'query', id: lifecycle.id },
      { kind: 'query', id },
    ])
    t.match(await operatorLogOf(t, id), [{ action: 'inquire', actor: 'ann' }])
    world.setRail(false)
    t.equal(codeOf(await ask(id)), 'rail_unavailable')
    world.setRail(true)
    await world.railReports(executed(id))
    t.ok((await ask(id)).ok)
    t.match(world.railInstructions.at(-1), { kind: 'query', id }, 'it may have come back')
    await world.railReports(executed(id, { reportId: null }))
    t.equal((await see(world, id)).status, 'completed')
    await world.railReports(executed(id, { reportId: null, status: 'returned' }))
    t.equal((await see(world, id)).status, 'reversed')
    t.equal(codeOf(await ask(id)), 'payout_not_at_rail')
    t.same(await discrepanciesOf(world), [])
    await lifecycle.executed()
    t.ok((await ask(lifecycle.id)).ok)
    t.match(world.railInstructions.at(-1), { kind: 'query', id: lifecycle.id })
    viewOf(await lifecycle.refund())
    t.ok((await ask(lifecycle.id)).ok)
    t.match(world.railInstructions.at(-1), { kind: 'recall', id: lifecycle.id })
    t.equal(codeOf(await ask('pout_none')), 'payout_not_found')
    const unsent = await intentAt(world, waiting)
    t.equal(codeOf(await ask(unsent.id)), 'payment_intent_not_at_rail', 'not submitted yet')
    t.equal(codeOf(await ask(`pi_${'0'.repeat(26)}`)), 'payment_intent_not_found')
  },

  'an unknown outcome is listed from the first inquiry until it is known': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    const payout = await pay(world)
    const [since] = [new Date(world.clock.now()).toISOString()]
    world.clock.pass(5 * SECOND - 1)
    t.same(await unknown(world), [], 'not listed before the first inquiry')
    await world.fireTimers(1)
    const common = {
      tenant: 'demo_sandbox',
      since,
      asked: 1,
      over_24h: false,
      kind: 'instruction',
      last_inquiry_at: '2026-11-21T03:00:05.000Z',
      next_inquiry_at: '2026-11-21T03:00:15.000Z',
    }
    t.same(await unknown(world), [
      { ...common, entity: lifecycle.id, currency: 'THB', amount: '36000' },
      { ...common, entity: payout.id, currency: 'VND', amount: '12500000' },
    ])
    const areOld = async (): Promise<boolean[]> =>
      (await unknown(world)).map(({ over_24h }) => over_24h)
    world.clock.pass(DAY - 5 * SECOND - 1)
    t.same(await areOld(), [false, false])
    world.clock.pass(1)
    t.same(await areOld(), [true, true])
    await lifecycle.executed()
    t.same(await entities(world), [payout.id])
    await world.railReports(executed(payout.id))
    t.same(await unknown(world), [])
  },

  'an unanswered recall is listed too': async (t, world) => {
    const lifecycle = await intentAt(world, captured)
    world.clock.pass(MINUTE)
    viewOf(await lifecycle.refund())
    const since = new Date(world.clock.now()).toISOString()
    world.clock.pass(5 * SECOND - 1)
    t.same(await unknown(world), [])
    await world.fireTimers(1)
    t.same(await unknown(world), [
      {
        entity: lifecycle.id,
        tenant: 'demo_sandbox',
        currency: 'THB',
        amount: '36000',
        since,
        asked: 1,
        last_inquiry_at: '2026-11-21T03:01:05.000Z',
        next_inquiry_at: '2026-11-21T03:01:15.000Z',
        over_24h: false,
        kind: 'recall',
      },
    ])
    world.clock.pass(DAY)
    t.match(await unknown(world), [{ entity: lifecycle.id, over_24h: true }])
    await lifecycle.recallRefused()
    t.same(await unknown(world), [])
    viewOf(await lifecycle.refund())
    world.clock.pass(MINUTE)
    t.same(await entities(world), [lifecycle.id], 'the next recall too')
    await lifecycle.returned()
    t.same(await unknown(world), [])
  },

  'no other payments are listed': async (t, world) => {
    for (const stage of [scanned, captured, waiting]) await stage(await beginLifecycle(world))
    await pay(world, { reference: 'sandbox:review' })
    world.setRail(false)
    await pay(world)
    world.clock.pass(MINUTE)
    t.same(await unknown(world), [])
  },
})

t.test('pages go from intents to payouts to recalls without a gap', async (t) => {
  const world = await createWorld(t)
  const intent = async () => (await intentAt(world, authorized)).id
  const payout = async () => (await pay(world)).id
  const recall = async () => {
    const lifecycle = await intentAt(world, captured)
    viewOf(await lifecycle.refund())
    return lifecycle.id
  }
  const expected: string[] = []
  for (const make of [intent, intent, intent, payout, payout, recall, recall]) {
    expected.push(await make())
    world.clock.pass(1)
  }
  world.clock.pass(MINUTE)
  for (const limit of [1, 2, 3, 4, 5, 6, 7, 8])
    t.same(await entities(world, limit), expected, `${limit}`)
  for (const page of [{ limit: 0 }, { cursor: 'x' }]) {
    const query = listUnknownOutcomes(page, world.clock.now())
    t.equal(codeOf(await read(world, query)), 'invalid_request')
  }
})

t.test('an outcome unknown for a day is counted, and logged once', async (t) => {
  const world = await createWorld(t)
  const lines: object[] = []
  const log = { warn: (facts: object) => lines.push(facts) } as unknown as Logger
  const { lists } = world.store
  const monitor = createStuckPaymentMonitor({ clock: world.clock, lists, log })
  const metrics = metricsOf(world, { stuckPaymentMonitor: monitor })
  const measured = async (): Promise<string[]> => {
    await monitor.scan()
    return [...(await metrics.text()).matchAll(/^causeway_unknown_outcomes{.*$/gm)].map(
      ([line]) => line,
    )
  }
  const counted = (intents: number, payouts: number, recalls = 0): string[] => [
    `causeway_unknown_outcomes{entity="payment_intent",age="over_24h"} ${intents}`,
    `causeway_unknown_outcomes{entity="payout",age="over_24h"} ${payouts}`,
    `causeway_unknown_outcomes{entity="recall",age="over_24h"} ${recalls}`,
  ]

  const lifecycle = await intentAt(world, authorized)
  world.clock.pass(DAY / 2)
  const payout = await pay(world)
  world.clock.pass(DAY / 2 - 1)
  t.same(await measured(), counted(0, 0))
  t.same(lines, [])
  world.clock.pass(1)
  t.same(await measured(), counted(1, 0))
  t.same(await measured(), counted(1, 0))
  t.same(lines, [
    { entity_id: lifecycle.id, tenant: 'demo_sandbox', since: '2026-11-21T03:00:00.000Z' },
  ])
  world.clock.pass(DAY / 2)
  t.same(await measured(), counted(1, 1))
  await lifecycle.executed()
  t.same(await measured(), counted(0, 1))
  t.match(lines, [{ entity_id: lifecycle.id }, { entity_id: payout.id }], 'one line each')
  viewOf(await lifecycle.refund())
  world.clock.pass(DAY)
  t.same(await measured(), counted(0, 1, 1))
  t.same(await measured(), counted(0, 1, 1))
  t.match(lines, [{}, {}, { entity_id: lifecycle.id, since: '2026-11-22T15:00:00.000Z' }])
  await lifecycle.recallRefused()
  t.same(await measured(), counted(0, 1, 0))
})

t.test(
  'each kind is found by a partial index',
  { skip: sqliteOnly('its query plans') },
  async (t) => {
    const world = await createWorld(t)
    for (const [kind, index] of [
      ['intents', 'intents USING INDEX intents_under_way'],
      ['payouts', 'payouts USING INDEX payouts_under_way'],
      ['recalls', 'intents USING INDEX intents_captured_due'],
    ] as const) {
      const statement = unknownStatement(kind, world.clock.now(), '', 10)
      t.same(await planIn(world, statement), [`SEARCH ${index} (id>? AND id<?)`])
    }
  },
)
