/**
 * The possible states of the databases after a power cut, computed from a trace of writes and
 * fsyncs.
 *
 * Owns: the trace's form (test/powercut/preload.c writes it), which changes a disk must keep and
 * which it may keep. Does not own: the checks of an image (check).
 *
 * - A change is kept when an fsync of its file began after it and ended before the cut.
 * - A disk may keep any part of the other changes in any order: none, all, some, or some sectors.
 * - The fsync of a file keeps its name as well, as on ext4, xfs and btrfs.
 */
import { readFileSync } from 'node:fs'
import type { SeededRandom } from '../fuzz/seeded_random.js'

const MAGIC = 0x54554350
const HEADER_BYTES = 48
const NAME_AT = 24
const OP = { write: 1, truncate: 2, syncBegin: 3, syncEnd: 4, unlink: 5 } as const

interface Change {
  readonly op: number
  readonly offset: number
  readonly data: Buffer
}

interface TraceRecord extends Change {
  readonly name: string
  /** The number of an fsync. */
  readonly number: bigint
  /** The trace's length with this record. */
  readonly end: number
}

export interface Trace {
  readonly records: readonly TraceRecord[]
  /** How often each file was synced. */
  readonly syncs: ReadonlyMap<string, number>
}

export const CUTS = ['none', 'all', 'some', 'torn'] as const
export type Cut = (typeof CUTS)[number]

export interface CrashPoint {
  /** The length of the trace at the cut; later records are ignored. */
  readonly position: number
  readonly cut: Cut
  readonly sectorBytes: number
  /** Files whose fsync is omitted from this position on: a fault that must be detected. */
  readonly unsynced?: { readonly from: number; readonly files: (name: string) => boolean }
}

export function readTrace(file: string): Trace {
  const bytes = readFileSync(file)
  const records: TraceRecord[] = []
  const syncs = new Map<string, number>()
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    if (bytes.readUInt32LE(at) !== MAGIC) throw new Error(`the trace is damaged at ${at}`)
    const op = bytes.readUInt32LE(at + 4)
    const number = bytes.readBigUInt64LE(at + 8)
    const dataAt = at + HEADER_BYTES
    const end = dataAt + bytes.readUInt32LE(at + 16)
    const name = bytes.toString('latin1', at + NAME_AT, dataAt).replace(/\0.*$/, '')
    const data = bytes.subarray(dataAt, end)
    records.push({ op, name, number, offset: Number(number), data, end })
    if (op === OP.syncEnd) syncs.set(name, (syncs.get(name) ?? 0) + 1)
    at = end
  }
  return { records, syncs }
}

/** The files after a cut, by name. */
export function imageAfter(
  { records }: Trace,
  point: CrashPoint,
  random: SeededRandom,
): ReadonlyMap<string, Buffer> {
  const disks = new Map<string, Disk>()
  const isLeftOut = ({ name, end }: TraceRecord): boolean =>
    point.unsynced !== undefined && end > point.unsynced.from && point.unsynced.files(name)
  for (const record of records) {
    if (record.end > point.position) break
    const disk = disks.get(record.name) ?? createDisk()
    disks.set(record.name, disk)
    if (record.op === OP.syncBegin) disk.syncBegins(record.number)
    else if (record.op !== OP.syncEnd) disk.change(record)
    else if (!isLeftOut(record)) disk.syncEnds(record.number)
  }
  const image = new Map<string, Buffer>()
  for (const [name, disk] of disks) {
    const left = disk.afterCut(point, random)
    if (left !== undefined) image.set(name, left)
  }
  return image
}

interface Disk {
  change(change: Change): void
  syncBegins(number: bigint): void
  syncEnds(number: bigint): void
  /** Undefined means that the file is not there. */
  afterCut(point: CrashPoint, random: SeededRandom): Buffer | undefined
}

function createDisk(): Disk {
  const kept = createContent()
  let pending: Change[] = []
  let dropped = 0
  /** Number of changes at the start of an fsync. */
  const begun = new Map<bigint, number>()
  return {
    change: (change) => void pending.push(change),
    syncBegins: (number) => void begun.set(number, dropped + pending.length),
    syncEnds: (number) => {
      const covered = Math.max(0, (begun.get(number) ?? 0) - dropped)
      for (const change of pending.slice(0, covered)) kept.apply(change)
      pending = pending.slice(covered)
      dropped += covered
    },
    afterCut: ({ cut, sectorBytes }, random) => {
      for (const change of pending) {
        for (const part of cut === 'torn' ? sectorsOf(change, sectorBytes) : [change]) {
          if (cut === 'all' || (cut !== 'none' && random.int(2) === 1)) kept.apply(part)
        }
      }
      return kept.bytes()
    },
  }
}

function sectorsOf(change: Change, sectorBytes: number): Change[] {
  if (change.op !== OP.write) return [change]
  const parts: Change[] = []
  for (let at = 0; at < change.data.length;) {
    const end = at + sectorBytes - ((change.offset + at) % sectorBytes)
    parts.push({ ...change, offset: change.offset + at, data: change.data.subarray(at, end) })
    at = end
  }
  return parts
}

function createContent() {
  let bytes = Buffer.alloc(0)
  let size = 0
  let isThere = false
  const resize = (to: number): void => {
    if (to > bytes.length) bytes = Buffer.concat([bytes], Math.max(to, 2 * bytes.length))
    if (to < size) bytes.fill(0, to, size)
    size = to
  }
  return {
    apply: ({ op, offset, data }: Change): void => {
      isThere = op !== OP.unlink
      if (op === OP.unlink) return resize(0)
      if (op === OP.truncate) return resize(offset)
      resize(Math.max(size, offset + data.length))
      data.copy(bytes, offset)
    },
    bytes: (): Buffer | undefined => (isThere ? Buffer.from(bytes.subarray(0, size)) : undefined),
  }
}
