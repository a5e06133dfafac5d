/**
 * The log file of a process: the supervisor writes the output of the process to it.
 *
 * - A full file is renamed to `.1`, which replaces the previous `.1`: at most two files per
 *   process.
 * - Write errors, e.g. on a full disk, lose lines and stop nothing.
 */
import { basename, dirname } from 'node:path'
import { createStream } from 'rotating-file-stream'

const FILE_MAX = '64M'
const TAIL_CHARACTERS = 16 * 1024
const LAST_LINE_MAX_CHARACTERS = 600

export interface LogFile {
  write(text: string): void
  /** The last message of this run as plain text; empty when there is none. */
  lastLine(): string
  /** Resolves after the last write. */
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
      tail = lastLines(tail + text)
      stream.write(text)
    },
    lastLine: () => {
      const messages = tail.split('\n').filter(isMessage)
      const last = messages.at(-1) ?? ''
      const reason = isPassing(last) ? (messages.findLast(isPlain) ?? last) : last
      return plainText(reason).slice(0, LAST_LINE_MAX_CHARACTERS)
    },
    close: () =>
      new Promise((resolve) => {
        stream.on('error', () => resolve())
        stream.end(() => resolve())
      }),
  }
}

/** Without the rest of a line that is cut: as no JSON, it would count as a reason. */
function lastLines(text: string): string {
  if (text.length <= TAIL_CHARACTERS) return text
  const cut = text.slice(-TAIL_CHARACTERS)
  return cut.slice(cut.indexOf('\n') + 1) || cut
}

/** After an uncaught error Node prints indented details, the location and its version. */
const isMessage = (line: string): boolean => /^(?!Node\.js v|file:|node:)[^\s}\])^]/.test(line)

/**
 * Why a start fails is a plain line on standard error. Log lines come through another pipe, so one
 * that was written before it can arrive after it.
 */
const isPassing = (line: string): boolean => /^\{"level":"(info|warn)"/.test(line)

/** A warning of Node begins with a parenthesis. */
const isPlain = (line: string): boolean => !/^[{(]/.test(line)

/**
 * A JSON log line is reduced to its message, its reason and its error, a printed error to its
 * message.
 */
function plainText(line: string): string {
  const printed = /^(?:Uncaught )?\[?Error: (.*?)(?:\] \{)?$/.exec(line)
  if (printed !== null) return printed[1] ?? ''
  if (!line.startsWith('{')) return line.trim()
  try {
    const { message, reason, error } = JSON.parse(line) as {
      readonly message?: string
      readonly reason?: string
      readonly error?: { readonly message?: string }
    }
    return [message, reason, error?.message].filter((part) => part !== undefined).join(': ')
  } catch {
    return line
  }
}
