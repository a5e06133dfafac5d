/**
 * Books without a high-water mark refuse writes until a source has verified them; the word of a
 * webhook pool stops submissions only.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { instant, MINUTE, SECOND } from '../../../src/base/clock.js'
import { newId } from '../../../src/base/ids.js'
import { systemRandom } from '../../../src/base/random.js'
import { FILES } from '../../../src/base/subjects.js'
import { createRailLink } from '../../../src/processor/background/rail_link.js'
import { iterations } from '../../support/event_loop.js'
import { recoveryOn, writeMark } from './recoveries.js'
import { replaceMarkFile } from '../../../src/processor/recovery/high_water.js'
import type { Rail, RailInstruction } from '../../../src/rails/rail.js'
import { codeOf, createWorld, DEMO, type World } from '../../support/world.js'
import { batchOf } from '../../store/commit_rows.js'
import { getBalances } from '../../../src/processor/commands/funds/balances_get.js'
import { pay, tryPay } from '../scenarios.js'

/** A start of the processor on new books; `mark`: with their high-water mark. */
async function started(t: Test, mark: boolean, rails?: readonly string[]) {
  const world = await createWorld(t)
  if (mark) writeMark(world)
  const recovery = await recoveryOn(world, rails && { rails })
  await recovery.enter(world, world.memory())
  await recovery.checkSources()
  let restarts = 0
  recovery.serving(() => (restarts += 1))
  const restarted = async (): Promise<void> => {
    while (restarts === 0) await iterations()
  }
  return { world, recovery, restarts: () => restarts, restarted }
}

const eventAt = (at: number): string => newId('event', instant(at), systemRandom())
const write = async (world: World): Promise<string> => codeOf(await tryPay(world))

t.test('books with their mark are written at once', async (t) => {
  const { world, recovery } = await started(t, true)
  t.same(recovery.state(), { mode: 'normal' })
  t.equal(await write(world), 'ok')
})

t.test('books without a mark refuse writes until the rail answers', async (t) => {
  const { world, recovery } = await started(t, false)
  const file = join(world.folder, FILES.highWater)
  t.match(recovery.state(), { mode: 'unverified', reason: /the rail has not answered/ })
  t.equal(await write(world), 'configuration_error')
  t.equal(codeOf(await world.run(getBalances(DEMO))), 'ok', 'reads are answered')
  t.notOk(recovery.isBusChecked())
  t.ok(await recovery.admitBus(null), 'an empty bus says nothing')
  t.ok(recovery.isBusChecked(), 'that it is empty is known')
  t.equal(await write(world), 'configuration_error')
  await recovery.admitPool(1, null)
  t.equal(await write(world), 'configuration_error', 'neither does a pool')
  t.notOk(existsSync(file), 'a restart does not find a mark')
  const changed: string[] = []
  recovery.onVerified(() => changed.push('verified'))
  recovery.onState(() => changed.push(recovery.state().mode))
  t.ok(await recovery.admitRail('sandbox', null))
  t.same(changed, ['verified', 'normal'])
  t.equal(await write(world), 'ok')
  await recovery.close()
  t.ok(existsSync(file), 'the mark is written from now on')
})

t.test('an event of the bus that the books have verifies them', async (t) => {
  const { world, recovery } = await started(t, false)
  world.memory().isUnverified = false
  await pay(world)
  world.memory().isUnverified = true
  t.ok(await recovery.admitBus(world.events.at(-1)?.id ?? ''))
  t.equal(await write(world), 'ok')
})

t.test('an unreadable mark is none', async (t) => {
  const world = await createWorld(t)
  writeFileSync(join(world.folder, FILES.highWater), '')
  t.notOk((await recoveryOn(world)).isVerified())
})

t.test('of several rails every one must have answered', async (t) => {
  const { world, recovery } = await started(t, false, ['bank_a', 'bank_b'])
  t.notOk(await recovery.admitRail('bank_a', null), 'its reports could not be applied')
  t.notOk(await recovery.admitRail('bank_a', null), 'it has connected again')
  t.equal(await write(world), 'configuration_error')
  t.ok(await recovery.admitRail('bank_b', null))
  t.ok(await recovery.admitRail('bank_a', null))
  t.equal(await write(world), 'ok')
})

t.test('books that are behind any of several rails enter recovery mode', async (t) => {
  const { world, recovery, restarted } = await started(t, true, ['bank_a', 'bank_b'])
  const sent = await pay(world)
  t.ok(await recovery.admitRail('bank_a', sent.id))
  const lost = newId('payout', world.clock.now(), systemRandom())
  t.notOk(await recovery.admitRail('bank_b', lost))
  t.match(recovery.behind(), [{ reason: /^rail bank_b has instruction pout_/ }])
  await restarted()
  t.equal(await write(world), 'configuration_error')
})

t.test('a rail that is ahead begins recovery mode instead', async (t) => {
  const { world, recovery, restarted } = await started(t, false)
  const lost = newId('payout', world.clock.now(), systemRandom())
  t.notOk(await recovery.admitRail('sandbox', lost))
  await restarted()
  t.equal(world.memory().recovery?.stops, 'writes')
  t.equal(await write(world), 'configuration_error')
})

t.test('an event that cannot exist is counted and stops nothing', async (t) => {
  const { world, recovery, restarts } = await started(t, true)
  t.ok(await recovery.admitPool(1, eventAt(world.clock.now() + 2 * MINUTE)))
  t.ok(await recovery.admitBus(eventAt(world.clock.now() + 365 * 24 * 60 * MINUTE)))
  t.equal(recovery.refusedMarks(), 2)
  t.same(recovery.state(), { mode: 'normal' })
  t.same(recovery.behind(), [])
  t.equal(await write(world), 'ok')
  t.equal(restarts(), 0)
})

