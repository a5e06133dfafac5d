/**
 * A metric family: its type, help, labels and buckets.
 *
 * - Values have base units (seconds, bytes); the names of counters end with `_total`.
 * - Label values are closed sets: patterns, codes, states, names that operators configure. What
 *   partners write is never one.
 */
export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Without a full stop. */
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds, ascending; of a histogram. */
  readonly buckets: readonly number[]
}

export type Families = Readonly<Record<`causeway_${string}`, Family>>

export const counter = <const L extends readonly string[]>(help: string, ...labels: L) =>
  ({ type: 'counter', help, labels, buckets: [] }) as const

export const gauge = <const L extends readonly string[]>(help: string, ...labels: L) =>
  ({ type: 'gauge', help, labels, buckets: [] }) as const

export const histogram = <const L extends readonly string[]>(
  buckets: readonly number[],
  help: string,
  ...labels: L
) => ({ type: 'histogram', help, labels, buckets }) as const

/** Answers of this service and of receivers, from 1 ms to 10 s. */
export const SECONDS = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
] as const
/** Commits and waits within a process, from 0.1 ms. */
export const SHORT_SECONDS = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
] as const
/** What others answer when they like: banks, receivers with retries. */
export const LONG_SECONDS = [
  ...[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400],
] as const
export const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const
