/**
 * Latencies: recorded in microseconds, told in milliseconds.
 *
 * Owns: the histogram's range, merging, the percentiles we tell. Does not own: what is timed
 * (load).
 *
 * - Histograms are merged, percentiles never: the median of medians is nobody's median.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

export interface LatencyMs {
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** A minute: twelve times the gateway's own patience. */
const HIGHEST_MICROS = 60_000_000

export const createLatencies = (): RecordableHistogram =>
  createHistogram({ lowest: 1, highest: HIGHEST_MICROS, figures: 3 })

/** For many short stretches: two figures take an eighth of the memory. */
export const createRoughLatencies = (): RecordableHistogram =>
  createHistogram({ lowest: 1, highest: HIGHEST_MICROS, figures: 2 })

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
  if (count === 0) return { count: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, max: 0 }
  const at = (percentile: number): number => latencies.percentile(percentile) / 1_000
  return {
    count,
    mean: latencies.mean / 1_000,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    max: latencies.max / 1_000,
  }
}

/** Share of the requests, in per cent, and the latency that none of them passed. */
export type LatencyCurve = readonly (readonly [percentile: number, ms: number])[]

const CURVE = [0, 10, 25, 50, 75, 90, 95, 97, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.99]

export function curveOf(latencies: RecordableHistogram): LatencyCurve {
  if (latencies.count === 0) return []
  return CURVE.filter((percentile) => ((100 - percentile) * latencies.count) / 100 >= 1).map(
    (percentile) => [percentile, latencies.percentile(Math.max(percentile, 0.01)) / 1_000],
  )
}
