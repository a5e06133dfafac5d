/**
 * What grows over a long load.
 *
 * Owns: the slope of memory and open files of each process, and how steep it may be. Does not own:
 * why something grows: caches fill, and tables of keys and nonces grow with what they hold.
 *
 * - The first third is left out: there everything grows.
 * - Flat is what grew, over the part that is measured, by less than a twentieth of its size.
 *   Collections make memory swing by some five per cent; over a hundred looks and more that
 *   leaves a slope of nothing within two per cent, so a twentieth is a slope, and no swing. The
 *   longer the soak, the smaller is the slope that is found.
 * - Of open files and sockets one or two more are no slope, however few there are.
 * - A part of less than ten minutes has no verdict: there code is still compiled, caches fill.
 *   Nor has the client, which is not what is measured.
 */
import { finding, type Finding } from '../report/result.js'
import type { Sample } from './sampler.js'

export interface Growth {
  readonly name: string
  /** Of the part that is measured. */
  readonly hours: number
  /** On average, and how it grows. */
  readonly rssMiB: number
  readonly rssMiBPerHour: number
  readonly handles: number
  readonly handlesPerHour: number
}

const HOUR_MS = 3_600_000
const WARM_UP_SHARE = 1 / 3
const GROWN_SHARE_MAX = 0.05
const HANDLES_MAX = 2
const JUDGED_HOURS_MIN = 1 / 6

export const growthFindings = (samples: readonly Sample[]): readonly Finding[] =>
  slopesOf(samples).flatMap(({ name, hours, ...of }) => {
    const isJudged = hours >= JUDGED_HOURS_MIN && name !== 'client'
    const grownBy = (most: number) => (isJudged ? { atMost: most / hours } : undefined)
    const moreMiB = GROWN_SHARE_MAX * of.rssMiB
    const moreHandles = Math.max(HANDLES_MAX, GROWN_SHARE_MAX * of.handles)
    return [
      finding(`${name}: memory`, of.rssMiBPerHour, 'MiB/h', grownBy(moreMiB)),
      finding(`${name}: open files`, of.handlesPerHour, '/h', grownBy(moreHandles)),
    ]
  })

export function slopesOf(samples: readonly Sample[]): readonly Growth[] {
  const last = samples.at(-1)?.at ?? 0
  const settled = samples.filter(({ at }) => at >= last * WARM_UP_SHARE)
  const hours = (last - (settled[0]?.at ?? last)) / HOUR_MS
  return Object.keys(samples[0]?.rssMiB ?? {}).map((name) => {
    const memory = settled.map(({ at, rssMiB }): Point => [at, rssMiB[name] ?? 0])
    const open = settled.map(({ at, handles }): Point => [at, handles[name] ?? 0])
    return {
      name,
      hours,
      rssMiB: meanOf(memory, ([, mib]) => mib),
      rssMiBPerHour: HOUR_MS * slopeOf(memory),
      handles: meanOf(open, ([, count]) => count),
      handlesPerHour: HOUR_MS * slopeOf(open),
    }
  })
}

type Point = readonly [x: number, y: number]

/** Least squares. */
export function slopeOf(points: readonly Point[]): number {
  const meanX = meanOf(points, ([x]) => x)
  const meanY = meanOf(points, ([, y]) => y)
  const spread = meanOf(points, ([x]) => (x - meanX) ** 2)
  return spread > 0 ? meanOf(points, ([x, y]) => (x - meanX) * (y - meanY)) / spread : 0
}

const meanOf = (points: readonly Point[], of: (point: Point) => number): number =>
  points.reduce((sum, point) => sum + of(point), 0) / Math.max(1, points.length)
