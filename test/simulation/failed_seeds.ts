/**
 * Seeds of the books' simulation that failed once. A change of the simulation makes another run of
 * a seed, so a fault of the product also gets a test of its own.
 */
export const FAILED_SEEDS = [
  // The day of a limit was loaded by another clock than that of the deciding processor.
  { seed: 500_000_057, steps: 1_500 },
  // A write without an answer at the end of a run: no time passed until it was given up.
  { seed: 510_000_155, steps: 1_500 },
] as const
