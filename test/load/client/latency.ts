/**
 * Latency histograms: recorded in microseconds, reported in milliseconds.
 *
 * - Histograms are added, percentiles never: a median of medians is not the median.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

export type LatencyMs = ReturnType<typeof latencyMs>

/** A minute: twelve times the gateway's request timeout. */
const HIGHEST_MICROS = 60_000_000

/** @param figures significant digits; two take an eighth of the memory of three */
export const createLatencies = (figures = 3): RecordableHistogram =>
  createHistogram({ lowest: 1, highest: HIGHEST_MICROS, figures })

export function recordMs(latencies: RecordableHistogram, elapsedMs: number): void {
  const micros = Math.round(elapsedMs * 1_000)
  latencies.record(Math.min(HIGHEST_MICROS, Math.max(1, micros)))
}

export function latencyMs(latencies: RecordableHistogram) {
  const { count, mean, max } = latencies
  const at = (percentile: number): number => latencies.percentile(percentile) / 1_000
  return {
    ...{ count, mean: count === 0 ? 0 : mean / 1_000 },
    ...{ p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9), max: max / 1_000 },
  }
}
