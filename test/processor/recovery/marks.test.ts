/** Detection of books behind their marks, and the reported reasons. */
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
