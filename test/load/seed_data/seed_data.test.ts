/** Seeded data passes the audit and has every outcome. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { FILES } from '../../../src/base/subjects.js'
import { openDatabase } from '../../../src/store/database.js'
import { assertCleanAudit } from '../../support/audit.js'
import { countsOf } from '../accounts.js'
import { writeSeedData } from './seed_data.js'

const COUNT = 240
const OPEN = 40
const PAGE = 20

t.test('seed data has every outcome, spans weeks, and its audit is clean', async (t) => {
  const folder = join(t.testdir(), 'data')
  const fixtures = await writeSeedData({
    ...{ folder, count: COUNT, what: ['payouts', 'intents'], open: OPEN, now: systemClock.now() },
    progress: () => undefined,
  })
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
