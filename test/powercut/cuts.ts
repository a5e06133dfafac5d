/**
 * Power cuts at many points of one recording, by seed.
 *
 * Owns: the choice of points, cuts and images on which a stack starts; the faults that must be
 * detected. Does not own: images (trace), their checks (check).
 */
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { faultsIn, faultsOnStart, withImage } from './check.js'
import { CUTS, imageAfter, type CrashPoint } from './trace.js'
import type { Acknowledged, Recording } from './workload.js'

const SECTORS = [512, 4096] as const

/** The kinds of cut alternate; half of the cuts come right after an answer. */
export function crashPoint(
  { trace, acknowledged }: Recording,
  seed: number,
  n: number,
): CrashPoint {
  const random = createSeededRandom(seed, n)
  const first = acknowledged[0]?.position ?? 0
  const records = trace.records.filter(({ end }) => end >= first)
  const position = random.once(2) ? random.pick(acknowledged).position : random.pick(records).end
  return { position, cut: CUTS[n % CUTS.length] ?? 'none', sectorBytes: random.pick(SECTORS) }
}

export const nameOf = ({ position, cut, sectorBytes }: CrashPoint): string =>
  `cut at ${position}, ${cut} of the unsynced writes kept, sectors of ${sectorBytes}`

const before = ({ acknowledged }: Recording, position: number): Acknowledged[] =>
  acknowledged.filter((one) => one.position <= position)

/** @returns faults of the image and of the stack that is started on it */
export async function faultsAfter(
  recording: Recording,
  point: CrashPoint,
  seed: number,
  start: boolean,
): Promise<string[]> {
  const image = imageAfter(recording.trace, point, createSeededRandom(seed, point.position))
  const faults = await withImage(recording, image, (folder) =>
    faultsIn(folder, before(recording, point.position)),
  )
  if (!start || faults.length > 0) return faults
  return withImage(recording, image, (folder) => faultsOnStart(folder, recording, point.position))
}

/** Files whose fsync is omitted; each must be detected. */
export const MUTANTS: Readonly<Record<string, (name: string) => boolean>> = {
  'no fsync at all, as with synchronous=OFF': () => true,
  'no fsync of a WAL, as of a commit with synchronous=NORMAL': (name) => name.endsWith('-wal'),
  'no fsync of the processor’s WAL': (name) => name === 'processor.db-wal',
  'no fsync of the rail’s journal': (name) => name === 'rail.db-wal',
  'no fsync of the webhook pool’s WAL': (name) => name === 'webhooks.db-wal',
}

/**
 * Writes before the first answer stay intact. @returns the number of images until the mutant is
 * detected; null when none of them detects it
 */
export async function imagesUntilDetected(
  recording: Recording,
  files: (name: string) => boolean,
  seed: number,
  limit: number,
): Promise<number | null> {
  const unsynced = { from: recording.acknowledged[0]?.position ?? 0, files }
  for (let n = 0; n < limit; n++) {
    const point = { ...crashPoint(recording, seed, n), unsynced }
    if ((await faultsAfter(recording, point, seed, false)).length > 0) return n + 1
  }
  return null
}
