/** The clock of decisions does not fall, and follows the machine's again. */
import t from 'tap'
import { instant, MINUTE, SECOND } from '../../src/base/clock.js'
import { newId, type PayoutId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { createBooksClock, HELD_MAX_MS } from '../../src/processor/cycle/books_clock.js'
import { createWorld, viewOf } from '../support/world.js'
import { type Intent, intentAt, scanned } from './intent_lifecycle.js'

const NOON = 1_795_000_000_000

function clocks() {
  let at = NOON
  const clock = createBooksClock({ now: () => instant(at) })
  return { clock, set: (next: number) => (at = next) }
}

t.test("it is the machine's while the books are not ahead", async (t) => {
  const { clock, set } = clocks()
  clock.passed(instant(NOON - MINUTE))
  t.equal(clock.now(), NOON)
  set(NOON + MINUTE)
  t.equal(clock.now(), NOON + MINUTE)
  t.equal(clock.aheadMs(), 0)
})

t.test('it goes on from the newest moment of the books, at half speed until then', async (t) => {
  const { clock, set } = clocks()
  clock.passed(instant(NOON + 2 * MINUTE))
  t.equal(clock.now(), NOON + 2 * MINUTE)
  t.equal(clock.aheadMs(), 2 * MINUTE)
  set(NOON + 2 * MINUTE)
  t.equal(clock.now(), NOON + 3 * MINUTE)
  set(NOON + 5 * MINUTE)
  t.equal(clock.now(), NOON + 5 * MINUTE, 'it has caught up')
  t.equal(clock.aheadMs(), 0)
})

t.test("it does not fall when the machine's clock is set back", async (t) => {
  const { clock, set } = clocks()
  let last = clock.now()
  for (const step of [1, -MINUTE, 0, 500, -SECOND, 3, MINUTE, -1, 2 * MINUTE]) {
    set(NOON + step)
    t.ok(clock.now() >= last, `after ${step} ms`)
    last = clock.now()
  }
})

t.test('books that are far ahead were written under a wrong clock', async (t) => {
  const { clock } = clocks()
  clock.passed(instant(NOON + HELD_MAX_MS))
  t.equal(clock.aheadMs(), HELD_MAX_MS)
  clock.passed(instant(NOON + HELD_MAX_MS + 1))
  t.equal(clock.now(), NOON)
})

t.test('ids sort after those of a machine that was ahead', async (t) => {
  const { clock } = clocks()
  const ahead = instant(NOON + 2 * MINUTE)
  const before = newId<PayoutId>('payout', ahead, systemRandom())
  clock.passed(instant(ahead + 1))
  t.ok(newId<PayoutId>('payout', clock.now(), systemRandom()) > before)
})

t.test('the next owner, whose clock is two minutes behind, continues a payment', async (t) => {
  const world = await createWorld(t, { isMachineClock: true })
  const payment = await intentAt(world, scanned)
  world.clock.pass(-2 * MINUTE)
  await world.rebuild()
  const { authorized_at, created_at } = viewOf<Intent>(await payment.confirm())
  t.ok(String(authorized_at) >= String(created_at), `${String(authorized_at)}`)
  world.clock.pass(2)
  const next = await payment.another()
  viewOf(await next.scan('150', { duplicate_confirmed: true }))
  t.ok(next.id > payment.id, 'newer payments sort after older ones')
  await payment.executed()
  t.match(await payment.see(), { status: 'captured' })
})
