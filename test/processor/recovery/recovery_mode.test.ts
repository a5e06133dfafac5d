/** Recovery mode: what it refuses, the executions that it takes, and its release. */
import { readEvents } from '../../../src/api/events.js'
import type { OperationName } from '../../../src/api/operation.js'
import { OPERATIONS } from '../../../src/api/operations.js'
import { DAY, HOUR, instant, MINUTE } from '../../../src/base/clock.js'
import { fromMessage, toMessage } from '../../../src/bus/event_message.js'
import { enterRecovery } from '../../../src/processor/commands/operators/recovery_enter.js'
import {
  releaseRecovery,
  SKIPPED_POSITIONS,
} from '../../../src/processor/commands/operators/recovery_release.js'
import { setRate } from '../../../src/processor/commands/operators/rate_set.js'
import { setRoute } from '../../../src/processor/commands/operators/route_set.js'
import { addOrphans } from '../../../src/processor/commands/operators/orphan_add.js'
import { createPayout } from '../../../src/processor/commands/payouts/payout_create.js'
import { getPayout } from '../../../src/processor/commands/payouts/payout_get.js'
import { listBalanceTransactions } from '../../../src/processor/queries/balance_transaction_list.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import type { WebhookPools } from '../../../src/processor/queries/webhook_pools.js'
import { actionOf } from '../../../src/processor/servers/operations.js'
import type { RailReport } from '../../../src/rails/rail.js'
import t, { type Test } from 'tap'
import { aPayout } from '../../support/requests.js'
import { NO_FINDINGS, RELEASE } from '../../support/statements.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../../support/world.js'
import { captured, intentAt } from '../intent_lifecycle.js'
import {
  executed,
  operatorLog,
  OPERATOR,
  pay,
  payout,
  readAll,
  see,
  runOnBothStores,
  aRoute,
  idsOf,
  sentKinds,
} from '../scenarios.js'
import {
  execution,
  accepted,
  inquired,
  LOST,
  without,
  restored,
  orphans,
  reasonsOf,
  resolve,
} from './orphans.js'

/** More than numbers of 53 bits are skipped for. */
const DECADES = 80 * 365 * DAY
const UNCHECKED = { ...RELEASE, statement: null, figures: null }

/** The route of `aPayout`, with a fee that the recipient bears. */
async function setUp(world: World, fee: string): Promise<string> {
  const fees = { platform_fixed: fee, platform_bps: 0, rail_fixed: '0' }
  const route = aRoute({ ...fees, handling: 'deducted' })
  return codeOf(await world.run(setRoute(OPERATOR, DEMO, route)))
}

/** The same books as those of the world, with one payment in each. */
async function copyOf(t: Test, world: World): Promise<World> {
  const copy = await createWorld(t)
  for (const each of [world, copy]) {
    await pay(each)
    await each.rebuild()
  }
  return copy
}

t.test('of the partner API only what changes nothing is decided in recovery mode', async (t) => {
  const by = { tenant: DEMO, now: instant(0), pools: {} as WebhookPools }
  for (const [name, { method }] of Object.entries(OPERATIONS)) {
    const { command } = actionOf(name as OperationName, aPayout(), by) // no message is decided
    const changes = method !== 'GET' && name !== 'cancel_payout' // always refused
    t.equal(command.allowedInRecovery === true, !changes, name)
  }
})

