/**
 * The file that a process writes its log to.
 *
 * Owns: its opening, its bound, and reading what a process said last. Does not own: what is logged.
 *
 * L1. A file above its bound is kept as `.old` at the next start of its process; with the one
 *     before it, that is all a process ever keeps.
 */
import { closeSync, openSync, readSync, renameSync, statSync, type Stats } from 'node:fs'

/** Some hundred thousand lines. */
const KEEP_BYTES = 64 * 1024 * 1024
const LAST_WORDS_BYTES = 16 * 1024
const LAST_WORDS_MAX_CHARACTERS = 400

export interface LogFile {
  /** For a child's stdout and stderr. */
  readonly descriptor: number
  /** Its last line since it was opened, as a person would say it; empty when there is none. */
  lastWords(): string
  close(): void
}

export function openLogFile(path: string): LogFile {
  const before = statOf(path)
  if (before !== undefined && before.size > KEEP_BYTES) renameSync(path, `${path}.old`)
  const descriptor = openSync(path, 'a', 0o600)
  const start = statOf(path)?.size ?? 0
  return {
    descriptor,
    lastWords: () => saidSince(path, start),
    close: () => closeSync(descriptor),
  }
}

function saidSince(path: string, start: number): string {
  const size = statOf(path)?.size ?? 0
  const from = Math.max(start, size - LAST_WORDS_BYTES)
  if (from >= size) return ''
  const bytes = Buffer.alloc(size - from)
  const file = openSync(path, 'r')
  try {
    readSync(file, bytes, 0, bytes.length, from)
  } finally {
    closeSync(file)
  }
  const last = bytes.toString('utf8').split('\n').findLast(isStatement) ?? ''
  return plainly(last).slice(0, LAST_WORDS_MAX_CHARACTERS)
}

/** Node ends an uncaught error with indented details, its place, and its own version. */
const isStatement = (line: string): boolean => /^(?!Node\.js v|file:|node:)[^\s}\])^]/.test(line)

/** A JSON log line is reduced to its message and its error; a printed error to what it says. */
function plainly(line: string): string {
  const printed = /^(?:Uncaught )?\[?Error: (.*?)(?:\] \{)?$/.exec(line)
  if (printed !== null) return printed[1] ?? ''
  if (!line.startsWith('{')) return line.trim()
  try {
    const record = JSON.parse(line) as { msg?: string; err?: { message?: string } }
    return [record.msg, record.err?.message].filter((part) => part !== undefined).join(': ')
  } catch {
    return line
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
