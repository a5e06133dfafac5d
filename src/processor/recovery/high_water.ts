/**
 * The high-water mark: how far the books had come, kept in a small file beside them.
 *
 * Owns: when the mark is written, and its text. Does not own: the file (recovery/high_water_file),
 * what follows when the books are behind it (recovery/marks).
 *
 * - The mark names only commits that are on disk. It may lag behind the books and is never ahead of
 *   them: a mark that is ahead proves that the books are an older copy, or other books.
 * - A mark that is ahead of the books stays until these have come further, which takes a new epoch:
 *   it is the evidence.
 * - It is written at most once in WRITE_EVERY_MS and at a clean stop, beside commits. A mark that
 *   cannot be written lags; that stops nothing.
 */
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Progress } from '../../store/progress.js'

const WRITE_EVERY_MS = SECOND

export interface HighWaterOptions {
  /** Replaces the mark in one step. */
  readonly write: (mark: string) => Promise<void>
  /** The mark that was found; undefined when there is none. */
  readonly found: Progress | undefined
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

export interface HighWater {
  /** Called after each commit, when it is on disk. */
  committed(progress: Progress): void
  /** Writes what is not written yet. Nothing is written afterwards. */
  stop(): Promise<void>
}

export function createHighWater({ write, found, pause, log }: HighWaterOptions): HighWater {
  let unwritten: Progress | undefined
  let running = false
  let stopped = false
  let writing: Promise<void> = Promise.resolve()

  const writeNewest = (): Promise<void> => {
    if (unwritten === undefined) return writing
    const mark = toText(unwritten)
    unwritten = undefined
    writing = write(mark).catch((error: unknown) => {
      log.warn({ err: error }, 'high-water mark not written')
    })
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

/** Of other books no batch can be compared, only the epoch. */
export function isAhead(mark: Progress, books: Progress): boolean {
  if (mark.epoch !== books.epoch) return mark.epoch > books.epoch
  return mark.booksId !== books.booksId || mark.lastBatch > books.lastBatch
}

function toText({ booksId, epoch, lastBatch }: Progress): string {
  return `${JSON.stringify({ books: booksId, epoch, batch: lastBatch })}\n`
}

/** @returns undefined when the text is no mark, as after a power cut in the midst of its writing */
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
