/**
 * The faults of a seed and their rates: a seed has all, a few or none of them.
 *
 * A rate of n means probability 1/n; 0 is never.
 */
import type { SeededRandom } from '../fuzz/seeded_random.js'
import type { WriteOutcome } from './books_network.js'
import type { WireFaults } from './faulty_rail.js'

export interface Swarm {
  readonly wire: WireFaults
  /** Per commit. */
  readonly commitFails: number
  /** Per step. */
  readonly crash: number
  readonly railCut: number
  readonly busCut: number
  /** The rail is restored from a copy. */
  readonly railBack: number
  /** The bus loses everything that it has. */
  readonly busWiped: number
  readonly leap: number
  /** Actors in memory: with few of them, many are evicted and rebuilt. */
  readonly warmActors: number
  /** How probable a disturbance of two processors is, per step. */
  readonly disturb: number
  readonly acts: readonly Act[]
  /** Partners make any call for this number of steps, then only reads for the same number. */
  readonly readsOnly: number
  /** What can become of a failed commit of two processors. */
  readonly writeFaults: readonly WriteOutcome[]
  /** Operators stop something or end it. */
  readonly stops: number
  /** The books are set back to an earlier copy. */
  readonly restore: number
  readonly copy: number
}

/**
 * `cut`: from the store, the gateways or the rail. `release`: the other processor takes over.
 * `clock`: that of a machine is set forward or back.
 */
export type Act = 'pause' | 'cut' | 'failover' | 'release' | 'clock'

const ACTS: readonly Act[] = [
  ...(['pause', 'pause', 'pause', 'cut', 'cut', 'failover', 'release', 'clock'] as const),
]
const WRITE_FAULTS: readonly WriteOutcome[] = [
  'lost',
  'kept',
  'unanswered',
  'repeated',
  'warned',
  'warned and lost',
]

/** No faults. */
export const CALM: Swarm = {
  wire: { loss: 0, repeat: 0, falseReport: 0, notFound: 0 },
  commitFails: 0,
  crash: 0,
  railCut: 0,
  busCut: 0,
  railBack: 0,
  busWiped: 0,
  leap: 0,
  warmActors: 1_000,
  disturb: 0,
  acts: ACTS,
  readsOnly: 0,
  writeFaults: WRITE_FAULTS,
  stops: 0,
  restore: 0,
  copy: 0,
}

/** Those that `--without` leaves out. */
export const RATES = [
  'commitFails',
  'crash',
  'railCut',
  'busCut',
  'railBack',
  'busWiped',
  'leap',
  'disturb',
  'stops',
  'restore',
] as const
export type Rate = (typeof RATES)[number]

export function drawSwarm(random: SeededRandom): Swarm {
  const rate = (...often: readonly number[]): number => (random.once(3) ? 0 : random.pick(often))
  return {
    wire: {
      ...{ loss: rate(4, 20), repeat: rate(3, 10), falseReport: rate(10, 40) },
      notFound: rate(2, 8),
    },
    commitFails: rate(10, 30),
    crash: rate(60, 200),
    railCut: rate(60, 150),
    busCut: rate(60, 150),
    railBack: rate(60, 200),
    busWiped: rate(100, 300),
    leap: rate(80, 300),
    warmActors: random.pick([2, 5, 20, 50, 1_000]),
    disturb: random.pick([20, 40]),
    acts: ACTS,
    readsOnly: random.pick([0, 100]),
    writeFaults: WRITE_FAULTS,
    stops: rate(40, 120),
    restore: 0,
    copy: 0,
  }
}

/** One of two owners must serve for long enough that a recovery can be released. */
export const drawRestores = (random: SeededRandom, owners: 1 | 2): Partial<Swarm> => ({
  restore: random.pick([200, 400, 800]),
  copy: random.pick([50, 150, 300]),
  ...(owners === 1 ? {} : { disturb: random.pick([40, 100, 200]), readsOnly: 0 }),
})
