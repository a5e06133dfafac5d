/**
 * The log file of a process, written by the supervisor from what the process prints.
 *
 * Owns: the file, its rotation, the last line for people. Does not own: what is logged.
 *
 * - A file that reaches its bound becomes `.1`, and the former `.1` goes: at most two files a
 *   process.
 * - A file that cannot be written, as on a full disk, loses lines and stops nothing.
 */
import { basename, dirname } from 'node:path'
import { createStream } from 'rotating-file-stream'

/** Some hundred thousand lines. */
const FILE_MAX = '64M'
const TAIL_CHARACTERS = 16 * 1024
const LAST_LINE_MAX_CHARACTERS = 600

export interface LogFile {
  write(text: string): void
  /** The last statement of this run in plain words; empty when there is none. */
  lastLine(): string
  /** Resolves when everything is written. */
  close(): Promise<void>
}

export function openLogFile(path: string): LogFile {
  const stream = createStream(basename(path), {
    path: dirname(path),
    size: FILE_MAX,
    rotate: 1,
    initialRotation: true,
    mode: 0o600,
  })
  stream.on('error', () => undefined)
  let tail = ''
  return {
    write: (text) => {
      tail = (tail + text).slice(-TAIL_CHARACTERS)
      stream.write(text)
    },
    lastLine: () => {
      const last = tail.split('\n').findLast(isStatement) ?? ''
      return inPlainWords(last).slice(0, LAST_LINE_MAX_CHARACTERS)
    },
    close: () =>
      new Promise((resolve) => {
        stream.on('error', () => resolve())
        stream.end(() => resolve())
      }),
  }
}

/** Node ends an uncaught error with indented details, its place, and its own version. */
const isStatement = (line: string): boolean => /^(?!Node\.js v|file:|node:)[^\s}\])^]/.test(line)

/** A JSON log line is reduced to its message and its error, a printed error to its message. */
function inPlainWords(line: string): string {
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
