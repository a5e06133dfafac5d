/** The high-water mark: when it is written and what it contains. */
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Logger } from '../../../src/base/log.js'
import {
  createHighWater,
  isAhead,
  readHighWater,
  replaceMarkFile,
} from '../../../src/processor/recovery/high_water.js'
import { iterations } from '../../support/event_loop.js'
import { tempFolder } from '../../support/temp_folder.js'
import type { Progress } from '../../../src/store/progress.js'

const at = (lastBatch: number): Progress => ({ booksId: 'b', epoch: 1, lastBatch })

function held(found?: Progress) {
  const written: (Progress | undefined)[] = []
  const pauses: (() => void)[] = []
  const failing = { is: false }
  const logged: string[] = []
  const log = { error: (_: object, text: string) => logged.push(text) } as unknown as Logger
  const mark = createHighWater({
    write: (text) => {
      if (failing.is) return Promise.reject(new Error('disk full'))
      written.push(readHighWater(text))
      return Promise.resolve()
    },
    found,
    pause: (ms) => {
      t.equal(ms, 1_000)
      return new Promise((resolve) => void pauses.push(resolve))
    },
    log,
  })
  const passASecond = async (): Promise<void> => {
    pauses.shift()?.()
    await iterations()
  }
  return { mark, written, failing, logged, passASecond }
}

t.test('a mark that cannot be written is logged once, until one is written', async (t) => {
  const { mark, failing, logged, passASecond } = held()
  const fail = async (isFailing: boolean, batch: number): Promise<void> => {
    failing.is = isFailing
    mark.committed(at(batch))
    await iterations()
    await passASecond()
  }
  await fail(true, 1)
  await fail(true, 2)
  t.same(logged, ['high-water mark not written'])
  await fail(false, 3)
  await fail(true, 4)
  t.equal(logged.length, 2)
})

t.test('the mark is written at most once a second, with the newest commit', async (t) => {
  const { mark, written, passASecond } = held()
  for (let batch = 1; batch <= 5; batch++) mark.committed(at(batch))
  await iterations()
  t.same(written, [at(1)])
  await passASecond()
  t.same(written, [at(1), at(5)])
  await passASecond()
  t.equal(written.length, 2, 'nothing new')
  mark.committed(at(6))
  await iterations()
  t.same(written.at(-1), at(6))
})

t.test(
  'a mark is ahead of books of an older epoch, of fewer commits or of another id',
  async (t) => {
    const books = { booksId: 'b', epoch: 3, lastBatch: 50 }
    t.notOk(isAhead(books, books))
    t.notOk(isAhead({ ...books, lastBatch: 49 }, books))
    t.ok(isAhead({ ...books, lastBatch: 51 }, books))
    t.ok(isAhead({ ...books, epoch: 4, lastBatch: 1 }, books))
    t.ok(isAhead({ ...books, booksId: 'other', lastBatch: 1 }, books))
    const accepted = { ...books, acceptedEpoch: 3 }
    t.notOk(isAhead({ booksId: 'other', epoch: 2, lastBatch: 99 }, accepted), 'the accepted loss')
    t.ok(isAhead({ ...books, epoch: 2, lastBatch: 99 }, { ...books, acceptedEpoch: 2 }))
  },
)

t.test('commits of a new owner do not make up for lost ones', async (t) => {
  const mark = { booksId: 'b', epoch: 3, lastBatch: 51 }
  const lost = { ...mark, epoch: 4, lastBatch: 90, acceptedEpoch: 0, lastBatchBefore: 50 }
  t.ok(isAhead(mark, lost))
  t.notOk(isAhead(mark, { ...lost, lastBatchBefore: 51 }))
  t.notOk(isAhead({ ...mark, epoch: 4, lastBatch: 90 }, lost))
})

t.test('a clean stop writes the last commit', async (t) => {
  const { mark, written, passASecond } = held()
  mark.committed(at(1))
  mark.committed(at(2))
  await mark.stop()
  t.same(written, [at(1), at(2)])
  mark.committed(at(3))
  await passASecond()
  t.equal(written.length, 2)
})

t.test('a failed write of the mark does not stop the process', async (t) => {
  const { mark, written, failing, passASecond } = held()
  failing.is = true
  mark.committed(at(1))
  await iterations()
  failing.is = false
  mark.committed(at(2))
  await passASecond()
  t.same(written, [at(2)])
})

t.test('a mark ahead of the books stays until a new epoch', async (t) => {
  for (const found of [at(9), { ...at(1), booksId: 'other' }]) {
    const { mark, written, passASecond } = held(found)
    mark.committed(at(8))
    await mark.stop()
    t.same(written, [])
    const next = held(found)
    next.mark.committed({ ...at(8), epoch: 2 })
    await passASecond()
    t.same(next.written, [{ ...at(8), epoch: 2 }])
  }
})

t.test('an invalid mark is ignored', async (t) => {
  t.equal(readHighWater(''), undefined)
  t.equal(readHighWater('{"books":"b","epo'), undefined)
  t.equal(readHighWater('null'), undefined)
  t.equal(readHighWater('{"books":"b","epoch":1,"batch":"2"}'), undefined)
  t.same(readHighWater('{"books":"b","epoch":1,"batch":2}'), at(2))
})

/** Paths that are synced during the test, in order. */
async function syncedIn(t: Test, folder: string): Promise<readonly string[]> {
  const handle = await open(folder)
  const handles = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const synced: string[] = []
  const { sync } = handles
  handles.sync = function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
    return sync.call(this)
  }
  t.teardown(() => void (handles.sync = sync))
  return synced
}

t.test('the mark is on disk before it replaces the former one, and the folder after', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'high_water.json')
  const synced = await syncedIn(t, folder)
  await replaceMarkFile(file, 'one')
  await replaceMarkFile(file, 'two')
  t.same(synced, [`${file}.new`, folder, `${file}.new`, folder])
  t.equal(readFileSync(file, 'utf8'), 'two')
  t.equal(statSync(file).mode & 0o777, 0o600)
})
