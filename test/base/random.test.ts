/** The system's random source. */
import t from 'tap'
import { systemRandom } from '../../src/base/random.js'

t.test('bytes are never returned twice and belong to the caller', async (t) => {
  const random = systemRandom()
  const seen = new Set<string>()
  for (let i = 0; i < 5_000; i++) {
    const drawn = random.bytes(16)
    seen.add(drawn.toString('hex'))
    drawn.fill(0) // a caller may overwrite the buffer
  }
  t.equal(seen.size, 5_000)
  t.notOk(seen.has('0'.repeat(32)))
})

t.test('returns any number of bytes, also above the block size', async (t) => {
  const random = systemRandom()
  for (const count of [0, 1, 8_191, 8_192, 8_193, 100_000]) {
    t.equal(random.bytes(count).length, count)
  }
})

t.test('fractions are in [0, 1)', async (t) => {
  const random = systemRandom()
  const drawn = Array.from({ length: 1_000 }, () => random.fraction())
  t.ok(drawn.every((fraction) => fraction >= 0 && fraction < 1))
  t.ok(Math.max(...drawn) > 0.9 && Math.min(...drawn) < 0.1)
})
