/**
 * The metrics of one process: counters and histograms that its parts add to, and values that are
 * read at each scrape.
 *
 * Does not own: the families (metrics/families), their values.
 *
 * - Counters and histograms start at 0 with the process; Prometheus recognizes the reset.
 * - A family that cannot be read is left out of the scrape and counted.
 */
import { createBuckets, type Buckets } from './buckets.js'
import { FAMILIES } from './families.js'
import type {
  CounterName,
  FamilyName,
  HistogramName,
  LabelValues,
  ReadableName,
} from './families.js'
import { bucketSamples, familyText, type Sample } from './page_text.js'

export interface Counter<N extends FamilyName> {
  /** Adds 1. */
  inc(...labels: LabelValues<N>): void
  add(value: number, ...labels: LabelValues<N>): void
  /** The total of these labels; a hot path keeps it and adds to it. */
  total(...labels: LabelValues<N>): { value: number }
}

/** A value and its labels. */
export type Reading<N extends FamilyName> = readonly [value: number, ...labels: LabelValues<N>]
type Readings<N extends FamilyName> = readonly Reading<N>[]

export interface Metrics {
  counter<N extends CounterName>(name: N): Counter<N>
  /** The buckets of these label values; keep them where the path is hot. */
  histogram<N extends HistogramName>(name: N, ...labels: LabelValues<N>): Buckets
  /** Reads a value at each scrape. Null if there is none now. */
  read<N extends ReadableName>(name: N, value: () => number | null | Promise<number | null>): void
  /** Likewise, of a family with labels. */
  readAll<N extends ReadableName>(name: N, values: () => Readings<N> | Promise<Readings<N>>): void
  /** In Prometheus' text format. */
  text(): Promise<string>
}

type Source = () => readonly Sample[] | Promise<readonly Sample[]>

export function createMetrics(): Metrics {
  const sources = new Map<FamilyName, Source>()
  const histograms = new Map<FamilyName, LabelledSet<Buckets>>()

  const register = (name: FamilyName, source: Source): void => {
    if (sources.has(name)) throw new Error(`${name} is registered twice`)
    sources.set(name, source)
  }

  const counter = <N extends CounterName>(name: N): Counter<N> => {
    const totals = createLabelledSet(() => ({ value: 0 }))
    register(name, () => totals.entries().map(([labels, { value }]) => sample(name, labels, value)))
    return {
      inc: (...labels) => {
        totals.of(labels).value += 1
      },
      add: (value, ...labels) => {
        totals.of(labels).value += value
      },
      total: (...labels) => totals.of(labels),
    }
  }

  const histogram = <N extends HistogramName>(name: N, ...labels: LabelValues<N>): Buckets => {
    let buckets = histograms.get(name)
    if (buckets === undefined) {
      const made = createLabelledSet(() => createBuckets(FAMILIES[name].buckets))
      histograms.set(name, (buckets = made))
      register(name, () =>
        made
          .entries()
          .flatMap(([values, each]) => bucketSamples(FAMILIES[name], named(name, values), each)),
      )
    }
    return buckets.of(labels)
  }

  const readAll: Metrics['readAll'] = (name, values) =>
    register(name, async () =>
      (await values()).map(([value, ...labels]) => sample(name, labels, value)),
    )

  const failures = counter('causeway_metric_read_failures_total')
  const textOf = async ([name, source]: readonly [FamilyName, Source]): Promise<string> => {
    try {
      return familyText(name, FAMILIES[name], await source())
    } catch {
      failures.inc(name)
      return ''
    }
  }

  return {
    counter,
    histogram,
    read: (name, value) =>
      register(name, async () => {
        const read = await value()
        return read === null ? [] : [sample(name, [], read)]
      }),
    readAll,
    text: async () => (await Promise.all([...sources].map(textOf))).join(''),
  }
}

const sample = (name: FamilyName, labels: readonly string[], value: number): Sample => ({
  ending: '',
  labels: named(name, labels),
  value,
})

const named = (name: FamilyName, values: readonly string[]): Sample['labels'] =>
  FAMILIES[name].labels.map((label, i) => [label, values[i] ?? ''] as const)

interface LabelledSet<V> {
  of(labels: readonly string[]): V
  entries(): readonly (readonly [labels: readonly string[], value: V])[]
}

/** No label value has a line break. */
function createLabelledSet<V>(make: () => V): LabelledSet<V> {
  const values = new Map<string, readonly [labels: readonly string[], value: V]>()
  return {
    of: (labels) => {
      const key = labels.length === 1 ? (labels[0] ?? '') : labels.join('\n')
      let entry = values.get(key)
      if (entry === undefined) values.set(key, (entry = [labels, make()]))
      return entry[1]
    },
    entries: () => [...values.values()],
  }
}
