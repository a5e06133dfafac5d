/** The nonce table: the replay window, clock changes, restarts, memory, its bound. */
import fc from 'fast-check'
import t from 'tap'
import {
  FINGERPRINT_BYTES,
  newFingerprint,
  writeFingerprint,
  type Fingerprint,
} from '../../src/auth/fingerprint.js'
import { createNonceTable, NONCE_KEPT_MS, type NonceTable } from '../../src/auth/nonces.js'
import { NONCE_WINDOW_MS } from '../../src/base/constants.js'
import { DAY, instant, MINUTE, plus, SECOND, type Instant } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'

const SALT = Buffer.alloc(32, 1)
const START = instant(Date.parse('2026-11-21T04:35:40.000Z'))
/** With a window of 450 ms a tick is one millisecond, so the table can be predicted exactly. */
const WINDOW_MS = 450

const fingerprint = (high: number, low: number): Fingerprint => ({ high: high | 0, low: low | 0 })

/** Numbers spread over all segments and slots. */
const spread = (index: number): Fingerprint =>
  fingerprint(Math.imul(index, 0x9e3779b1), Math.imul(index ^ 0x5bd1e995, 0x85ebca6b))

const bytesOf = (fingerprints: readonly Fingerprint[]): Buffer => {
  const bytes = Buffer.alloc(fingerprints.length * FINGERPRINT_BYTES)
  fingerprints.forEach((one, index) => writeFingerprint(one, bytes, index * FINGERPRINT_BYTES))
  return bytes
}

/** Advances the clock in small steps, as a sequence of calls does. */
function pass(table: NonceTable, from: Instant, milliseconds: number, step = 10): Instant {
  const to = plus(from, milliseconds)
  for (let now = from; now < to; now = plus(now, step)) table.isFull(now)
  table.isFull(to)
  return to
}

t.test('a nonce is rejected for the whole window and accepted after it', async (t) => {
  const at = (age: number): boolean => {
    const table = createNonceTable({ salt: SALT, windowMs: WINDOW_MS })
    t.ok(table.add(fingerprint(1, 2), START))
    return table.add(fingerprint(1, 2), pass(table, START, age))
  }
  t.notOk(at(0))
  t.notOk(at(WINDOW_MS))
  t.ok(at(WINDOW_MS + 1))
})

t.test('the default window covers ten minutes and the time a request may wait', async (t) => {
  t.ok(NONCE_KEPT_MS > NONCE_WINDOW_MS)
  for (const age of [0, NONCE_WINDOW_MS, NONCE_KEPT_MS]) {
    const table = createNonceTable({ salt: SALT })
    table.add(fingerprint(1, 2), START)
    t.notOk(table.add(fingerprint(1, 2), pass(table, START, age, SECOND)), `${age} ms`)
  }
  const table = createNonceTable({ salt: SALT })
  table.add(fingerprint(1, 2), START)
  const over = pass(table, START, NONCE_KEPT_MS * (1 + 1 / 450) + 1, SECOND)
  t.ok(table.add(fingerprint(1, 2), over))
})

t.test('a reuse after the window starts a new window', async (t) => {
  const table = createNonceTable({ salt: SALT, windowMs: WINDOW_MS })
  t.ok(table.add(fingerprint(1, 2), START))
  const again = pass(table, START, WINDOW_MS + 1)
  t.ok(table.add(fingerprint(1, 2), again))
  t.notOk(table.add(fingerprint(1, 2), pass(table, again, WINDOW_MS)))
})

t.test('fingerprints that differ in one bit are distinct', async (t) => {
  const table = createNonceTable({ salt: SALT })
  t.ok(table.add(fingerprint(0, 0), START))
  for (let bit = 0; bit < 32; bit++) {
    t.ok(table.add(fingerprint(1 << bit, 0), START), `high ${bit}`)
    t.ok(table.add(fingerprint(0, 1 << bit), START), `low ${bit}`)
  }
  t.equal(table.size, 65)
  t.notOk(table.add(fingerprint(0, 0), START))
})

/** Few fingerprints, many adjacent in one segment, to cause repeats and probing. */
const anyFingerprint = fc.oneof(
  fc.record({ high: fc.nat({ max: 3 }), low: fc.integer({ min: -3, max: 3 }) }),
  fc.nat({ max: 200 }).map(spread),
)

