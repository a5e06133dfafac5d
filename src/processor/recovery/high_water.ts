/**
 * The high-water mark: the progress of the books, in a small file beside them.
 *
 * Owns: the file, its text and when it is written. Does not own: handling books that are behind it
 * (recovery/marks).
 *
 * - The mark names only commits that are on disk. It may lag behind the books and is never ahead of
 *   them: a mark that is ahead proves that the books are an older copy, or other books.
 * - A mark that is ahead of the books is kept as evidence until the books pass it, which takes the
 *   epoch of an accepted loss. On PostgreSQL a take-over begins an epoch as well; it accepts none.
 * - It is written beside commits, at most once in WRITE_EVERY_MS, and at a clean stop. A failed
 *   write leaves an older mark and stops nothing.
 */
import { readFileSync } from 'node:fs'
import { open, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SECOND } from '../../base/clock.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Logger } from '../../base/log.js'
import type { Progress } from '../../store/progress.js'

const WRITE_EVERY_MS = SECOND

export interface HighWaterOptions {
  /** Replaces the mark in one step. */
  readonly write: (mark: string) => Promise<void>
  /** The mark found at start; undefined when there is none. */
  readonly found: Progress | undefined
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

export interface HighWater {
  /** Called after each commit is on disk. */
  committed(progress: Progress): void
  /** Writes the newest mark. Nothing is written afterwards. */
  stop(): Promise<void>
}

export function createHighWater({ write, found, pause, log }: HighWaterOptions): HighWater {
  let unwritten: Progress | undefined
  let running = false
  let stopped = false
  let writing: Promise<void> = Promise.resolve()
  let hasFailed = false

  const writeNewest = (): Promise<void> => {
    if (unwritten === undefined) return writing
    const mark = toText(unwritten)
    unwritten = undefined
    writing = write(mark).then(
      () => {
        hasFailed = false
      },
      (error: unknown) => {
        // Once, because each second has another one.
        if (!hasFailed) log.error({ error }, 'high-water mark not written')
        hasFailed = true
      },
    )
    return writing
  }

  const run = async (): Promise<void> => {
    running = true
    while (unwritten !== undefined && !stopped) {
      await writeNewest()
      await pause(WRITE_EVERY_MS)
    }
    running = false
  }

  return {
    committed: (progress) => {
      if (found !== undefined && isAhead(found, progress)) return
      unwritten = progress
      if (!running && !stopped) void run()
    },
    stop: async () => {
      stopped = true
      await writing
      await writeNewest()
    },
  }
}

/** Up to the epoch in which a loss was accepted, the numbers of commits cannot be compared. */
export function isAhead(mark: Progress, books: Progress): boolean {
  const { epoch, acceptedEpoch = epoch } = books
  if (mark.epoch > epoch) return true
  if (mark.epoch < acceptedEpoch) return false
  return mark.booksId !== books.booksId || mark.lastBatch > lastBatchFor(mark, books)
}

/**
 * The last commit of the books that a mark can be compared with: those of a later epoch do not make
 * up for lost ones.
 */
export const lastBatchFor = ({ epoch }: Progress, books: Progress): number =>
  epoch < books.epoch ? (books.lastBatchBefore ?? books.lastBatch) : books.lastBatch

function toText({ booksId, epoch, lastBatch }: Progress): string {
  return `${JSON.stringify({ books: booksId, epoch, batch: lastBatch })}\n`
}

/** @returns undefined when the text is not a mark, as after a power cut during its write */
export function readHighWater(text: string): Progress | undefined {
  const { books, epoch, batch } = membersOf(text)
  if (typeof books !== 'string' || !isCount(epoch) || !isCount(batch)) return undefined
  return { booksId: books, epoch, lastBatch: batch }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null
    return isObject ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

/** @returns undefined when the file does not exist */
export function readMarkFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file by a rename. File and folder are synced: a power cut leaves a whole mark. */
export async function replaceMarkFile(path: string, text: string): Promise<void> {
  const written = `${path}.new`
  await writeFile(written, text, { mode: 0o600, flush: true })
  crashPoint('high_water.written')
  await rename(written, path)
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}
