/** A ZIP archive of a few text files, which programs of every system open. */
import { deflateRawSync } from 'node:zlib'

export interface ArchivedFile {
  /** With slashes. */
  readonly path: string
  readonly content: Buffer
}

const LOCAL_HEADER = 0x04034b50
const CENTRAL_HEADER = 0x02014b50
const END = 0x06054b50
const VERSION = 20
const UTF8_NAMES = 0x0800
const DEFLATED = 8
/** 1980-01-01, the first day of the format: the same files make the same archive. */
const DAY = (1 << 5) | 1

export function zipOf(files: readonly ArchivedFile[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, content } of files) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(content)
    const described = descriptionOf(name, content, packed)
    const body = Buffer.concat([uint32(LOCAL_HEADER), described, name, packed])
    // Without a comment and attributes; of disk 0.
    const location = Buffer.concat([Buffer.alloc(10), uint32(offset)])
    directory.push(uint32(CENTRAL_HEADER), uint16(VERSION), described, location, name)
    bodies.push(body)
    offset += body.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const counts = Buffer.concat([uint16(files.length), uint16(files.length)])
  const end = [uint32(END), Buffer.alloc(4), counts, uint32(size), uint32(offset), uint16(0)]
  return Buffer.concat([...bodies, ...directory, ...end])
}

/** What both headers have of a file. */
const descriptionOf = (name: Buffer, content: Buffer, packed: Buffer): Buffer =>
  Buffer.concat([
    ...[uint16(VERSION), uint16(UTF8_NAMES), uint16(DEFLATED), uint16(0), uint16(DAY)],
    ...[uint32(crc32(content)), uint32(packed.length), uint32(content.length)],
    ...[uint16(name.length), uint16(0)],
  ])

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Reversed, as ZIP has it. */
const POLYNOMIAL = 0xedb88320

/** Bit by bit: zlib.crc32 needs a newer Node, and the files are small. */
function crc32(content: Buffer): number {
  let remainder = -1
  for (const byte of content) {
    remainder ^= byte
    for (let bit = 0; bit < 8; bit++) {
      remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0)
    }
  }
  return ~remainder >>> 0
}
