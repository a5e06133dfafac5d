/**
 * Growth over a long load: the slope of memory and open files of each process.
 *
 * - The first third is ignored, as caches fill there.
 * - Flat means that the measured part grew by less than a twentieth of its size, or by two files.
 * - A part of less than ten minutes has no verdict, as caches fill and code is compiled. Nor has
 *   the client, which is not under test.
 */
import type { Resources } from './process_usage.js'
import { finding, type Finding } from './result.js'

const HOUR_MS = 3_600_000
const WARM_UP_SHARE = 1 / 3
const GROWTH_MAX = 0.05
const FILES_MAX = 2
const JUDGED_HOURS_MIN = 1 / 6

type Point = readonly [x: number, y: number]

export function growthFindings(samples: readonly Resources[]): readonly Finding[] {
  const last = samples.at(-1)?.at ?? 0
  const settled = samples.filter(({ at }) => at >= last * WARM_UP_SHARE)
  const hours = (last - (settled[0]?.at ?? last)) / HOUR_MS
  return Object.keys(samples[0]?.rssMiB ?? {}).flatMap((name) => {
    const memory = settled.map(({ at, rssMiB }): Point => [at, rssMiB[name] ?? 0])
    const files = settled.map(({ at, openFiles }): Point => [at, openFiles[name] ?? 0])
    const isJudged = hours >= JUDGED_HOURS_MIN && name !== 'client'
    const atMost = (growth: number) => (isJudged ? { atMost: growth / hours } : undefined)
    const mib = GROWTH_MAX * meanOf(memory, 1)
    const more = Math.max(FILES_MAX, GROWTH_MAX * meanOf(files, 1))
    return [
      finding(`${name}: memory`, HOUR_MS * slopeOf(memory), 'MiB/h', atMost(mib)),
      finding(`${name}: open files`, HOUR_MS * slopeOf(files), '/h', atMost(more)),
    ]
  })
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
