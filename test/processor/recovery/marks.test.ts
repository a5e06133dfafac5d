/**
 * Detection of books behind their marks, and the reported reasons; the high-water mark: when it is
 * written and what it contains.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { instant, SECOND } from '../../../src/base/clock.js'
import { instantOf, newId } from '../../../src/base/ids.js'
import { systemRandom } from '../../../src/base/random.js'
import { FILES } from '../../../src/base/subjects.js'
import { createMarks, type Mark, type Marks } from '../../../src/processor/recovery/marks.js'
import type { Store } from '../../../src/store/store.js'
import { openNewBooks, openTestStore } from '../../support/books.js'
import { simulatedClock } from '../../support/world.js'
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
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

const clock = simulatedClock()

async function opened(t: Test, filled = ''): Promise<{ store: Store; marks: Marks }> {
  const { store, raw } = await openNewBooks(t)
  if (filled !== '') await raw.exec(filled)
  return { store, marks: createMarks(store.marks, clock) }
}

async function reason(marks: Marks, mark: Mark): Promise<string | null> {
  const result = await marks.check(mark)
  return result.kind === 'behind' ? result.reason : null
}

t.test('a high-water mark ahead of the books is reported', async (t) => {
  const { store, marks } = await opened(t)
  const books = store.marks.progress()
  const mark = (over: Partial<typeof books>): Mark => ({
    kind: 'high_water',
    source: 'high_water.json',
    progress: { ...books, ...over },
  })
  t.equal(await reason(marks, mark({})), null, 'equal')
  t.match(await reason(marks, mark({ lastBatch: 1 })), /end 1 commit behind .*\(0 < 1\)/)
  t.match(await reason(marks, mark({ epoch: 2 })), /in epoch 1, behind epoch 2 of high_water/)
  t.match(await reason(marks, mark({ booksId: 'other' })), /not those of high_water\.json/)
  t.equal(marks.behind().length, 1, 'one per source')
  await store.raiseEpoch(7)
  t.equal(await reason(marks, mark({ epoch: 7, lastBatch: 900 })), null, 'a later epoch')
})

t.test('books that are opened again accept no loss', async (t) => {
  const { store, folder } = await openNewBooks(t)
  const progress = { ...store.marks.progress(), lastBatch: 3 }
  await store.close()
  for (const start of ['first', 'second']) {
    const again = await openTestStore(join(folder, FILES.processorDatabase))
    const mark: Mark = { kind: 'high_water', source: 'high_water.json', progress }
    t.match(await reason(createMarks(again.marks, clock), mark), /end 3 commits behind/, start)
    await again.close()
  }
})

/** The event of this number, a second apart, the ninth as old as the books' clock. */
const event = (number: number): string =>
  newId('event', instant(clock.now() - (9 - number) * SECOND), systemRandom())
const [FIRST, SECOND_ONE, FOURTH, FIFTH] = [event(1), event(2), event(4), event(5)]
const EVENT = `INSERT INTO events (position, id, tenant, sequence, type, entity, created_at, body)
  VALUES (1, '${FIRST}', 'demo_sandbox', 1, 'payout.failed', 'pout_1', 0, '{}');`
const ofBus = (id: string): Mark => ({ kind: 'event', source: 'the bus', id })
const releasedAt = (at: number): string =>
  `INSERT INTO recoveries (number, entered_at, cause, released_at, loss, position_from,
       position_to, stops)
     VALUES (1, ${at}, 'RECOVERY=yes', ${at}, '[]', 1, 2, 'writes');
   INSERT INTO recoveries (number, entered_at, cause, stops)
     VALUES (2, ${at}, 'a pool', 'submissions');`
const acceptedLoss = (id: string): string =>
  `INSERT INTO accepted_losses (kind, id, at) VALUES ('event', '${id}', ${clock.now()});`

t.test('an event that the books lack is reported', async (t) => {
  const none = await opened(t)
  t.match(await reason(none.marks, ofBus(FIRST)), /the bus has event evt_\w+.*no event yet/)
  const { marks } = await opened(t, EVENT)
  t.equal(await reason(marks, ofBus(FIRST)), null)
  t.match(await reason(marks, ofBus(SECOND_ONE)), /newest event is of 1970-01-01T00:00:00\.000Z/)
})

t.test(
  'a release accepts the loss of every event before it, also of those not named',
  async (t) => {
    const released = await opened(t, EVENT + releasedAt(instantOf(FOURTH)))
    for (const lost of [SECOND_ONE, FOURTH]) {
      t.equal(await reason(released.marks, ofBus(lost)), null, 'another source has it')
    }
    t.match(await reason(released.marks, ofBus(FIFTH)), FIFTH, 'lost after the release')
  },
)

t.test('an accepted loss of a time after its release is only that event', async (t) => {
  const later = event(6)
  const { marks } = await opened(t, EVENT + releasedAt(instantOf(FOURTH)) + acceptedLoss(later))
  t.equal(await reason(marks, ofBus(later)), null)
  t.match(await reason(marks, ofBus(FIFTH)), FIFTH, 'later marks are compared')
})

t.test('an event that cannot exist is refused', async (t) => {
  const { marks } = await opened(t, EVENT)
  for (const id of ['evt_1', 'pout_00000000000000000000000000', event(70), event(1_000_000)]) {
    t.match(await marks.check(ofBus(id)), { kind: 'refused', reason: id }, id)
  }
  t.match(await marks.check(ofBus(event(68))), { kind: 'behind' }, 'clocks differ a little')
  const sources = marks.behind().map(({ mark }) => mark.source)
  t.same(sources, ['the bus'])
})

t.test('an instruction that the books did not submit is reported', async (t) => {
  const instruction = (id: string): Mark => ({ kind: 'instruction', source: 'rail sandbox', id })
  const { marks } = await opened(
    t,
    `INSERT INTO intents (id, tenant, state, context) VALUES
       ('pi_0', 'demo_sandbox', 'created', '{}'),
       ('pi_1', 'demo_sandbox', 'captured', '{"handedOverAt":5}'),
       ('pi_2', 'demo_sandbox', 'captured', '{"damaged');
     INSERT INTO payouts (id, tenant, state, reference, beneficiary, context) VALUES
       ('pout_1', 'demo_sandbox', 'completed', '', '', '{"handedOverAt":5}');
     INSERT INTO accepted_losses (kind, id, at) VALUES ('instruction', 'pout_7', 1)`,
  )
  for (const known of ['pi_1', 'pi_2', 'pout_1', 'pout_7']) {
    t.equal(await reason(marks, instruction(known)), null, known)
  }
  t.match(await reason(marks, instruction('pi_0')), /never sent/, 'created is not submitted')
  t.match(await reason(marks, instruction('pout_2')), /rail sandbox has instruction pout_2/)
  t.match(await reason(marks, instruction('pout_8')), /pout_8/, 'the loss that was accepted')
})

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
