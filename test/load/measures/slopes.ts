/**
 * What grows over a long load.
 *
 * Owns: the slope of memory and open files of each process. Does not own: what is a leak: caches
 * fill, and tables of keys and nonces grow with what they hold.
 *
 * G1. The first third is left out: there everything grows.
 */
import type { Sample } from './sampler.js'

export interface Growth {
  readonly name: string
  readonly rssMiBPerHour: number
  readonly handlesPerHour: number
}

const HOUR_MS = 3_600_000
const WARM_UP_SHARE = 1 / 3

export function slopesOf(samples: readonly Sample[]): readonly Growth[] {
  const last = samples.at(-1)?.at ?? 0
  const settled = samples.filter(({ at }) => at >= last * WARM_UP_SHARE)
  return Object.keys(samples[0]?.rssMiB ?? {}).map((name) => ({
    name,
    rssMiBPerHour: HOUR_MS * slopeOf(settled.map(({ at, rssMiB }) => [at, rssMiB[name] ?? 0])),
    handlesPerHour: HOUR_MS * slopeOf(settled.map(({ at, handles }) => [at, handles[name] ?? 0])),
  }))
}

/** Least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const meanX = mean(([x]) => x)
  const meanY = mean(([, y]) => y)
  const spread = mean(([x]) => (x - meanX) ** 2)
  return spread > 0 ? mean(([x, y]) => (x - meanX) * (y - meanY)) / spread : 0
}