/** Small steps, steps around the window or a wrap of the stamps, large and backward ones. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 20 }) },
  { weight: 2, arbitrary: fc.integer({ min: WINDOW_MS - 3, max: WINDOW_MS + 3 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: -3, max: 3 }))
      .map(([turns, more]) => turns * 1_023 + more),
  },
  { weight: 1, arbitrary: fc.nat({ max: 1_000_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: -5_000, max: -1 }) },
)

const anyCall = fc.record({
  step: anyStep,
  fingerprints: fc.array(anyFingerprint, { minLength: 1, maxLength: 40 }),
  restart: fc.boolean(),
})

/** The reference implementation: a Map that never expires entries. */
function createModel() {
  const seenAt = new Map<string, number>()
  let clock: number | undefined
  let elapsed = 0
  return {
    add({ high, low }: Fingerprint, now: number): boolean {
      const ahead = now - (clock ?? now)
      elapsed += Math.min(Math.max(0, ahead), 15)
      if (ahead > 0 || ahead < -WINDOW_MS || clock === undefined) clock = now
      const name = `${high} ${low}`
      const before = seenAt.get(name)
      if (before !== undefined && elapsed - before <= WINDOW_MS) return false
      seenAt.set(name, elapsed)
      return true
    },
  }
}

t.test('the table behaves like the reference for any clock, also after restarts', async () => {
  const newTable = () => createNonceTable({ salt: SALT, windowMs: WINDOW_MS })
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 60 }), (calls) => {
      let table = newTable()
      let model = createModel()
      let now: number = START
      const stored: { fingerprints: Fingerprint[]; at: number }[] = []
      for (const { step, fingerprints, restart } of calls) {
        now = Math.max(1, now + step)
        const fresh = fingerprints.filter((one) => {
          const expected = model.add(one, now)
          if (table.add(one, instant(now)) !== expected) {
            throw new Error(`${one.high} ${one.low} at ${now}: expected ${expected}`)
          }
          return expected
        })
        if (fresh.length > 0) stored.push({ fingerprints: fresh, at: now })
        if (!restart) continue
        table = newTable()
        model = createModel()
        for (const row of stored) {
          table.load(bytesOf(row.fingerprints), instant(row.at))
          for (const one of row.fingerprints) model.add(one, row.at)
        }
      }
    }),
    { numRuns: 500 },
  )
})

t.test('a clock set back expires nothing, before and after a restart', async (t) => {
  const table = createNonceTable({ salt: SALT })
  const back = plus(START, -DAY)
  t.ok(table.add(fingerprint(1, 1), START))
  t.ok(table.add(fingerprint(2, 2), back))
  t.notOk(table.add(fingerprint(1, 1), back))
  t.notOk(table.add(fingerprint(2, 2), START))

  const restarted = createNonceTable({ salt: SALT })
  restarted.load(bytesOf([fingerprint(1, 1)]), START)
  restarted.load(bytesOf([fingerprint(2, 2)]), back)
  t.notOk(restarted.add(fingerprint(1, 1), back))
  t.notOk(restarted.add(fingerprint(2, 2), back), 'an entry stored under a wrong time is kept')
})

t.test('a clock set forward expires nothing early, before and after a restart', async (t) => {
  const table = createNonceTable({ salt: SALT })
  t.ok(table.add(fingerprint(1, 1), START))
  const jumped = plus(START, DAY)
  t.ok(table.add(fingerprint(2, 2), jumped))
  t.notOk(table.add(fingerprint(1, 1), jumped))
  const back = plus(START, MINUTE)
  t.ok(table.add(fingerprint(3, 3), back))
  t.notOk(table.add(fingerprint(1, 1), back), 'rejected after the clock is corrected')
  t.ok(table.heldSince() <= START, 'its row is not deleted')

  const restarted = createNonceTable({ salt: SALT })
  restarted.load(bytesOf([fingerprint(1, 1)]), START)
  restarted.load(bytesOf([fingerprint(2, 2)]), jumped)
  restarted.load(bytesOf([fingerprint(3, 3)]), back)
  for (const one of [fingerprint(1, 1), fingerprint(2, 2), fingerprint(3, 3)]) {
    t.notOk(restarted.add(one, plus(back, SECOND)))
  }
  const over = pass(restarted, back, NONCE_KEPT_MS + 2 * SECOND, SECOND)
  t.ok(restarted.add(fingerprint(1, 1), over), 'the entry expires at the end of its window')
})

t.test('hours without calls expire nothing', async (t) => {
  const table = createNonceTable({ salt: SALT })
  t.ok(table.add(fingerprint(1, 1), START))
  t.notOk(table.add(fingerprint(1, 1), plus(START, DAY)))
})

t.test('heldSince is the time of the oldest entry', async (t) => {
  const table = createNonceTable({ salt: SALT })
  t.equal(table.heldSince(), Infinity)
  table.add(fingerprint(1, 1), START)
  t.equal(table.heldSince(), START)
  const later = pass(table, START, NONCE_WINDOW_MS, SECOND)
  t.equal(table.heldSince(), START)
  pass(table, later, MINUTE, SECOND)
  t.ok(table.heldSince() > START && table.heldSince() <= START + 2 * MINUTE)
})

