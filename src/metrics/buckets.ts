/**
 * A histogram's counts in fixed buckets, so that histograms of several processes can be added.
 *
 * - `observe` allocates and hashes nothing: it is on the path of every request and command.
 */
export interface Buckets {
  observe(value: number): void
  /** Observations in each bucket, not cumulative. The last bucket is above all bounds. */
  readonly counts: Float64Array
  sum(): number
}

export function createBuckets(bounds: readonly number[]): Buckets {
  const limits = Float64Array.from(bounds)
  const counts = new Float64Array(limits.length + 1)
  let sum = 0
  return {
    observe: (value) => {
      let i = 0
      while (i < limits.length && value > limits[i]!) i += 1
      counts[i]! += 1
      sum += value
    },
    counts,
    sum: () => sum,
  }
}