t.test('a late event of a pool stops submissions, one of the bus all writes', async (t) => {
  const { world, recovery, restarts, restarted } = await started(t, true)
  const lost = eventAt(world.clock.now() - SECOND)
  t.notOk(await recovery.admitPool(2, lost))
  while (recovery.state().mode !== 'submissions_stopped') await iterations()
  t.match(recovery.state().reason, `webhook pool 2 has event ${lost}`)
  t.equal(restarts(), 0)
  t.equal(await write(world), 'ok', 'writes are accepted')
  await world.rebuild()
  t.equal(world.memory().recovery?.stops, 'submissions', 'it survives a restart')

  t.notOk(recovery.isBusChecked())
  t.notOk(await recovery.admitBus(lost))
  t.ok(recovery.isBusChecked(), 'its loss is accepted by a release')
  await restarted()
  t.equal(world.memory().recovery?.stops, 'writes')
  t.equal(world.memory().lastRecovery, 1, 'it is the same recovery')
})

t.test('a bus of another installation is told as such', async (t) => {
  const { recovery } = await started(t, true)
  t.notOk(await recovery.admitBus(eventAt(1), true))
  const [behind] = recovery.behind()
  t.match(behind?.reason, /^the bus, which another installation uses, has event evt_/)
  t.ok(recovery.isBusChecked(), 'its loss is accepted by a release')
})

/** A recovery on books that the test changes, before its sources are checked. */
async function unchecked(t: Test, books: (world: World) => Partial<World['store']>) {
  const world = await createWorld(t)
  writeMark(world)
  const recovery = await recoveryOn(world, { books: { ...world.store, ...books(world) } })
  const batchOnFile = (): number => {
    const mark = readFileSync(join(world.folder, FILES.highWater), 'utf8')
    return (JSON.parse(mark) as { batch: number }).batch
  }
  return { world, recovery, batchOnFile }
}

t.test('a source whose mark cannot be compared is not admitted', async (t) => {
  const { recovery } = await unchecked(t, ({ store }) => ({
    marks: { ...store.marks, hasEvent: () => Promise.reject(new Error('no such table')) },
  }))
  await recovery.checkSources()
  t.notOk(await recovery.admitPool(1, eventAt(1)))
  t.notOk(await recovery.admitBus(eventAt(1)))
  t.notOk(recovery.isBusChecked())
})

t.test('a source is used when the others are judged', async (t) => {
  const { recovery } = await unchecked(t, () => ({}))
  let isAdmitted = false
  const bus = recovery.admitBus(null).then((admitted) => (isAdmitted = admitted))
  await iterations(10)
  t.notOk(isAdmitted, 'the rail is not judged')
  await recovery.admitRail('sandbox', null)
  t.ok(await bus)
})

t.test('nothing is committed or answered once a gateway has later commits', async (t) => {
  const stored: (() => void)[] = []
  let barriers = 0
  const { world, recovery } = await unchecked(t, () => ({
    commit: () => new Promise((resolve) => stored.push(resolve)),
    // The first one is that before the end of the process, which would end the test.
    barrier: () => (barriers++ === 0 ? new Promise(() => undefined) : Promise.resolve()),
  }))
  const answered: string[] = []
  const submit = (name: string, work: Promise<void>): unknown =>
    work.then(() => answered.push(name))
  submit('a commit', recovery.store.commit(batchOf({})))
  stored[0]?.()
  await iterations(10)
  submit('a commit in flight', recovery.store.commit(batchOf({})))
  await iterations(10)
  const progress = world.store.marks.progress()
  void recovery.admitGateway({ ...progress, lastBatch: progress.lastBatch + 1 })
  await iterations(10)
  stored[1]?.()
  submit('a later commit', recovery.store.commit(batchOf({})))
  submit('a read', recovery.store.barrier())
  await iterations(10)
  t.same(answered, ['a commit'])
  t.same([stored.length, barriers], [2, 2])
})

t.test('the mark is that of the last batch, after its commit', async (t) => {
  let store: () => void = () => undefined
  const stored = new Promise<void>((resolve) => (store = resolve))
  let lastBatch = 0
  const { world, recovery, batchOnFile } = await unchecked(t, (world) => {
    lastBatch = world.store.marks.progress().lastBatch
    const progress = () => ({ ...world.store.marks.progress(), lastBatch })
    return {
      marks: { ...world.store.marks, progress },
      commit: async () => {
        lastBatch += 1
        await stored
      },
    }
  })
  const before = batchOnFile()
  await recovery.enter(world, world.memory())
  const committed = recovery.store.commit(batchOf({}))
  // A mark would be written by then.
  for (let file = 0; file < 5; file++) await replaceMarkFile(join(world.folder, 'another'), '')
  t.equal(batchOnFile(), before, 'no mark is of a batch that is not stored')
  store()
  await committed
  await recovery.close()
  t.equal(batchOnFile(), before + 1)
})

t.test('the link submits nothing while submissions are stopped', async (t) => {
  const sent: RailInstruction[] = []
  const rail = { up: () => true, onLink: () => undefined, send: (all: []) => sent.push(...all) }
  let since: number | null = null
  const link = createRailLink(rail as unknown as Rail, { now: () => instant(5 * SECOND) }, () =>
    since === null ? null : instant(since),
  )
  const orders = [{ kind: 'instruct' }, { kind: 'query' }] as unknown as RailInstruction[]
  link.send(orders)
  t.same([link.up(), link.downForMs(), sent.splice(0).length], [true, 0, 2])
  since = SECOND
  link.send(orders)
  t.same([link.up(), link.downForMs(), sent], [false, 4 * SECOND, [{ kind: 'query' }]])
})
