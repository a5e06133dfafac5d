/**
 * One simulation: a processor with its real cycle, machines, ledger and SQLite, with failing
 * partners, rail, bus and disk, on a simulated clock, in an order determined by the seed.
 *
 * Owns: the choice of the next action. Does not own: the actions, the checks (invariant_checker,
 * client_oracle), the faulty parts.
 *
 * - The same seed is the same run, step by step: the trace has the same digest.
 * - In the end the faults stop, and every entity that can reach a final state must.
 */
import { DAY, HOUR } from '../../src/base/clock.js'
import { RULES, type Home } from '../support/world.js'
import { call, goOn, hear, kill, look, pass, report, setBus, setRail } from './actions.js'
import { checkTheEnd, comeToRest } from './ending.js'
import { createSimulationContext, type SimulationContext } from './simulation_context.js'

export interface RunOptions {
  readonly seed: number
  readonly steps: number
  readonly home: Home
  /** Called for every trace line. */
  readonly tell?: (line: string) => void
}

export interface Told {
  /** The digest of the trace. */
  readonly digest: string
  /** The count of each kind of trace line. */
  readonly counts: ReadonlyMap<string, number>
}

const LOOK_EVERY_STEPS = 200

export async function simulate(options: RunOptions): Promise<Told> {
  const simulation = await createSimulationContext({ tell: () => undefined, ...options })
  for (let step = 1; step <= options.steps; step++) {
    await draw(simulation)()
    if (step % LOOK_EVERY_STEPS === 0) await look(simulation)
  }
  await comeToRest(simulation)
  await checkTheEnd(simulation)
  return { digest: simulation.trace.digest(), counts: simulation.trace.counts }
}

type Action = () => void | Promise<void>
type Weighed = readonly [weight: number, action: Action]

/** The maximum number of calls in flight per partner. */
const CALLS_MAX = 12
const LITTLE_MS = [0, 1, 7, 250, 1_000] as const
const LEAPS_MS = [5_000, 61_000, RULES.quoteTtlMs, RULES.intentTtlMs, 6 * HOUR, DAY] as const

function draw(simulation: SimulationContext): Action {
  const { seededRandom: random } = simulation
  const choices = [...faults(simulation), ...business(simulation)]
  let left = random.int(choices.reduce((sum, [weight]) => sum + weight, 0))
  const chosen = choices.find(([weight]) => (left -= weight) < 0)
  return chosen?.[1] ?? (() => undefined)
}

/** A fault takes a step of its own. */
function faults(simulation: SimulationContext): readonly Weighed[] {
  const { rail, bus, swarm, seededRandom: random, happens } = simulation
  const ALL = 1_000_000
  if (happens(swarm.crash)) return [[ALL, () => kill(simulation)]]
  if (happens(swarm.railCut) || (!rail.isUp && random.once(20))) {
    return [[ALL, () => setRail(simulation, !rail.isUp)]]
  }
  if (happens(swarm.busCut) || (!bus.isUp && random.once(20))) {
    return [[ALL, () => setBus(simulation, !bus.isUp)]]
  }
  if (!happens(swarm.leap)) return []
  return [[ALL, () => pass(simulation, random.pick(LEAPS_MS))]]
}

function business(simulation: SimulationContext): readonly Weighed[] {
  const { seededRandom: random, processor, rail, bus, workload } = simulation
  const { clock } = processor.world
  const waiting = processor.waiting()
  const work = waiting.flatMap((what, place) => (what === 'pause' ? [] : [place]))
  const pause = waiting.indexOf('pause')
  const when = (possible: boolean, weight: number): number => (possible ? weight : 0)
  return [
    [when(work.length > 0, 30), () => goOn(simulation, random.pick(work))],
    [
      when(processor.underWay() < CALLS_MAX, 14),
      () => call(simulation, workload.next(clock.now())),
    ],
    [when(rail.instructions() > 0, 12), () => rail.receive()],
    [when(rail.reports() > 0, 12), () => hear(simulation)],
    [when(bus.onTheWay() > 0, 8), () => bus.deliver()],
    [when(bus.unreported().length > 0, 2), () => report(simulation)],
    [4, () => rail.work()],
    [when(pause >= 0, 4), () => goOn(simulation, pause)],
    [8, () => pass(simulation, random.pick(LITTLE_MS))],
  ]
}
