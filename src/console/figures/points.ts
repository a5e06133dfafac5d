/**
 * What happened between two readings of the metrics: rates, quantiles, refusals.
 *
 * - A counter that has fallen began again at 0 with its process. The first reading of a process
 *   says nothing about a rate.
 * - In a cluster the books of a process are those of its shard; a process without one has none.
 */
import { SECOND, type Instant } from '../../base/clock.js'
import type { FamilyName, ProcessValues } from './metrics_text.js'

export interface Reading {
  readonly at: Instant
  /** By process, whose name has its ops port before it. */
  readonly processes: ReadonlyMap<string, ProcessValues>
}

/** In seconds. Null means that there was none. */
export interface Quantiles {
  readonly p50: number | null
  readonly p99: number | null
}

export interface BooksPoint {
  /** A second. */
  readonly created: number
  readonly captured: number
  readonly paidOut: number
  readonly commits: Quantiles
  /** The age of the oldest event, in seconds. */
  readonly outboxAge: number
}

export interface Point {
  readonly at: Instant
  /** By shard. The name is empty where there is only one set of books. */
  readonly books: ReadonlyMap<string, BooksPoint>
  readonly calls: Quantiles
  /** Counts by code. */
  readonly refusals: ReadonlyMap<string, number>
}

const REFUSALS: readonly (readonly [FamilyName, (label: string) => string])[] = [
  ['causeway_command_refusals_total', (code) => code],
  ['causeway_commands_rejected_total', (reason) => `not decided: ${reason}`],
  ['causeway_http_authentication_refusals_total', (reason) => `authentication: ${reason}`],
  ['causeway_http_limited_total', (limit) => `limit: ${limit}`],
]

export function pointBetween(before: Reading, after: Reading): Point | null {
  const seconds = (after.at - before.at) / SECOND
  if (seconds <= 0) return null
  const grown = [...after.processes].flatMap(([process, values]): readonly Grown[] => {
    const former = before.processes.get(process)
    return former === undefined ? [] : [{ values, by: (family) => growth(former, values, family) }]
  })
  return {
    at: after.at,
    books: booksOf(grown, seconds),
    calls: quantilesOf(grown, 'causeway_http_request_duration_seconds_bucket'),
    refusals: refusalsOf(grown),
  }
}

interface Grown {
  readonly values: ProcessValues
  readonly by: (family: FamilyName) => ReadonlyMap<string, number>
}

function growth(
  before: ProcessValues,
  after: ProcessValues,
  family: FamilyName,
): ReadonlyMap<string, number> {
  const former = before.get(family)
  const all = [...(after.get(family) ?? [])].map(([key, value]): [string, number] => {
    const known = former?.get(key) ?? 0
    return [key, value < known ? value : value - known]
  })
  return new Map(all)
}

function booksOf(all: readonly Grown[], seconds: number): ReadonlyMap<string, BooksPoint> {
  const owned = all.map((grown) => {
    const [shard] = grown.values.get('causeway_shard_epoch')?.keys() ?? []
    return { shard, grown }
  })
  const isCluster = owned.some(({ shard }) => shard !== undefined)
  const byShard = new Map<string, Grown[]>()
  for (const { shard, grown } of owned) {
    if (!grown.values.has('causeway_commit_duration_seconds_bucket')) continue
    if (isCluster && shard === undefined) continue
    byShard.set(shard ?? '', [...(byShard.get(shard ?? '') ?? []), grown])
  }
  const sorted = [...byShard].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return new Map(sorted.map(([shard, processes]) => [shard, booksPoint(processes, seconds)]))
}

function booksPoint(all: readonly Grown[], seconds: number): BooksPoint {
  const entered = sumOf(all, 'causeway_payment_transitions_total')
  const rate = (key: string): number => (entered.get(key) ?? 0) / seconds
  const ages = all.map(
    ({ values }) => values.get('causeway_outbox_oldest_age_seconds')?.get('') ?? 0,
  )
  return {
    created: rate('payment_intent created') + rate('payout created'),
    captured: rate('payment_intent captured'),
    paidOut: rate('payout completed'),
    commits: quantilesOf(all, 'causeway_commit_duration_seconds_bucket'),
    outboxAge: Math.max(0, ...ages),
  }
}

function refusalsOf(all: readonly Grown[]): ReadonlyMap<string, number> {
  const refusals = REFUSALS.flatMap(([family, nameOf]) =>
    [...sumOf(all, family)].map(([label, count]): [string, number] => [nameOf(label), count]),
  )
  return new Map(refusals.filter(([, count]) => count > 0))
}

function sumOf(all: readonly Grown[], family: FamilyName): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { by } of all)
    for (const [key, value] of by(family)) sums.set(key, (sums.get(key) ?? 0) + value)
  return sums
}

function quantilesOf(all: readonly Grown[], family: FamilyName): Quantiles {
  const buckets = [...sumOf(all, family)]
    .map(([bound, count]) => ({ bound: bound === '+Inf' ? Infinity : Number(bound), count }))
    .toSorted((one, other) => one.bound - other.bound)
  return { p50: quantile(buckets, 0.5), p99: quantile(buckets, 0.99) }
}

interface Bucket {
  readonly bound: number
  /** All up to the bound. */
  readonly count: number
}

/** Within a bucket observations are taken as spread evenly; above all bounds it is the last one. */
function quantile(buckets: readonly Bucket[], share: number): number | null {
  const total = buckets.at(-1)?.count ?? 0
  if (total <= 0) return null
  const rank = share * total
  const i = buckets.findIndex(({ count }) => count >= rank)
  const below = buckets[i - 1] ?? { bound: 0, count: 0 }
  const { bound, count } = buckets[i]!
  if (bound === Infinity) return below.bound
  return below.bound + ((bound - below.bound) * (rank - below.count)) / (count - below.count)
}
