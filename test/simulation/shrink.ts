/**
 * The shortest run that still fails, with the fewest kinds of faults.
 *
 * - A run with fewer faults is another run of the seed, so it can fail for another reason: the
 *   error that is printed is that of the whole run.
 */
import { RATES, type Rate } from './swarm.js'

export interface ShortRun {
  readonly steps: number
  /** Faults that do not happen. */
  readonly without: readonly Rate[]
}

export async function shrink(
  run: ShortRun,
  fails: (run: ShortRun) => Promise<boolean>,
): Promise<ShortRun> {
  let shortest = await withFewerSteps(run, fails)
  for (const rate of RATES) {
    const less = { ...shortest, without: [...shortest.without, rate] }
    if (!shortest.without.includes(rate) && (await fails(less))) shortest = less
  }
  return withFewerSteps(shortest, fails)
}

/** Halves the distance to the longest run that passes. */
async function withFewerSteps(
  { steps, without }: ShortRun,
  fails: (run: ShortRun) => Promise<boolean>,
): Promise<ShortRun> {
  let passes = 0
  let failing = steps
  while (failing - passes > 1) {
    const middle = Math.floor((passes + failing) / 2)
    if (await fails({ steps: middle, without })) failing = middle
    else passes = middle
  }
  return { steps: failing, without }
}
