import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { FILES } from '../../../src/base/subjects.js'
import { openDatabase } from '../../../src/store/database.js'
import { auditOf } from '../../support/audit.js'
import { countsOf } from '../system_under_test/accounts.js'
import { writeSeedData } from './seed_data.js'

const COUNT = 240
const LIVE = 40
const PAGE = 20

t.test('a past is as if it had been lived', async (t) => {
  const folder = join(t.testdir(), 'data')
  const fixtures = await writeSeedData({
    folder,
    count: COUNT,
    what: ['payouts', 'intents'],
    live: LIVE,
    now: systemClock.now(),
    tell: () => undefined,
  })

  const { intents, payouts, events } = await countsOf(folder)
  t.equal(intents['created'], LIVE / 2)
  t.equal((payouts['created'] ?? 0) + (payouts['processing'] ?? 0), LIVE / 2)
  t.ok(['captured', 'expired', 'cancelled', 'failed', 'refunded'].every((state) => intents[state]))
  t.ok(['completed', 'failed', 'reversed'].every((state) => payouts[state]))
  t.equal(events.open, 0)
  t.equal(fixtures.intents.length, COUNT)
  t.equal(new Set(fixtures.payouts).size, COUNT)
  const small = 10_000
  t.ok(small / new Set(fixtures.references).size >= PAGE, 'small books fill a page of each, too')
  t.ok(existsSync(join(folder, FILES.masterKey)))

  const database = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
  const [spread] = await database.all<{ days: number; due: number }>(
    `SELECT (max(context ->> 'createdAt') - min(context ->> 'createdAt')) / 86400000 AS days,
            (SELECT count(*) FROM intents WHERE due_at IS NOT NULL) AS due FROM intents`,
  )
  await database.close()
  t.ok((spread?.days ?? 0) >= 39, 'it spans weeks')
  t.equal(spread?.due, LIVE / 2, 'live ones have a timer')
  const { clean, report } = await auditOf(folder)
  t.ok(clean, report)
})
