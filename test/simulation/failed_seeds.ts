/**
 * Seeds of both simulations that failed once. A change of the simulation makes another run of
 * a seed, so a fault of the product also gets a test of its own.
 */
import type { Rate } from './swarm.js'

interface FailedSeed {
  readonly seed: number
  readonly steps: number
  readonly without?: readonly Rate[]
  readonly restores?: true
  readonly owners?: 1 | 2
}

export const FAILED_SEEDS: readonly FailedSeed[] = [
  // The day of a limit was loaded by another clock than that of the deciding processor.
  { seed: 500_000_057, steps: 1_500, without: ['stops', 'restore'] },
  // A write without an answer at the end of a run: no time passed until it was given up.
  { seed: 510_000_155, steps: 1_500, without: ['stops'] },
  // The same with a timer that stays due meanwhile.
  { seed: 800_000_159, steps: 1_497, without: ['busCut', 'railBack', 'busWiped', 'stops'] },
  // The rail returned another execution than the one that it reported first: no recall ended.
  { seed: 700_000_534, steps: 395, without: ['railCut', 'railBack', 'disturb', 'stops'] },
  // A former owner's refusal arrived after the acceptance by the next owner.
  { seed: 820_000_395, steps: 1_500, without: ['stops'] },
  // Events after the second release of the same copy had the numbers of those after the first one.
  { seed: 1, steps: 1_500, restores: true, owners: 1 },
  // Likewise after two releases in a row, and of a copy without an event.
  { seed: 1_011, steps: 1_500, restores: true, owners: 1 },
  { seed: 1_032, steps: 1_500, restores: true, owners: 1 },
  // An execution of a held intent's own that differs was not dismissed before the rejection.
  { seed: 920_000_034, steps: 1_500, restores: true, owners: 2 },
  // A return that the rail had not found once was not inquired about again.
  { seed: 940_000_064, steps: 1_500, restores: true, owners: 2 },
  // An audit on the way: the operator had not inquired yet about a return that the restore lost.
  { seed: 610_000_056, steps: 1_500, restores: true, owners: 1 },
  // The restore lost the report of the true execution, after a false one.
  {
    ...{ seed: 130_014_292, steps: 148 },
    without: ['railCut', 'busCut', 'busWiped', 'leap', 'disturb'],
  },
  // A run ended while its only commit was under way: nothing on disk was due.
  { seed: 130_031_237, steps: 288, without: ['railCut', 'busWiped', 'leap', 'stops'] },
  // A false account was reported of an orphan execution whose statement named none.
  { seed: 120_002_504, steps: 298, without: ['commitFails', 'busCut', 'disturb', 'stops'] },
]

/** Seeds of moves. */
export const FAILED_MOVE_SEEDS: readonly number[] = [
  // A partner was asked back before the owner that it came to had seen the end of its move.
  1_048,
]

/** With restores. */
export const FAILED_RESTORED_MOVE_SEEDS: readonly number[] = [
  // A release began an epoch below those of owners on other machines, in the lost time.
  ...[1_058, 1_100],
  // A former owner compared the mark of a gateway: it was deposed, which ended the whole run.
  900_000_065,
]
