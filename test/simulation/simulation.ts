/**
 * One run: a processor with its real cycle, machines, ledger and SQLite, between partners, a rail
 * and a bus that fail, on a clock that leaps; everything in an order that the seed draws.
 *
 * Owns: which act comes next. Does not own: the acts, what must hold (invariants, knowledge), the
 * parts that fail.
 *
 * Z1. The same seed is the same run, step by step: the trace has the same digest.
 * Z2. In the end the faults stop, and everything that can come to its end must.
 */
import { DAY, HOUR } from '../../src/base/clock.js'
import { RULES, type Home } from '../support/world.js'
import { call, goOn, hear, kill, look, pass, report, setBus, setRail } from './acts.js'
import { checkTheEnd, comeToRest } from './ending.js'
import { setStage, type Stage } from './stage.js'

export interface RunOptions {
  readonly seed: number
  readonly steps: number
  readonly home: Home
  /** Told of everything that happens. */
  readonly tell?: (line: string) => void
}

export interface Told {
  /** Of all that happened. */
  readonly digest: string
  /** How often each thing happened. */
  readonly counts: ReadonlyMap<string, number>
}

const LOOK_EVERY_STEPS = 200

export async function simulate(options: RunOptions): Promise<Told> {
  const stage = await setStage({ tell: () => undefined, ...options })
  for (let step = 1; step <= options.steps; step++) {
    await draw(stage)()
    if (step % LOOK_EVERY_STEPS === 0) await look(stage)
  }
  await comeToRest(stage)
  await checkTheEnd(stage)
  return { digest: stage.trace.digest(), counts: stage.trace.counts }
}

type Act = () => void | Promise<void>
type Weighed = readonly [weight: number, act: Act]

/** How many calls a partner has under way at most. */
const CALLS_MAX = 12
const LITTLE_MS = [0, 1, 7, 250, 1_000] as const
const LEAPS_MS = [5_000, 61_000, RULES.quoteTtlMs, RULES.intentTtlMs, 6 * HOUR, DAY] as const

function draw(stage: Stage): Act {
  const { chance } = stage
  const choices = [...faults(stage), ...business(stage)]
  let left = chance.int(choices.reduce((sum, [weight]) => sum + weight, 0))
  const chosen = choices.find(([weight]) => (left -= weight) < 0)
  return chosen?.[1] ?? (() => undefined)
}

/** A fault that has come takes the step for itself. */
function faults(stage: Stage): readonly Weighed[] {
  const { rail, bus, swarm, chance, happens } = stage
  const ALL = 1_000_000
  if (happens(swarm.crash)) return [[ALL, () => kill(stage)]]
  if (happens(swarm.railCut) || (!rail.isUp && chance.once(20))) {
    return [[ALL, () => setRail(stage, !rail.isUp)]]
  }
  if (happens(swarm.busCut) || (!bus.isUp && chance.once(20))) {
    return [[ALL, () => setBus(stage, !bus.isUp)]]
  }
  if (!happens(swarm.leap)) return []
  return [[ALL, () => pass(stage, chance.pick(LEAPS_MS))]]
}

function business(stage: Stage): readonly Weighed[] {
  const { chance, mortal, rail, bus, workload } = stage
  const { clock } = mortal.world
  const waiting = mortal.waiting()
  const work = waiting.flatMap((what, place) => (what === 'pause' ? [] : [place]))
  const pause = waiting.indexOf('pause')
  const when = (possible: boolean, weight: number): number => (possible ? weight : 0)
  return [
    [when(work.length > 0, 30), () => goOn(stage, chance.pick(work))],
    [when(mortal.underWay() < CALLS_MAX, 14), () => call(stage, workload.next(clock.now()))],
    [when(rail.orders() > 0, 12), () => rail.receive()],
    [when(rail.reports() > 0, 12), () => hear(stage)],
    [when(bus.onTheWay() > 0, 8), () => bus.deliver()],
    [when(bus.unreported().length > 0, 2), () => report(stage)],
    [4, () => rail.work()],
    [when(pause >= 0, 4), () => goOn(stage, pause)],
    [8, () => pass(stage, chance.pick(LITTLE_MS))],
  ]
}
