/**
 * Latencies: recorded in microseconds, told in milliseconds.
 *
 * Owns: the histogram's range, merging, the percentiles we tell. Does not own: what is timed
 * (load).
 *
 * L1. Histograms are merged, percentiles never: the median of medians is nobody's median.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

export interface LatencyMs {
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** A minute: twelve times the gateway's own patience. */
const HIGHEST_MICROS = 60_000_000

export const createLatencies = (): RecordableHistogram =>
  createHistogram({ lowest: 1, highest: HIGHEST_MICROS, figures: 3 })

export function recordMs(latencies: RecordableHistogram, elapsedMs: number): void {
  const micros = Math.round(elapsedMs * 1_000)
  latencies.record(Math.min(HIGHEST_MICROS, Math.max(1, micros)))
}

export function merged(all: readonly RecordableHistogram[]): RecordableHistogram {
  const sum = createLatencies()
  for (const latencies of all) sum.add(latencies)
  return sum
}

export function latencyMs(latencies: RecordableHistogram): LatencyMs {
  const { count } = latencies
  if (count === 0) return { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 }
  const at = (percentile: number): number => latencies.percentile(percentile) / 1_000
  return {
    count,
    mean: latencies.mean / 1_000,
    p50: at(50),
    p90: at(90),
    p99: at(99),
    p999: at(99.9),
    max: latencies.max / 1_000,
  }
}
