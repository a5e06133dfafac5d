/** Checkpoints beside the writer: automatic, one at a time, and retried after a failure. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createCheckpoints } from '../../src/store/sqlite/checkpoints.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'

const PAGE_BYTES = 4_096
const COMMITS = 192

t.test('commits are copied to the file while the writer continues', async (t) => {
  const file = join(tempFolder(t), 'some.db')
  const database = await openDatabase(file, { sole: true })
  await database.exec('CREATE TABLE pages (number INTEGER PRIMARY KEY, bytes BLOB)')
  for (let i = 1; i <= COMMITS; i += 1) {
    await database.run('INSERT INTO pages VALUES (?, randomblob(?))', [i, PAGE_BYTES])
  }
  // Far fewer pages than trigger a checkpoint by SQLite itself.
  await eventually('half of the rows are in the file', () => statSync(file).size > 32 * PAGE_BYTES)
  const rows = await database.all<{ n: number }>('SELECT count(*) AS n FROM pages')
  t.same(rows, [{ n: COMMITS }])
  await database.close()
  t.notOk(statSync(`${file}-wal`, { throwIfNoEntry: false }), 'all rows are in the file')
})

t.test('the driver has a SQLite version without the WAL reset bug', async (t) => {
  const database = await openDatabase(join(tempFolder(t), 'some.db'))
  t.teardown(() => database.close())
  const [row] = await database.all<{ version: string }>('SELECT sqlite_version() AS version')
  const [major = 0, minor = 0, patch = 0] = (row?.version ?? '').split('.').map(Number)
  t.ok(major * 1e6 + minor * 1e3 + patch >= 3_051_003, `it is ${row?.version}`)
})

t.test('one checkpoint runs at a time; a failed one is followed by the next', async (t) => {
  const ends: ((error?: Error) => void)[] = []
  const checkpoints = createCheckpoints({
    exec: () =>
      new Promise((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)))
      }),
    close: () => Promise.resolve(),
  })
  const commit = (times: number): void => {
    for (let i = 0; i < times; i += 1) checkpoints.committed()
  }
  commit(10 * COMMITS)
  t.equal(ends.length, 1)
  ends[0]?.(new Error('the disk is full'))
  await eventually('another checkpoint begins', () => {
    commit(1)
    return ends.length === 2
  })
  commit(10 * COMMITS)
  t.equal(ends.length, 2)
  let closed = false
  const closing = checkpoints.close().then(() => (closed = true))
  t.equal(closed, false, 'closing waits for the running checkpoint')
  ends[1]?.()
  await closing
})
