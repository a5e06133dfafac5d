/**
 * The parts of a run, made from the seed.
 *
 * - Each part has its own random stream: one more draw in one part does not shift the others.
 */
import type { Random } from '../../src/base/random.js'
import type { openDatabase } from '../../src/store/sqlite/database.js'
import { createSeededRandom, type SeededRandom } from '../fuzz/seeded_random.js'
import { tempFolder } from '../support/temp_folder.js'
import type { Home } from '../support/world.js'
import { BOOKS, OWNER } from './books_server.js'
import { createFaultyBus, type FaultyBus } from './faulty_bus.js'
import { createFaultyRail, type FaultyRail } from './faulty_rail.js'
import { openInvariantChecker, type InvariantChecker } from './invariant_checker.js'
import { createOperatorStops, type OperatorStops } from './operator_stops.js'
import { startProcessor } from './crashable_processor.js'
import type { PlantedFault } from './planted_faults.js'
import type { Processors } from './processors.js'
import { CALM, drawRestores, drawSwarm, type Rate, type Swarm } from './swarm.js'
import { createBooksCopies, type BooksCopies } from './restores/books_copies.js'
import { createLostBooks, type LostBooks } from './restores/lost_books.js'
import { createRestoreOperator, type RestoreOperator } from './restores/operator.js'
import { createTrace, type Trace } from './trace.js'
import { startTwoOwners } from './two_owners.js'
import { createWorkload, type Workload } from './workload.js'

export interface SimulationContext {
  readonly seededRandom: SeededRandom
  readonly swarm: Swarm
  readonly trace: Trace
  readonly processors: Processors
  readonly rail: FaultyRail
  readonly bus: FaultyBus
  readonly workload: Workload
  readonly checker: InvariantChecker
  readonly stops: OperatorStops
  /** Nonces of answered signed calls, and the times of these calls. */
  readonly nonces: { readonly nonce: Buffer; readonly at: number }[]
  /** Instructions with a report that contradicts the ledger. */
  readonly mismatched: Set<string>
  readonly copies: BooksCopies
  readonly lost: LostBooks
  readonly restoreOperator: RestoreOperator
  /** Restores alone draw from it: without one, a run is what it was before there were any. */
  readonly restoreRandom: SeededRandom
  /** Draws a fault with probability 1/n; none once faults have stopped. */
  happens(times: number): boolean
  stopFaults(): void
}

export interface SimulationOptions {
  readonly seed: number
  readonly home: Home
  /** The driver. */
  readonly open: typeof openDatabase
  readonly onLine: (line: string) => void
  /** How many processors share the books. */
  readonly owners: 1 | 2
  /** With two owners. */
  readonly fault: PlantedFault | null
  /** Faults that do not happen. */
  readonly without: readonly Rate[]
  /** Whether an older copy takes the place of the books. */
  readonly restores: boolean
}

/** The second is 30 seconds before the end of the payers' local day and month. */
const STARTS = [Date.UTC(2026, 10, 21, 3), Date.UTC(2026, 10, 30, 16, 59, 30)] as const

export async function createSimulationContext({
  seed,
  home,
  open,
  onLine,
  owners,
  fault,
  without,
  restores,
}: SimulationOptions): Promise<SimulationContext> {
  const randomOf = (part: number): SeededRandom => createSeededRandom(seed, part)
  const seededRandom = randomOf(0)
  const none = Object.fromEntries(without.map((rate) => [rate, 0]))
  const restoreRandom = randomOf(7)
  const restored = restores ? drawRestores(restoreRandom, owners) : {}
  const drawn = { ...drawSwarm(randomOf(1)), ...restored, ...none }
  const swarm = fault === null ? drawn : { ...CALM, ...fault.provokedBy }
  const random = randomBy(randomOf(2))
  const folder = tempFolder(home)
  let faulty = false
  const happens = (times: number): boolean => faulty && times > 0 && seededRandom.once(times)

  const own: Home = { testdir: () => folder, teardown: (end) => home.teardown(end) }
  const outcome = <Outcome extends string>(faulty: readonly Outcome[]): Outcome | 'done' => {
    const chosen = happens(swarm.commitFails) ? seededRandom.pick(faulty) : 'done'
    if (chosen !== 'done') trace.count(`commit failed, ${chosen}`)
    return chosen
  }
  const { warmActors } = swarm
  const parts = { home: own, open, random, seededRandom: randomOf(3), warmActors }
  const processors = await (owners === 1
    ? startProcessor({ ...parts, commitOutcomeOf: () => outcome(['lost', 'kept']) })
    : startTwoOwners({
        ...parts,
        outcomeOfWrite: () => outcome(swarm.writeFaults),
        fault,
        acts: swarm.acts,
        onCount: (what) => trace.count(what),
      }))
  const { clock } = processors
  clock.set(seededRandom.pick(STARTS))
  const trace = createTrace(() => clock.now(), onLine)
  const rail = createFaultyRail(clock, random, randomOf(4), swarm.wire)
  const checker = await openInvariantChecker(folder, clock, open)
  home.teardown(() => checker.close())
  faulty = true
  return {
    seededRandom,
    swarm,
    trace,
    processors,
    rail,
    bus: createFaultyBus(randomOf(5)),
    workload: createWorkload(randomOf(6), processors.keyId(), () =>
      processors.memories().flatMap(({ discrepancyIds }) => [...discrepancyIds]),
    ),
    checker,
    stops: createOperatorStops(),
    nonces: [],
    mismatched: new Set(),
    copies: createBooksCopies(folder, owners === 1 ? [BOOKS] : [BOOKS, OWNER], open),
    lost: createLostBooks(),
    restoreOperator: createRestoreOperator(
      restoreRandom,
      () => processors.recovery.isActive() || processors.recovery.openOrphans() > 0,
    ),
    restoreRandom,
    happens,
    stopFaults: () => {
      faulty = false
      rail.stopFaults()
    },
  }
}

function randomBy(seededRandom: SeededRandom): Random {
  return {
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => seededRandom.int(256))),
    fraction: () => seededRandom.int(2 ** 32) / 2 ** 32,
  }
}
