/** Seeded data passes the audit and has every outcome; a run on kept data does not change it. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { FILES } from '../../../src/base/subjects.js'
import { openDatabase } from '../../../src/store/sqlite/database.js'
import { assertCleanAudit } from '../../support/audit.js'
import { tempFolder } from '../../support/temp_folder.js'
import { countsOf } from '../accounts.js'
import { startClient } from '../client/client.js'
import { describeMachine } from '../machine.js'
import { measureWindow, type Tools } from '../measured_window.js'
import { openSeeded } from '../scale.js'
import { createStacks } from '../stacks.js'
import { writeSeedData } from './seed_data.js'

const COUNT = 240
const OPEN = 40
const PAGE = 20

t.test('seed data has every outcome, spans weeks, and its audit is clean', async (t) => {
  const folder = join(t.testdir(), 'data')
  const what = ['payouts', 'intents'] as const
  const now = systemClock.now()
  const fixtures = await writeSeedData({ folder, count: COUNT, what, open: OPEN, now })
  const { intents, payouts, events } = await countsOf(folder)
  t.equal(intents['created'], OPEN / 2)
  t.equal((payouts['created'] ?? 0) + (payouts['processing'] ?? 0), OPEN / 2)
  t.ok(['captured', 'expired', 'cancelled', 'failed', 'refunded'].every((state) => intents[state]))
  t.ok(['completed', 'failed', 'reversed'].every((state) => payouts[state]))
  t.equal(events.open, 0)
  t.equal(fixtures.intents.length, COUNT)
  t.equal(new Set(fixtures.payouts).size, COUNT)
  t.ok(10_000 / new Set(fixtures.references).size >= PAGE, 'each reference fills a page')
  t.ok(existsSync(join(folder, FILES.masterKey)))

  const database = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
  const [span] = await database.all<{ days: number; due: number }>(
    `SELECT (max(context ->> 'createdAt') - min(context ->> 'createdAt')) / 86400000 AS days,
            (SELECT count(*) FROM intents WHERE due_at IS NOT NULL) AS due FROM intents`,
  )
  await database.close()
  t.ok((span?.days ?? 0) >= 39)
  t.equal(span?.due, OPEN / 2, 'open intents have a timer')
  await assertCleanAudit(t, folder)
})

t.test('kept seed data is not changed, and a missing window is reported', async (t) => {
  const [kept, folder] = [join(tempFolder(t), 'kept'), join(tempFolder(t), 'run')]
  mkdirSync(folder)
  const [stacks, client] = [createStacks(folder), startClient()]
  t.teardown(async () => {
    await client.stop()
    await stacks.stop()
  })
  const tools: Tools = {
    ...{ folder, out: folder, machine: describeMachine(folder), stacks, client },
    ...{ gateways: 1, store: 'sqlite', subscription: 'final', progress: () => undefined },
  }
  const system = await openSeeded(tools, kept, 'small', COUNT)
  const seeded = join(kept, `small-${COUNT}`, FILES.processorDatabase)
  const hash = (): string => createHash('sha256').update(readFileSync(seeded)).digest('hex')
  const before = hash()
  const window = { scenario: 'payouts', connections: 2, leadInMs: 0, measureMs: 20_000 } as const
  const uncounted = { ...system, account: () => undefined }
  await measureWindow(tools, uncounted, { ...window, side: 'a', journeys: 5 })
  t.match((await system.settle()).faults, [/^accepted = stored: 0 and 5 do not add up$/])
  await system.close()
  const { payouts } = await countsOf(system.stack.dataDir)
  const stored = Object.values(payouts).reduce((sum, count) => sum + count)
  t.equal(stored, COUNT + 5)
  t.equal(hash(), before)
})

t.test('repeated payments are those of years, and their audit is clean', async (t) => {
  const folder = join(tempFolder(t), 'data')
  const what = ['payouts', 'intents'] as const
  const now = systemClock.now()
  const ending = new AbortController()
  const progress = (done: number): void => {
    if (done === 3) ending.abort()
  }
  const how = { folder, count: 100, what, open: 0, now, progress, signal: ending.signal }
  t.equal((await writeSeedData({ ...how, times: 9 })).times, 3, 'ended after a whole repetition')
  const { intents, payouts, events } = await countsOf(folder)
  const sum = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((total, count) => total + count, 0)
  t.same([sum(intents), sum(payouts)], [300, 300])
  t.equal(sum(events), 1, 'retention leaves the newest one')
  const database = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
  const [found] = await database.all<{ days: number; users: number; keys: number }>(
    `SELECT (max(context ->> 'createdAt') - min(context ->> 'createdAt')) / 86400000 AS days,
            count(DISTINCT context ->> 'userId') AS users,
            (SELECT count(*) FROM idempotency) AS keys FROM intents`,
  )
  await database.close()
  t.ok((found?.days ?? 0) >= 62)
  t.same([found?.users, found?.keys], [300, 0])
  await assertCleanAudit(t, folder)
})
