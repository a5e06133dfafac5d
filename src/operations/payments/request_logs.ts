/**
 * The log lines of one request on this machine: reads and refused requests are in no book.
 *
 * - A request id has its time, and lines are in the order of time: each file is bisected, and only
 *   the part around that time is read.
 * - Lines for people (LOG_FORMAT=pretty) have no fields and are not found.
 */
import { open, readdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { instant, MINUTE, SECOND, toRfc3339 } from '../../base/clock.js'
import { instantOf, isIdOf } from '../../base/ids.js'

export interface LoggedLine {
  readonly at: string
  readonly process: string
  readonly message: string
  /** The other fields, such as `status` and `code`, as text. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** The folder in DATA_DIR. */
export const LOGS_FOLDER = 'logs'
const LOG_FILE = /\.log(\.1)?$/
/** What a request causes is logged later, and clocks differ. */
const BEFORE_MS = 5 * SECOND
const AFTER_MS = 2 * MINUTE
const CHUNK_BYTES = 256 * 1_024
/** A line is shorter. */
const LINE_MAX_BYTES = 64 * 1_024
/** More of one file is not read: such a busy minute needs other tools. */
const READ_MAX_BYTES = 32 * 1_024 * 1_024
const LINES_MAX = 100
const TIME = /"time":"([^"]+)"/

export const isRequestId = (text: string): boolean => isIdOf('request', text)

/** In the order of time. Undefined means that this machine has no such folder. */
export async function linesOfRequest(
  folder: string,
  requestId: string,
): Promise<readonly LoggedLine[] | undefined> {
  const names = await readdir(folder).catch(() => undefined)
  if (names === undefined) return undefined
  const files = names.filter((name) => LOG_FILE.test(name)).map((name) => join(folder, name))
  const found = await Promise.all(files.map((file) => linesIn(file, requestId)))
  return found
    .flat()
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .slice(0, LINES_MAX)
}

/** Nothing of a file that is renamed or removed meanwhile. */
async function linesIn(file: string, requestId: string): Promise<readonly LoggedLine[]> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return []
  try {
    return await around(handle, requestId)
  } finally {
    await handle.close()
  }
}

async function around(handle: FileHandle, requestId: string): Promise<readonly LoggedLine[]> {
  const at = instantOf(requestId)
  const until = toRfc3339(instant(at + AFTER_MS))
  let from = await firstFrom(handle, toRfc3339(instant(Math.max(0, at - BEFORE_MS))))
  const found: LoggedLine[] = []
  for (let read = 0; read < READ_MAX_BYTES;) {
    const { lines, next } = await wholeLines(handle, from)
    if (next === from) return found
    read += next - from
    from = next
    for (const line of lines) {
      if (line.includes(requestId)) found.push(...lineOf(line, requestId))
    }
    if ((timeIn(lines.findLast(hasTime) ?? '') ?? '') > until) return found
  }
  return found
}

/** An offset at or before the first line of that time or later. */
async function firstFrom(handle: FileHandle, time: string): Promise<number> {
  let low = 0
  let { size: high } = await handle.stat()
  while (high - low > CHUNK_BYTES) {
    const middle = Math.floor((low + high) / 2)
    const [, ...lines] = (await textAt(handle, middle, LINE_MAX_BYTES)).split('\n')
    const found = timeIn(lines.find(hasTime) ?? '')
    if (found === undefined || found >= time) high = middle
    else low = middle
  }
  return low
}

/** The lines that end in the next chunk, and where the first one after them begins. */
async function wholeLines(
  handle: FileHandle,
  from: number,
): Promise<{ readonly lines: readonly string[]; readonly next: number }> {
  const bytes = await bytesAt(handle, from, CHUNK_BYTES)
  const end = bytes.lastIndexOf(0x0a)
  const length = end === -1 ? bytes.length : end + 1
  return { lines: bytes.toString('utf8', 0, length).split('\n'), next: from + length }
}

async function bytesAt(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, from)
  return buffer.subarray(0, bytesRead)
}

const textAt = async (handle: FileHandle, from: number, length: number): Promise<string> =>
  (await bytesAt(handle, from, length)).toString('utf8')

const timeIn = (line: string): string | undefined => TIME.exec(line)?.[1]
const hasTime = (line: string): boolean => TIME.test(line)

const KNOWN: ReadonlySet<string> = new Set(['time', 'level', 'process', 'message', 'request_id'])

function lineOf(line: string, requestId: string): readonly LoggedLine[] {
  const record = recordIn(line)
  if (record?.['request_id'] !== requestId) return []
  const text = (name: string): string => textOf(record[name])
  const others = Object.keys(record).filter((name) => !KNOWN.has(name))
  return [
    {
      ...{ at: text('time'), process: text('process'), message: text('message') },
      fields: others.map((name) => [name, text(name)] as const),
    },
  ]
}

function recordIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const record: unknown = JSON.parse(line)
    return typeof record === 'object' && record !== null
      ? (record as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
