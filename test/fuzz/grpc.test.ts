/**
 * A short run of the fuzzer of the gRPC port, which must reach every kind of answer. FUZZ_SEED
 * repeats the inputs of a run that printed it.
 */
import { randomInt } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { grpcInput } from './grpc_input.js'
import { attackGrpc } from './grpc_attack.js'
import { createSeededRandom } from './seeded_random.js'

const { OK, INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED, INTERNAL } = status
const WANTED = [OK, INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED, INTERNAL, 'frames']
/** Far more than reach all. */
const INPUTS_MAX = 50_000
/** On a busy machine a round can end before an input is answered. */
const ROUNDS_MAX = 60

t.setTimeout(0)

t.test('the gRPC port withstands fuzzed calls and connections', async (t) => {
  const seen = new Set<string>()
  const missing = (): unknown[] => WANTED.filter((one) => !seen.has(String(one)))
  const isOver = (): boolean => missing().length === 0 || inputs >= INPUTS_MAX
  let inputs = 0
  for (let round = 0; round < ROUNDS_MAX && !isOver(); round++) {
    const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(1_000_000)) + round
    t.comment(`FUZZ_SEED=${seed}`)
    const found = await attackGrpc({ seed, forMs: 2_000 })
    const { statuses, faults } = found
    t.same(faults, [])
    inputs += found.inputs
    for (const name of Object.keys(statuses)) seen.add(name)
  }
  t.same(missing(), [], 'every kind of answer occurs')
})

t.test('a seed and an index repeat an input', async (t) => {
  const make = (seed: number): string =>
    JSON.stringify(grpcInput(createSeededRandom(seed, 7), (caller) => caller))
  t.equal(make(1), make(1))
  t.ok(new Set(Array.from({ length: 20 }, (_, seed) => make(seed))).size > 5)
})