runOnBothStores({
  'only reads are decided in recovery mode': async (t, world) => {
    const before = await pay(world)
    await world.run(enterRecovery('a test'))
    const refused = createPayout(DEMO, payout())
    t.equal(codeOf(await world.run(refused)), 'configuration_error')
    await world.railReports(executed(before.id))
    t.equal((await see(world, before.id)).status, 'processing', 'a report is not applied')
    t.notOk(sentKinds(world).includes('acknowledge'), 'nor acknowledged')
    world.clock.pass(DAY)
    const sent = world.railInstructions.length
    await world.fireTimers()
    t.equal(world.railInstructions.length, sent, 'a timer changes nothing')
    t.equal(codeOf(await world.run(enterRecovery('again'))), 'ok', 'entering twice changes nothing')
    t.equal(world.memory().lastRecovery, 1)
  },

  'routes and rates are set in recovery mode, before the release': async (t, world) => {
    t.equal(await setUp(world, '100'), 'ok')
    const lost = String(12_500_000 - 100)
    t.match(await pay(world), { recipient_amount: lost })
    await setUp(world, '0')
    await world.run(enterRecovery('a test'))
    t.equal(await setUp(world, '100'), 'ok')
    t.equal(codeOf(await world.run(setRate(OPERATOR, 'THB', '36.5'))), 'ok')
    const inStatement = without(execution({ amount: lost }), 'reference')
    await world.run(addOrphans(OPERATOR, [inStatement]))
    await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))
    await world.rebuild()
    t.match(await pay(world), { status: 'created', recipient_amount: lost }, 'the retry is equal')
  },

  'recovery mode is released once, after a reconciliation of the rail': async (t, world) => {
    const release = (checked: Parameters<typeof releaseRecovery>[1]): Promise<Answer> =>
      world.run(releaseRecovery(OPERATOR, checked, NO_FINDINGS))
    t.equal(codeOf(await release(RELEASE)), 'recovery_not_active')
    t.equal(codeOf(await world.run(addOrphans(OPERATOR, []))), 'recovery_not_active')
    await world.run(enterRecovery('a test'))
    t.equal(codeOf(await release(UNCHECKED)), 'invalid_request')
    t.equal(codeOf(await release({ ...RELEASE, statement: ' ' })), 'invalid_request')
    t.equal(codeOf(await release({ ...RELEASE, figures: null })), 'invalid_request')
    t.equal(codeOf(await release({ ...UNCHECKED, railChecked: true })), 'ok')
    await world.rebuild()
    t.equal(codeOf(await release(RELEASE)), 'recovery_not_active')
    t.equal((await pay(world)).status, 'processing', 'commands are accepted again')
  },

  'a statement that cannot be right is released only as incomplete': async (t, world) => {
    await world.run(enterRecovery('a test'))
    const findings = { ...NO_FINDINGS, faults: ['it has 2 movements, and the rail made 3'] }
    const release = (incomplete: boolean): Promise<Answer> =>
      world.run(releaseRecovery(OPERATOR, { ...RELEASE, incomplete }, findings))
    t.equal(codeOf(await release(false)), 'statement_refused')
    t.equal(await world.store.stoppedByRecovery(), 'writes')
    t.match(viewOf(await release(true)), {
      loss: ['the statement is incomplete: it has 2 movements, and the rail made 3'],
    })
    t.equal(await world.store.stoppedByRecovery(), null)
    t.match((await operatorLog(t)).at(-1), {
      action: 'release_recovery',
      evidence: 'day.csv sha256 00, 0 movements, accepted as incomplete',
    })
  },

  'nothing is released before the bus is compared': async (t, world) => {
    await world.run(enterRecovery('a test'))
    const release = (isBusChecked: boolean): Promise<Answer> =>
      world.run(releaseRecovery(OPERATOR, RELEASE, { ...NO_FINDINGS, isBusChecked }))
    t.equal(codeOf(await release(false)), 'bus_not_checked')
    t.equal(await world.store.stoppedByRecovery(), 'writes')
    t.equal(codeOf(await release(true)), 'ok')
  },

  'event numbers continue above all numbers that can have been lost': async (t, world) => {
    await pay(world)
    const { lastPosition } = world.memory()
    const sequence = world.memory().sequences.get(DEMO) ?? 0
    await restored(world)
    await pay(world)
    const [first] = world.events.slice(-2)
    t.equal(first?.position, lastPosition + SKIPPED_POSITIONS + 1)
    t.equal(first?.sequence, sequence + SKIPPED_POSITIONS + 1)
    await world.rebuild()
    await pay(world)
    const newest = world.events.at(-1)?.sequence
    t.equal(newest, sequence + SKIPPED_POSITIONS + 4, 'later numbers have no gap')
  },

  'numbers of a copy that is restored twice are above those of the first time': async (
    t,
    world,
  ) => {
    await t.test('in books of their own', async (t) => {
      const again = await copyOf(t, world)
      const postings = async (of: World): Promise<string[]> =>
        idsOf(await readAll<{ id: string }>(of, (page) => listBalanceTransactions(DEMO, page)))
      await restored(world)
      await pay(world)
      const lost = world.events.at(-1)
      again.clock.pass(MINUTE)
      await restored(again)
      await pay(again)
      const [first] = again.events.slice(-2)
      t.ok(first!.sequence > lost!.sequence)
      t.ok(first!.position > lost!.position)
      t.ok(again.memory().lastPosting > world.memory().lastPosting)
      t.ok((await again.trialBalance()).balanced)
      const known = await postings(world)
      const newest = (await postings(again)).slice(0, 2)
      const repeated = newest.filter((id) => known.includes(id))
      t.same(repeated, [], 'partners know the ids of lost postings')
    })
  },

  'also when the other copies were released twice in the meantime': async (t, world) => {
    await t.test('in books of their own', async (t) => {
      const again = await copyOf(t, world)
      for (const each of [world, again]) each.clock.pass(DAY)
      for (let release = 1; release <= 2; release++) {
        await restored(world)
        world.clock.pass(MINUTE)
      }
      await pay(world)
      again.clock.pass(5 * MINUTE)
      await restored(again)
      await pay(again)
      const [lost, first] = [world.events.at(-1), again.events.at(-2)]
      t.ok(first!.position > lost!.position)
      t.ok(first!.sequence > lost!.sequence)
    })
  },

  'a clock that is decades off leaves numbers for later releases': async (t, world) => {
    await pay(world)
    for (const release of [1, 2, 3]) {
      await world.rebuild()
      world.clock.pass(DECADES)
      await restored(world)
      await pay(world)
      const event = world.events.at(-1)!
      const { subject, headers, payload } = toMessage(DEMO, [event], event.id)
      const header = (name: string): string => new Map(headers).get(name) ?? ''
      const read = fromMessage({ subject, payload: Buffer.from(payload), header })
      t.match(read, { ok: true }, `release ${release}: webhook pools read its number`)
      const after = { after: String(event.sequence) }
      t.match(readEvents(after), { ok: true }, 'partners read on from it')
      t.ok(Number.isSafeInteger(world.memory().lastPosting))
    }
    t.ok((await world.trialBalance()).balanced)
  },

  'a release whose clock was ahead skips numbers of postings once': async (t, world) => {
    await pay(world)
    await world.rebuild()
    const before = world.memory().lastPosting
    world.clock.pass(DECADES)
    await restored(world)
    world.clock.pass(-DECADES)
    await world.rebuild()
    t.ok(world.memory().lastPosting >= before + SKIPPED_POSITIONS, 'also before the next posting')
    await pay(world)
    const { lastPosting } = world.memory()
    for (const restart of [1, 2, 3]) {
      await world.rebuild()
      t.equal(world.memory().lastPosting, lastPosting, `restart ${restart}`)
    }
  },

  'a report about an accepted instruction waits for the release': async (t, world) => {
    await world.run(enterRecovery('a test'))
    await world.run(addOrphans(OPERATOR, [accepted()]))
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world), [{ state: 'accepted' }])
    t.notOk(sentKinds(world).includes('acknowledge'))
    await world.run(releaseRecovery(OPERATOR, RELEASE, NO_FINDINGS))
    await world.rebuild()
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world), [{ state: 'executed' }])
    t.same(await reasonsOf(world), [])
  },

  'a second recovery finds an accepted instruction executed': async (t, world) => {
    await restored(world, accepted())
    const held = await pay(world)
    t.match(viewOf(await restored(world, execution())), { added: 1, known: 0 })
    t.match(viewOf(await restored(world, accepted(), execution())), { added: 0, known: 2 })
    t.match(await orphans(world), [{ state: 'executed', transaction_id: 'TX9', held: [held.id] }])
    t.match(viewOf(await resolve(world, 'pout_lost', held.id)), { status: 'matched' })
    t.match(await see(world, held.id), { status: 'completed' })
  },

  'a second recovery finds the execution of a dismissed instruction, or a return': async (
    t,
    world,
  ) => {
    const other = { instruction_id: 'pout_2', reference: 'invoice 2' }
    await restored(world, accepted(), execution(other))
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved' })
    t.equal((await pay(world)).status, 'processing')
    const returned = execution({ ...other, state: 'returned' })
    t.match(viewOf(await restored(world, execution(), returned)), { added: 2, known: 0 })
    t.match(viewOf(await restored(world, execution(), returned)), { added: 0, known: 2 })
    t.match(await orphans(world), [
      { instruction_id: 'pout_2', state: 'returned' },
      { instruction_id: 'pout_lost', state: 'executed', status: 'open' },
    ])
    t.equal((await pay(world)).status, 'created', 'it holds what equals it')
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
  },

  'a payment of these books that the bank has returned is inquired about after the release': async (
    t,
    world,
  ) => {
    const [paid, open] = [await pay(world), await pay(world, { reference: 'invoice 2' })]
    await world.railReports(executed(paid.id))
    const before = inquired(world).length
    const lines = [paid.id, open.id, 'pout_unknown'].map((id) =>
      execution({ instruction_id: id, state: 'returned' }),
    )
    t.match(viewOf(await restored(world, ...lines)), { added: 0, known: 3 })
    t.match(await orphans(world), [])
    await world.fireTimers()
    t.same(inquired(world).slice(before), [paid.id])
    await world.railReports({ ...executed(paid.id), status: 'returned' } as RailReport)
    t.equal((await see(world, paid.id)).status, 'reversed')
    t.same(await reasonsOf(world), [])
    await world.fireTimers(DAY)
    const later = inquired(world).slice(before + 1)
    t.notOk(later.includes(paid.id), 'it has ended')
  },

  'so is one that has failed and was executed in the lost time': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports({ id, reportId: null, status: 'refused', refusal: 'rejected' })
    await restored(world, execution({ instruction_id: id }))
    await world.fireTimers()
    t.same(inquired(world), [id])
    await world.railReports(executed(id))
    t.same(await reasonsOf(world), ['executed_after_end'])
  },

  'so is a captured intent, unless its recall is open': async (t, world) => {
    const [paid, recalled] = [await intentAt(world, captured), await intentAt(world, captured)]
    await recalled.refund()
    const lines = [paid.id, recalled.id].map((id) =>
      execution({ instruction_id: id, purpose: 'qr_payment', state: 'returned' }),
    )
    await restored(world, ...lines)
    await world.fireTimers()
    t.same(inquired(world), [paid.id])
    await paid.returned()
    t.match(await paid.see(), { status: 'refunded' })
  },

  'an old one is inquired about for a day after the release, until the rail answers': async (
    t,
    world,
  ) => {
    const [answered, { id }] = [await pay(world), await pay(world, { reference: 'invoice 2' })]
    for (const paid of [answered.id, id]) await world.railReports(executed(paid))
    const { id: intent } = await intentAt(world, captured)
    world.clock.pass(3 * DAY)
    const returned = { state: 'returned' } as const
    await restored(
      world,
      ...[answered.id, id].map((paid) => execution({ instruction_id: paid, ...returned })),
      execution({ instruction_id: intent, purpose: 'qr_payment', ...returned }),
    )
    const all = [answered.id, id, intent]
    let before = inquired(world).length
    const askedOf = (payment: string): number =>
      inquired(world)
        .slice(before)
        .filter((asked) => asked === payment).length
    await world.fireTimers(2 * DAY)
    t.same(all.map(askedOf), [1, 1, 1])
    for (const payment of all) {
      await world.railReports({ status: 'accepted', id: payment, reportId: null })
    }
    await world.fireTimers(MINUTE)
    t.same(all.map(askedOf), [2, 2, 2], 'it does not know yet')
    await world.railReports({ ...executed(answered.id), status: 'returned' } as RailReport)
    before = inquired(world).length
    for (let hour = 0; hour < 48; hour++) await world.fireTimers(HOUR)
    t.equal(askedOf(answered.id), 0)
    for (const payment of [id, intent]) {
      t.ok(askedOf(payment) >= 3 && askedOf(payment) <= 6, `${askedOf(payment)} inquiries`)
    }
    before = inquired(world).length
    await world.fireTimers(30 * DAY)
    t.same(all.map(askedOf), [0, 0, 0], 'nor for ever')
  },

  'an instruction submitted by these books is no orphan': async (t, world) => {
    const { id } = await pay(world)
    const added = await restored(world, execution({ instruction_id: id }), execution())
    t.match(viewOf(added), { added: 1, known: 1 })
    t.match(await orphans(world), [{ instruction_id: 'pout_lost' }])
  },

  'an invalid execution is refused': async (t, world) => {
    await world.run(enterRecovery('a test'))
    for (const over of [
      { amount: '0' },
      { currency: 'VN' },
      { purpose: 'gift' },
      { environment: 'test' },
      { executed_at: '0' },
      { instruction_id: '' },
      { state: 'refused' },
    ]) {
      const add = addOrphans(OPERATOR, [execution(), execution(over)])
      t.equal(codeOf(await world.run(add)), 'invalid_request', JSON.stringify(over))
    }
    t.same(await orphans(world), [])
    t.equal(codeOf(await world.run(getPayout(DEMO, 'pout_none'))), 'payout_not_found')
  },
})
