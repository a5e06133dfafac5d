/**
 * The faults of a seed and their rates: a seed has all, a few or none of them.
 *
 * A rate of n means probability 1/n; 0 is never.
 */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import type { WireFaults } from './faulty_rail.js'

export interface Swarm {
  readonly wire: WireFaults
  /** Per commit. */
  readonly commitFails: number
  /** Per step. */
  readonly crash: number
  readonly railCut: number
  readonly busCut: number
  readonly leap: number
}

export function drawSwarm(random: SeededRandom): Swarm {
  const rate = (...often: readonly number[]): number => (random.once(3) ? 0 : random.pick(often))
  return {
    wire: { loss: rate(4, 20), repeat: rate(3, 10), falseReport: rate(10, 40) },
    commitFails: rate(10, 30),
    crash: rate(60, 200),
    railCut: rate(60, 150),
    busCut: rate(60, 150),
    leap: rate(80, 300),
  }
}