t.test('heldUntil is finite once no entry of a clock that was ahead remains', async (t) => {
  const table = createNonceTable({ salt: SALT })
  table.add(fingerprint(1, 1), plus(START, DAY))
  const jumpedAgain = plus(START, -DAY)
  const restarted = createNonceTable({ salt: SALT })
  restarted.load(bytesOf([fingerprint(1, 1)]), plus(START, DAY))
  for (const one of [table, restarted]) {
    t.equal(one.heldUntil(), Infinity)
    const right = pass(one, START, NONCE_WINDOW_MS, SECOND)
    t.equal(one.heldUntil(), Infinity, 'the entry is kept')
    t.notOk(one.add(fingerprint(1, 1), right))
    const over = pass(one, right, MINUTE, SECOND)
    t.equal(one.heldUntil(), over + NONCE_KEPT_MS)
    one.isFull(jumpedAgain)
    t.equal(one.heldUntil(), Infinity, 'the same after another clock change')
  }
})

t.test('a loaded table rejects exactly what the original would', async (t) => {
  const fingerprints = Array.from({ length: 20_000 }, (_, index) => spread(index))
  const table = createNonceTable({ salt: SALT })
  for (let from = 0; from < fingerprints.length; from += 1_000) {
    table.load(bytesOf(fingerprints.slice(from, from + 1_000)), plus(START, from / 1_000))
  }
  t.equal(table.size, fingerprints.length)
  t.equal(fingerprints.filter((one) => table.add(one, plus(START, 100))).length, 0)
  t.ok(table.add(spread(20_001), plus(START, 100)))
})

t.test('at most 16 bytes per nonce, and growth loses none', async (t) => {
  const table = createNonceTable({ salt: SALT })
  const count = 300_000
  let most = 0
  for (let index = 0; index < count; index++) {
    if (!table.add(spread(index), START)) t.fail(`not added at ${index}`)
    if (index % 1_000 === 0 && index > 30_000) most = Math.max(most, table.bytes / table.size)
  }
  t.equal(table.size, count)
  t.ok(most <= 16, `${most} bytes`)
  t.ok(table.bytes / table.size >= 10, 'at most 80 % full')
  let refused = 0
  for (let index = 0; index < count; index++) if (!table.add(spread(index), START)) refused += 1
  t.equal(refused, count)
})

t.test('under steady traffic it expires entries as it adds them', async (t) => {
  const table = createNonceTable({ salt: SALT, windowMs: WINDOW_MS })
  let most = 0
  for (let index = 0; index < 400_000; index++) {
    table.add(spread(index), plus(START, Math.floor(index / 100)))
    if (index > 100_000) most = Math.max(most, table.size)
  }
  t.ok(most <= 45_100 * 1.2, `${most} held of 45,100 live ones`)
  t.ok(most >= 45_000)
})

t.test('memory is released after a burst', async (t) => {
  const table = createNonceTable({ salt: SALT, windowMs: WINDOW_MS })
  for (let index = 0; index < 100_000; index++) table.add(spread(index), START)
  const burst = table.bytes
  const later = pass(table, START, 10_000)
  for (let index = 0; index < 20_000; index++) table.add(spread(index), later)
  t.ok(table.bytes < burst / 2, `${table.bytes} of ${burst}`)
})

t.test('a full table rejects, reports isFull and recovers', async (t) => {
  const table = createNonceTable({ salt: SALT, windowMs: WINDOW_MS, maxEntries: 100 })
  for (let index = 0; index < 100; index++) {
    t.notOk(table.isFull(START))
    t.ok(table.add(spread(index), START))
  }
  t.ok(table.isFull(START))
  t.notOk(table.add(spread(100), START), 'further nonces are rejected')
  t.notOk(table.add(spread(0), START), 'no entry is evicted')
  t.equal(table.size, 100)
  const later = pass(table, START, WINDOW_MS + 1)
  let calls = 0
  while (table.isFull(later) && calls < 1_024) calls += 1
  t.notOk(table.isFull(later), `after ${calls} calls`)
  t.ok(table.add(spread(0), later))
})

t.test('fingerprints of a table depend on its salt', async (t) => {
  const one = createNonceTable({ salt: SALT })
  const other = createNonceTable({ salt: Buffer.alloc(32, 2) })
  const nonce = Buffer.alloc(32, 9)
  const [first, second] = [newFingerprint(), newFingerprint()]
  one.fingerprint('demo_sandbox' as TenantId, nonce, first)
  other.fingerprint('demo_sandbox' as TenantId, nonce, second)
  t.notSame(first, second)
  t.ok(one.add(first, START))
  one.fingerprint('demo_sandbox' as TenantId, nonce, second)
  t.notOk(one.add(second, START))
})
