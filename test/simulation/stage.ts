/**
 * The stage of a run: every part of it, made from the seed.
 *
 * G1. Each part draws from a chance of its own, so that a further draw in one does not shift the
 *     others.
 */
import type { Random } from '../../src/base/random.js'
import { createChance, type Chance } from '../fuzz/chance.js'
import type { Progress } from '../../src/store/progress.js'
import { ownFolder } from '../support/own_folder.js'
import type { Home } from '../support/world.js'
import { createFaultyBus, type FaultyBus } from './faulty_bus.js'
import { createFaultyRail, type FaultyRail } from './faulty_rail.js'
import { openWitness, type Witness } from './invariants.js'
import { bear, type Mortal } from './mortal.js'
import { drawSwarm, type Swarm } from './swarm.js'
import { createTrace, type Trace } from './trace.js'
import { createWorkload, type Workload } from './workload.js'

export interface Stage {
  readonly chance: Chance
  readonly swarm: Swarm
  readonly trace: Trace
  readonly mortal: Mortal
  readonly rail: FaultyRail
  readonly bus: FaultyBus
  readonly workload: Workload
  readonly witness: Witness
  /** Nonces of signed calls that were answered, and when those calls were made. */
  readonly nonces: { readonly nonce: Buffer; readonly at: number }[]
  /** Instructions of which the processor has heard what can not be. */
  readonly odd: Set<string>
  /** As the file beside the books has it. */
  readonly highWater: { mark: Progress }
  /** Draws a fault that comes once in so many times; none when they have stopped. */
  happens(times: number): boolean
  stopFaults(): void
}

export interface StageOptions {
  readonly seed: number
  readonly home: Home
  readonly tell: (line: string) => void
}

/** The second is half a minute before a day and a month end where the payers are. */
const STARTS = [Date.UTC(2026, 10, 21, 3), Date.UTC(2026, 10, 30, 16, 59, 30)] as const

export async function setStage({ seed, home, tell }: StageOptions): Promise<Stage> {
  const chanceOf = (part: number): Chance => createChance(seed, part)
  const chance = chanceOf(0)
  const swarm = drawSwarm(chanceOf(1))
  const random = randomBy(chanceOf(2))
  const folder = ownFolder(home)
  let faulty = false
  const happens = (times: number): boolean => faulty && times > 0 && chance.once(times)

  const mortal = await bear({
    home: { testdir: () => folder, teardown: (end) => home.teardown(end) },
    random,
    chance: chanceOf(3),
    fateOf: () => {
      const fate = happens(swarm.commitFails) ? chance.pick(['lost', 'kept'] as const) : 'done'
      if (fate !== 'done') trace.count(`commit failed, ${fate}`)
      return fate
    },
  })
  const { clock } = mortal.world
  clock.set(chance.pick(STARTS))
  const trace = createTrace(() => clock.now(), tell)
  const rail = createFaultyRail(clock, random, chanceOf(4), swarm.wire)
  const witness = await openWitness(folder, clock)
  home.teardown(() => witness.close())
  faulty = true
  return {
    chance,
    swarm,
    trace,
    mortal,
    rail,
    bus: createFaultyBus(chanceOf(5)),
    workload: createWorkload(chanceOf(6)),
    witness,
    nonces: [],
    odd: new Set(),
    highWater: { mark: mortal.world.store.marks.progress() },
    happens,
    stopFaults: () => {
      faulty = false
      rail.behave()
    },
  }
}

function randomBy(chance: Chance): Random {
  return {
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => chance.int(256))),
    fraction: () => chance.int(2 ** 32) / 2 ** 32,
  }
}
