/**
 * What the adapter remembers beside its journal: first sendings, statement numbers, notices.
 *
 * - A moment is on disk before the message that has it is sent.
 * - No account and no name: a statement's account is a digest.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DAY, instant, plus, type Clock, type Instant } from '../../base/clock.js'
import { projectRoot } from '../../base/project_root.js'
import { openDatabase } from '../../store/sqlite/database.js'

/** What an operator must look at. Each is explained in the guide. */
export const ALARMS = [
  ...(['no_funds', 'message_rejected', 'message_malformed', 'signature_invalid'] as const),
  ...(['statement_missing', 'statement_unbalanced', 'notification_missing'] as const),
  ...(['entry_corrected', 'payment_unnamed'] as const),
] as const
export type Alarm = (typeof ALARMS)[number]
export type NoticeKind = Alarm | 'refusal'

export interface Notice {
  readonly kind: NoticeKind
  /** An instruction, a message or a currency. */
  readonly subject: string
  readonly code: string
}

export interface Record {
  /** When the message was first sent: now, or as stored. */
  firstSent(messageId: string): Promise<Instant>
  note(notice: Notice): Promise<void>
  notices(): Promise<readonly Notice[]>
  /**
   * Stores a number of a series of statements or notifications.
   * @returns the numbers between it and the last one before
   */
  statement(series: string, number: number): Promise<{ readonly missing: readonly number[] }>
  close(): Promise<void>
}

const SCHEMA = 'src/rails/iso20022/schema'
const MISSING_MAX = 100
const FIRST_SENT = 'INSERT INTO messages (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING'
const NOTE = `INSERT INTO notices (kind, subject, code, at) VALUES (?, ?, ?, ?)
  ON CONFLICT DO NOTHING`
const STATEMENT = `INSERT INTO statements (account, number, at) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET at = excluded.at`
const LAST = `SELECT max(number) AS number FROM statements
  WHERE account = ? AND number < ? AND at > ?`
/** Many banks begin to count again each year: a number of then is another statement. */
const COUNTED_FOR_MS = 180 * DAY

export async function openRecord(file: string, clock: Clock): Promise<Record> {
  const database = await openDatabase(file, {
    migrations: join(projectRoot(), SCHEMA),
    sole: true,
  })
  return {
    firstSent: async (id) => {
      await database.run(FIRST_SENT, [id, clock.now()])
      const [row] = await database.all<{ created_at: number }>(
        'SELECT created_at FROM messages WHERE id = ?',
        [id],
      )
      return instant(row?.created_at ?? clock.now())
    },
    note: async ({ kind, subject, code }) => {
      await database.run(NOTE, [kind, subject, code, clock.now()])
    },
    notices: () => database.all<Notice>('SELECT kind, subject, code FROM notices ORDER BY at'),
    statement: async (series, number) => {
      const digest = hash('sha256', series)
      const since = plus(clock.now(), -COUNTED_FOR_MS)
      const [last] = await database.all<{ number: number | null }>(LAST, [digest, number, since])
      await database.run(STATEMENT, [digest, number, clock.now()])
      const from = last?.number ?? number - 1
      const count = Math.min(number - from - 1, MISSING_MAX)
      return { missing: Array.from({ length: count }, (_, n) => from + 1 + n) }
    },
    close: () => database.close(),
  }
}
