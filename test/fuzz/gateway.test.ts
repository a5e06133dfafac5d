/** A short run of the gateway fuzzer, which must reach every kind of response. */
import t from 'tap'
import { createSeededRandom } from './seeded_random.js'
import { attackGateway } from './gateway_attack.js'
import { gatewayInput } from './gateway_input.js'

const ROUNDS_MAX = 30

t.test('the gateway withstands fuzzed requests', async (t) => {
  const seen = new Set<string>()
  const wanted = ['0', '200', '400', '401']
  // One round reaches all statuses, except on a busy machine.
  for (let round = 0; round < ROUNDS_MAX && !wanted.every((one) => seen.has(one)); round++) {
    const { statuses, faults } = await attackGateway({ seed: Date.now() % 1e6, forMs: 2_000 })
    t.same(faults, [])
    for (const status of Object.keys(statuses)) seen.add(status)
  }
  for (const status of wanted) t.ok(seen.has(status), `status ${status} occurs`)
})

t.test('a seed and an index repeat an input', async (t) => {
  const make = (seed: number): string => {
    const { packets, intentId } = gatewayInput(createSeededRandom(seed, 7), 7)
    // Timestamps and signatures differ between runs.
    return `${intentId} ${packets.length} ${Buffer.concat(packets).subarray(0, 20).toString()}`
  }
  t.equal(make(1), make(1))
  const others = new Set(Array.from({ length: 20 }, (_, seed) => make(seed)))
  t.ok(others.size > 5)
})
