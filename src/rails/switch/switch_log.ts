/**
 * The switch's payments, messages that wait and statements: lines of JSON, the last one counts.
 *
 * - A line is on disk before its message is answered. A torn last line is dropped.
 * - It is never compacted: the switch is for trials.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import type { Mode } from './behavior.js'

export interface SwitchPayment {
  readonly id: string
  readonly mode: Mode
  readonly code: string
  /** Minor units, as text. */
  readonly amount: string
  readonly currency: string
  /** Digest of the message: a repetition must have the same bytes. */
  readonly content: string
  readonly submissions: number
  readonly repeatDiffers: boolean
  /** `absent` means that its message was dropped. */
  readonly state: 'absent' | 'pending' | 'executed' | 'rejected' | 'returned'
  readonly receivedAt: number
  /** In the order of all movements. Null means that there is none. */
  readonly executed: Movement | null
  readonly returned: Movement | null
}

export interface Movement {
  readonly number: number
  readonly at: number
  readonly amount: string
}

/** A message that is sent until the adapter has taken it. */
export interface Waiting {
  readonly key: string
  readonly body: string
}

export interface IssuedStatement {
  readonly currency: string
  readonly number: number
  /** Minor units, as text. */
  readonly closing: string
  /** The last movement in it. */
  readonly through: number
}

type Line =
  | { readonly payment: SwitchPayment }
  | { readonly waiting: Waiting }
  | { readonly delivered: string }
  | { readonly statement: IssuedStatement }

export interface SwitchLog {
  readonly payments: ReadonlyMap<string, SwitchPayment>
  readonly waiting: ReadonlyMap<string, Waiting>
  /** The last of each currency. */
  readonly statements: ReadonlyMap<string, IssuedStatement>
  /** The number of the last movement. */
  lastMovement(): number
  write(...lines: readonly Line[]): void
  close(): void
}

const OWNER_ONLY = 0o600

/** @param readOnly another process writes the file */
export function openSwitchLog(file: string, { readOnly = false } = {}): SwitchLog {
  const payments = new Map<string, SwitchPayment>()
  const waiting = new Map<string, Waiting>()
  const statements = new Map<string, IssuedStatement>()
  let last = 0

  const apply = (line: Line): void => {
    if ('payment' in line) {
      const { payment } = line
      payments.set(payment.id, payment)
      last = Math.max(last, payment.executed?.number ?? 0, payment.returned?.number ?? 0)
    } else if ('waiting' in line) waiting.set(line.waiting.key, line.waiting)
    else if ('delivered' in line) waiting.delete(line.delivered)
    else statements.set(line.statement.currency, line.statement)
  }

  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  for (const line of whole.split('\n')) if (line !== '') apply(JSON.parse(line) as Line)
  const descriptor = openSync(file, readOnly ? 'r' : 'a', OWNER_ONLY)
  if (!readOnly) ftruncateSync(descriptor, Buffer.byteLength(whole))

  return {
    ...{ payments, waiting, statements, lastMovement: () => last },
    write: (...lines) => {
      writeSync(descriptor, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      fsyncSync(descriptor)
      for (const line of lines) apply(line)
    },
    close: () => closeSync(descriptor),
  }
}
