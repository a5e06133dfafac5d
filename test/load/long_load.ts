/**
 * What a long load shows: growth of memory and open files, and dead rows of PostgreSQL.
 *
 * - The first third is ignored for growth, as caches fill there.
 * - Flat means that the measured part grew by less than a twentieth of its size, or by two files:
 *   the memory of the process, and what of it a collection leaves (heap_recorder).
 * - A part of less than ten minutes has no verdict, as caches fill and code is compiled. Nor has
 *   the client, which is not under test.
 * - Rows are read from the server's statistics, which it updates after each transaction.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { storedRows } from '../support/stored_rows.js'
import type { HeapSample } from './heap_recorder.js'
import type { Resources, Watched } from './process_usage.js'
import { finding, type Finding } from './result.js'
import type { Stack } from './stacks.js'

const HOUR_MS = 3_600_000
const WARM_UP_SHARE = 1 / 3
const GROWTH_MAX = 0.05
const FILES_MAX = 2
const JUDGED_HOURS_MIN = 1 / 6

type Point = readonly [x: number, y: number]

export function growthFindings(samples: readonly Resources[]): readonly Finding[] {
  return Object.keys(samples[0]?.rssMiB ?? {}).flatMap((name) => {
    const points = (of: (sample: Resources) => Readonly<Record<string, number>>) =>
      samples.map((sample): Point => [sample.at, of(sample)[name] ?? 0])
    const memory = points(({ rssMiB }) => rssMiB)
    const files = points(({ openFiles }) => openFiles)
    const isJudged = name !== 'client'
    return [
      growth(`${name}: memory`, memory, 'MiB/h', { isJudged }),
      growth(`${name}: open files`, files, '/h', { isJudged, atLeast: FILES_MAX }),
    ]
  })
}

/** By process. */
export type Heaps = Readonly<Record<string, readonly HeapSample[]>>

/** @returns settings of a stack whose programs record their heaps, and what reads the records */
export function startHeaps(folder: string, everyMs: number) {
  const recorder = new URL('./heap_recorder.js', import.meta.url)
  recorder.search = String(new URLSearchParams({ folder, every_ms: String(everyMs) }))
  /** @param from epoch milliseconds, from which the samples count */
  const read = (watched: readonly Watched[], from: number): Heaps => {
    const samplesOf = ({ pid }: Watched): HeapSample[] => {
      const file = join(folder, `${pid}.heap`)
      if (!existsSync(file)) return [] // not a program of ours
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
      const samples = lines.map((line) => JSON.parse(line) as HeapSample)
      return samples.map(({ at, bytes }) => ({ at: at - from, bytes })).filter(({ at }) => at >= 0)
    }
    const read = watched.map((one) => [one.name, samplesOf(one)] as const)
    return Object.fromEntries(read.filter(([, samples]) => samples.length > 0))
  }
  return { settings: { NODE_OPTIONS: `--import=${recorder.href}` }, read }
}

export function heapFindings(heaps: Heaps): readonly Finding[] {
  return Object.entries(heaps).map(([name, samples]) => {
    const points = samples.map(({ at, bytes }): Point => [at, bytes / 1_048_576])
    return growth(`${name}: in use after a collection`, points, 'MiB/h', { isJudged: true })
  })
}

/**
 * The slope after the first third.
 *
 * @param atLeast growth that is always allowed
 */
function growth(
  name: string,
  points: readonly Point[],
  unit: string,
  { isJudged, atLeast = 0 }: { readonly isJudged: boolean; readonly atLeast?: number },
): Finding {
  const last = points.at(-1)?.[0] ?? 0
  const settled = points.filter(([at]) => at >= last * WARM_UP_SHARE)
  const hours = (last - (settled[0]?.[0] ?? last)) / HOUR_MS
  const most = Math.max(atLeast, GROWTH_MAX * meanOf(settled, 1)) / hours
  const target = isJudged && hours >= JUDGED_HOURS_MIN ? { atMost: most } : undefined
  return finding(name, HOUR_MS * slopeOf(settled), unit, target)
}

/** Least squares. */
export function slopeOf(points: readonly Point[]): number {
  const [meanX, meanY] = [meanOf(points, 0), meanOf(points, 1)]
  const sum = (of: (point: Point) => number): number =>
    points.reduce((total, point) => total + of(point), 0)
  const spread = sum(([x]) => (x - meanX) ** 2)
  return spread > 0 ? sum(([x, y]) => (x - meanX) * (y - meanY)) / spread : 0
}

const meanOf = (points: readonly Point[], axis: 0 | 1): number =>
  points.reduce((sum, point) => sum + point[axis], 0) / Math.max(1, points.length)

/** `bytes` with indexes. */
type Amounts = Readonly<Record<'live' | 'dead' | 'vacuums' | 'bytes', number>>
type TableRows = Amounts & { readonly table: string }

/** Dead rows of smaller tables are ignored: a full read of them is fast. */
const JUDGED_ROWS_MIN = 10_000
/** A vacuum begins at a fiftieth of busy tables, at a fifth of the others. */
const DEAD_SHARE_MAX = 0.5

const TABLE_ROWS = `SELECT schemaname || '.' || relname AS "table", n_live_tup AS live,
    n_dead_tup AS dead, autovacuum_count AS vacuums, pg_total_relation_size(relid) AS bytes
  FROM pg_stat_user_tables WHERE n_live_tup + n_dead_tup > 0`

/** Samples the tables of the processor during a load. @returns what ends it and has the samples */
export function sampleTables({ dataDir, store }: Stack, sampleMs: number) {
  const samples: Promise<readonly TableRows[]>[] = []
  const sample = (): void => {
    const rows = storedRows<TableRows>(dataDir, store, 'processor', TABLE_ROWS)
    rows.catch(() => undefined) // the end rejects
    samples.push(rows)
  }
  sample()
  const timer = setInterval(sample, sampleMs)
  return () => {
    clearInterval(timer)
    sample()
    return Promise.all(samples)
  }
}

export function deadRowFindings(samples: readonly (readonly TableRows[])[]): readonly Finding[] {
  const share = ({ live, dead }: TableRows): number => dead / Math.max(1, live + dead)
  const [worst] = samples
    .flat()
    .filter(({ live, dead }) => live + dead >= JUDGED_ROWS_MIN)
    .sort((one, other) => share(other) - share(one))
  const total = (of: keyof Amounts): number =>
    (samples.at(-1) ?? []).reduce((sum, row) => sum + row[of], 0)
  const name = `dead rows, largest share${worst === undefined ? '' : ` (${worst.table})`}`
  return [
    finding(name, worst === undefined ? 0 : share(worst), '', { atMost: DEAD_SHARE_MAX }),
    finding('dead rows at the end', total('dead'), ''),
    finding('live rows at the end', total('live'), ''),
    finding('vacuums by autovacuum', total('vacuums'), ''),
    finding('tables and indexes at the end', total('bytes') / 1_048_576, 'MiB'),
  ]
}
