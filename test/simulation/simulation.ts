/**
 * One simulation: a processor with its real cycle, machines, ledger and SQLite, with failing
 * partners, rail, bus and disk, on a simulated clock, in an order determined by the seed.
 *
 * Owns: the choice of the next action. Does not own: the actions, the checks (invariant_checker,
 * client_oracle), the faulty parts.
 *
 * - The same seed is the same run, step by step: the trace has the same digest.
 * - At the end faults stop, and every entity that can reach a final state must reach it.
 */
import { DAY, HOUR } from '../../src/base/clock.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { RULES, type Home } from '../support/world.js'
import {
  call,
  runStep,
  receiveReport,
  disturb,
  kill,
  checkDisk,
  passTime,
  settleDelivered,
  setBus,
  setRail,
  takeRailBack,
  switchStop,
  wipeBus,
} from './actions.js'
import { checkEnd, runToEnd } from './ending.js'
import type { PlantedFault } from './planted_faults.js'
import { copyBooks, restoreBooks } from './restores/restore.js'
import type { Rate } from './swarm.js'
import { createSimulationContext, type SimulationContext } from './simulation_context.js'

export interface RunOptions {
  readonly seed: number
  readonly steps: number
  readonly home: Home
  /** The driver. Default: that of the product. */
  readonly open?: typeof openDatabase
  /** Called for every trace line. */
  readonly onLine?: (line: string) => void
  /** Processors over one set of books; default: 1 for even seeds, 2 for odd ones. */
  readonly owners?: 1 | 2
  /** With two owners. */
  readonly fault?: PlantedFault
  /** Faults that do not happen. Default: none. */
  readonly without?: readonly Rate[]
  /** Whether an older copy takes the place of the books. Default: of half of the seeds. */
  readonly restores?: boolean
}

export interface SimulationResult {
  /** The digest of the trace. */
  readonly digest: string
  /** The count of each kind of trace line. */
  readonly counts: ReadonlyMap<string, number>
}

const CHECK_EVERY_STEPS = 500

/**
 * One of eight seeds is audited on its way too, with one processor and with two. The books only
 * grow, so what is wrong in them is seen at the end, and an audit takes a tenth of a run.
 */
const isAudited = (seed: number): boolean => seed % 8 < 2

/** Half of those with one processor, and of those with two. */
const isRestored = (seed: number): boolean => seed % 4 < 2

export async function simulate(options: RunOptions): Promise<SimulationResult> {
  const simulation = await createSimulationContext({
    open: openDatabase,
    onLine: () => undefined,
    owners: options.seed % 2 === 0 ? 1 : 2,
    fault: null,
    without: [],
    restores: isRestored(options.seed),
    ...options,
  })
  for (let step = 1; step <= options.steps; step++) {
    await draw(simulation, step)()
    if (step % CHECK_EVERY_STEPS === 0) await checkDisk(simulation, isAudited(options.seed))
  }
  await runToEnd(simulation)
  await checkEnd(simulation)
  return { digest: simulation.trace.digest(), counts: simulation.trace.counts }
}

type Action = () => void | Promise<void>
type WeightedAction = readonly [weight: number, action: Action]

/** The maximum number of calls in flight per partner. */
const CALLS_MAX = 12
const SMALL_STEPS_MS = [0, 1, 7, 250, 1_000] as const
const LEAPS_MS = [5_000, 61_000, RULES.quoteTtlMs, RULES.intentTtlMs, 6 * HOUR, DAY] as const

function draw(simulation: SimulationContext, step: number): Action {
  const { seededRandom: random } = simulation
  const choices = [...faults(simulation), ...normalActions(simulation, step)]
  let left = random.int(choices.reduce((sum, [weight]) => sum + weight, 0))
  const chosen = choices.find(([weight]) => (left -= weight) < 0)
  return chosen?.[1] ?? (() => undefined)
}

/** A fault is a step of its own. */
function faults(simulation: SimulationContext): readonly WeightedAction[] {
  const { processors, rail, bus, stops, copies, swarm, seededRandom: random, happens } = simulation
  const ALL = 1_000_000
  if (happens(swarm.crash)) return [[ALL, () => kill(simulation)]]
  if (processors.count > 1 && happens(swarm.disturb)) return [[ALL, () => disturb(simulation)]]
  if (happens(swarm.railCut) || (!rail.isUp && random.once(20))) {
    return [[ALL, () => setRail(simulation, !rail.isUp)]]
  }
  if (happens(swarm.busCut) || (!bus.isUp && random.once(20))) {
    return [[ALL, () => setBus(simulation, !bus.isUp)]]
  }
  if (happens(swarm.railBack)) return [[ALL, () => takeRailBack(simulation)]]
  const { recovery } = processors
  if (swarm.restore > 0 && happens(swarm.copy)) return [[ALL, () => copyBooks(simulation)]]
  if (!recovery.isActive() && copies.count > 0 && happens(swarm.restore))
    return [[ALL, () => restoreBooks(simulation)]]
  if (bus.isUp && happens(swarm.busWiped)) return [[ALL, () => wipeBus(simulation)]]
  if (happens(swarm.stops) || (stops.isHeld() && random.once(20)))
    return [[ALL, () => switchStop(simulation)]]
  if (!happens(swarm.leap)) return []
  return [[ALL, () => passTime(simulation, random.pick(LEAPS_MS))]]
}

function normalActions(simulation: SimulationContext, step: number): readonly WeightedAction[] {
  const { seededRandom: random, processors, rail, bus, workload, swarm } = simulation
  const { restoreOperator } = simulation
  const readsOnly =
    processors.count > 1 && swarm.readsOnly > 0 && Math.floor(step / swarm.readsOnly) % 2 === 1
  const waiting = processors.waiting()
  const work = waiting.flatMap((what, index) => (what === 'pause' ? [] : [index]))
  const pause = waiting.indexOf('pause')
  const when = (possible: boolean, weight: number): number => (possible ? weight : 0)
  return [
    [when(work.length > 0, 30), () => runStep(simulation, random.pick(work))],
    [
      when(!readsOnly && processors.inFlight() < CALLS_MAX, 14),
      () => call(simulation, workload.next()),
    ],
    [when(readsOnly || processors.isContested(), 20), () => call(simulation, workload.nextRead())],
    [when(rail.instructions() > 0, 12), () => rail.receive()],
    [when(rail.reports() > 0, 12), () => receiveReport(simulation)],
    [when(bus.inFlight() > 0, 8), () => bus.deliver()],
    [when(bus.unreported().length > 0, 2), () => settleDelivered(simulation)],
    [when(restoreOperator.hasWork(), 10), () => restoreOperator.act(simulation)],
    [when(workload.lost.length > 0, 6), () => call(simulation, workload.repeatLost())],
    [4, () => rail.work()],
    [when(pause >= 0, 4), () => runStep(simulation, pause)],
    [
      processors.isServing() ? 8 * processors.count : 40,
      () => passTime(simulation, random.pick(SMALL_STEPS_MS)),
    ],
  ]
}
