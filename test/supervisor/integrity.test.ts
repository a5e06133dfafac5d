/** The integrity check after a start reports damage and stops no process. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLog } from '../../src/base/log.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { createIntegrity, type Integrity } from '../../src/supervisor/integrity.js'
import { eventually } from '../support/eventually.js'

const PAGE = 4_096

interface Run {
  readonly integrity: Integrity
  readonly log: string[]
  readonly reported: string[]
}

async function begin(t: Test, files: readonly string[]): Promise<Run & { folder: string }> {
  const folder = t.testdir()
  for (const file of files) {
    const database = await openDatabase(join(folder, file))
    await database.exec('CREATE TABLE t (a TEXT); CREATE INDEX i ON t (a)')
    await database.exec(`WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 5000)
      INSERT INTO t SELECT printf('row %06d', x) FROM n; PRAGMA wal_checkpoint(TRUNCATE)`)
    await database.close()
  }
  const log: string[] = []
  const reported: string[] = []
  const integrity = createIntegrity({
    folder,
    log: createLog('integrity', { LOG_LEVEL: 'info' }, { write: (line) => log.push(line) }),
    report: (line) => void reported.push(line),
  })
  t.teardown(() => integrity.stop())
  return { folder, integrity, log, reported }
}

t.test('intact databases have no finding', async (t) => {
  const { integrity, log, reported } = await begin(t, ['processor.db', 'webhooks-2.db'])
  t.equal(integrity.state, 'pending')
  integrity.start()
  await eventually('the check ends', () => integrity.state !== 'pending')
  t.equal(integrity.state, 'ok')
  t.same(reported, [])
  t.match(
    log.map((line) => JSON.parse(line) as object),
    [{ database: 'processor.db' }, { database: 'webhooks-2.db' }],
  )
})

t.test('a damaged page and a file that is not a database are reported', async (t) => {
  const { folder, integrity, log, reported } = await begin(t, [
    'processor.db',
    'webhooks.db',
    'rail.db',
  ])
  const damaged = openSync(join(folder, 'processor.db'), 'r+')
  writeSync(damaged, Buffer.alloc(2 * PAGE, 7), 0, 2 * PAGE, 4 * PAGE)
  closeSync(damaged)
  const none = openSync(join(folder, 'rail.db'), 'r+')
  writeSync(none, Buffer.alloc(100, 7), 0, 100, 0)
  closeSync(none)
  integrity.start()
  await eventually('the check ends', () => log.length === 3)
  t.equal(integrity.state, 'failed')
  t.match(reported[0], /INTEGRITY CHECK FAILED: processor\.db: /)
  t.match(reported[1], /INTEGRITY CHECK FAILED: rail\.db: /)
  t.equal(reported.length, 2)
  await eventually('the state stays', () => integrity.state === 'failed')
})

t.test('a stopped check reports nothing', async (t) => {
  const { integrity, log, reported } = await begin(t, ['processor.db'])
  integrity.start()
  integrity.stop()
  t.equal(integrity.state, 'pending')
  t.same([...log, ...reported], [])
})
