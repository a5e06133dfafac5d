/** Which shards a processor leaves to others after it could not load their books. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { instant, MINUTE, SECOND, type Clock } from '../../src/base/clock.js'
import { giveUp, openFailedLoads } from '../../src/processor/cluster/failed_loads.js'
import { Deposed } from '../../src/store/store.js'
import { tempFolder } from '../support/temp_folder.js'
import { SILENT_LOG } from '../support/logs.js'

function heldClock() {
  let now = Date.UTC(2026, 10, 28)
  const clock: Clock = { now: () => instant(now) }
  return { clock, pass: (ms: number) => void (now += ms) }
}

t.test('the time doubles with each failure in a row, up to a bound', async (t) => {
  const { clock, pass } = heldClock()
  const file = join(tempFolder(t), 'failed_loads.json')
  t.equal(openFailedLoads(file, clock).reasonOf('books_1'), undefined)
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    openFailedLoads(file, clock).failed('books_1')
    const next = openFailedLoads(file, clock)
    pass(seconds * SECOND - 1)
    t.match(next.reasonOf('books_1'), /^its books could not be loaded at 2026-11-28T00:/)
    t.equal(next.reasonOf('books_2'), undefined)
    pass(1)
    t.equal(next.reasonOf('books_1'), undefined, `after ${seconds} s`)
  }
  openFailedLoads(file, clock).loaded('books_1')
  openFailedLoads(file, clock).failed('books_1')
  const next = openFailedLoads(file, clock)
  pass(10 * SECOND)
  t.equal(next.reasonOf('books_1'), undefined, 'loaded books end the row')
})

t.test('a clock that went back and a damaged file keep no shard from this processor', async (t) => {
  const { clock, pass } = heldClock()
  const file = join(tempFolder(t), 'failed_loads.json')
  openFailedLoads(file, clock).failed('books_1')
  pass(-MINUTE)
  t.equal(openFailedLoads(file, clock).reasonOf('books_1'), undefined)
  for (const text of ['', 'null', '[', '{"books_1":null}', '{"books_1":{"failures":0,"at":1}}']) {
    writeFileSync(file, text)
    t.equal(openFailedLoads(file, clock).reasonOf('books_1'), undefined, text)
  }
})

t.test('a processor that has lost the shard meanwhile blames no books', async (t) => {
  const calls: string[] = []
  const shard = {
    shard: 'books_1',
    books: {
      barrier: () => Promise.reject(new Deposed('another process owns the books')),
      close: async () => void calls.push('released'),
    },
    cluster: { close: async () => void calls.push('left') },
    failedLoads: { failed: () => void calls.push('failed') },
    log: SILENT_LOG,
  }
  const lost = new Error('Connection terminated unexpectedly')
  await t.rejects(giveUp(shard, lost), lost)
  t.same(calls, [])
})
