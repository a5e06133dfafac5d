/**
 * Simulations by seed: `make sim`, or `node .build/test/simulation/main.js [--seed S] [--runs N]
 * [--steps N] [--only-books | --only-moves] [--without FAULTS] [--restores] [--owners N]
 * [--on-disk] [--trace]`.
 *
 * Without a seed it makes many runs from a random seed; with a seed, that run alone. Each run
 * prints its seed. A seed is run by both simulations: of the books, and of moves in a cluster. One
 * that fails is shrunk, and the line that repeats it is printed.
 */
import { randomInt } from 'node:crypto'
import { programOptions } from '../../src/process/program_options.js'
import { simulateMoveSeeds, simulateSeeds } from './seeds.js'
import { RATES } from './swarm.js'

const values = programOptions(
  'sim',
  'Simulates processors with a store, a rail, a bus and a network that fail.',
  {
    seed: { value: 'N', about: 'repeats a run', kind: 'number' },
    runs: {
      value: 'N',
      about: 'number of consecutive seeds; 50, or 1 with --seed',
      kind: 'number',
    },
    steps: { value: 'N', about: 'of each run; 1500, or 3000 of moves', kind: 'number' },
    onlyBooks: { about: 'no moves' },
    onlyMoves: { about: 'of shards in a cluster' },
    without: { value: 'FAULTS', about: `that do not happen: ${RATES.join()}` },
    restores: { about: 'of the books to earlier copies, for each seed; by default for half' },
    owners: {
      value: 'N',
      about: 'processors over the same books, 1 or 2; by default 1 for even seeds',
      kind: 'number',
    },
    onDisk: { about: 'books by the driver of the product, not for one of eight seeds only' },
    trace: { about: 'print each step of the books' },
  },
)
const print = (line: string): void => console.log(line)
const printCounts = (counts: ReadonlyMap<string, number>): void => {
  for (const [what, times] of [...counts].sort()) print(`${String(times).padStart(10)}  ${what}`)
}
const seeds = {
  first: values.seed ?? randomInt(1_000_000_000),
  runs: values.runs ?? (values.seed === undefined ? 50 : 1),
  onLine: print,
}

if (!values.onlyMoves) {
  const trace = values.trace ? { trace: print } : {}
  const books = values.onDisk ? { books: 'disk' as const } : {}
  const given = (values.without ?? '').split(',')
  const without = RATES.filter((rate) => given.includes(rate))
  const owners = ([1, 2] as const).find((count) => count === values.owners)
  const counts = await simulateSeeds({
    ...seeds,
    ...(owners === undefined ? {} : { owners }),
    steps: values.steps ?? 1_500,
    without,
    restores: values.restores,
    ...books,
    ...trace,
  })
  if (counts === null) process.exitCode = 1
  else printCounts(counts)
}
if (!values.onlyBooks && process.exitCode === undefined) {
  const counts = await simulateMoveSeeds({
    ...seeds,
    steps: values.steps ?? 3_000,
    restores: values.restores,
  })
  if (counts === null) process.exitCode = 1
  else printCounts(counts)
}
