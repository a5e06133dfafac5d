/**
 * What the adapter remembers beside its journal: first sendings, the numbers and pages of
 * statements, which of them booked a payment, the UETRs of payments, notices.
 *
 * - A moment is on disk before the message that has it is sent.
 * - UETRs are on disk soon after the payment is sent, many at once. One that a crash loses is not
 *   found in a statement, which tells so.
 * - No account and no name: a statement's account is a digest.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DAY, instant, plus, SECOND, type Clock, type Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import { projectRoot } from '../../base/project_root.js'
import { openDatabase } from '../../store/sqlite/database.js'
import { uetrOf } from './payment_messages.js'

/** What an operator must look at. Each is explained in the guide. */
export const ALARMS = [
  ...(['no_funds', 'message_rejected', 'message_malformed', 'signature_invalid'] as const),
  ...(['statement_missing', 'statement_unbalanced', 'notification_missing'] as const),
  ...(['entry_corrected', 'entry_unclear', 'payment_unnamed'] as const),
] as const
export type Alarm = (typeof ALARMS)[number]
/** The others need no look; they are kept for questions about a payment. */
export type NoticeKind = Alarm | 'charge' | 'refusal'

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
  /** Stores a page. @returns the pages of its statement that have come, in order */
  page(series: string, statement: string, page: StatementPage): Promise<readonly StatementPage[]>
  /**
   * The other statements of the series whose last page has not come. Each is told once.
   * @param statement the one that comes now
   */
  unfinished(series: string, statement: string): Promise<readonly UnfinishedStatement[]>
  /**
   * Stores where payments were booked, of each the first time.
   * @param statement its series and number, and the page
   * @returns those that another statement or page has booked before
   */
  booked(statement: string, bookings: readonly Booking[]): Promise<readonly Booking[]>
  /** The payment is sent: its UETR is kept. */
  sent(id: EffectId): void
  /** The payments with these UETRs, as far as they are known. */
  idsOf(uetrs: readonly string[]): Promise<ReadonlyMap<string, EffectId>>
  close(): Promise<void>
}

export interface Booking {
  readonly id: string
  readonly kind: 'executed' | 'returned'
}

/** In minor units; a debit is negative. Null means that there is no such balance. */
export interface StatementFigures {
  readonly opening: bigint | null
  /** The sum of the booked entries. */
  readonly moved: bigint
  readonly closing: bigint | null
}

export interface StatementPage extends StatementFigures {
  /** From 1. */
  readonly page: number
  readonly isLast: boolean
}

interface UnfinishedStatement {
  readonly statement: string
  /** Those that have come. */
  readonly pages: readonly number[]
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
const PAGE = `INSERT INTO statement_pages
    (account, statement, page, is_last, opening, moved, closing, at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET is_last = excluded.is_last, opening = excluded.opening,
    moved = excluded.moved, closing = excluded.closing, told = 0, at = excluded.at`
const PAGES = `SELECT page, is_last, opening, moved, closing FROM statement_pages
  WHERE account = ? AND statement = ? AND at > ? ORDER BY page`
const UNFINISHED = `SELECT statement, json_group_array(page) AS pages FROM statement_pages
  WHERE account = ? AND statement <> ? AND at > ?
  GROUP BY statement HAVING max(is_last) = 0 AND max(told) = 0`
const TOLD = 'UPDATE statement_pages SET told = 1 WHERE account = ? AND statement = ?'
const SENT = `INSERT INTO uetrs (uetr, instruction)
  SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`
const IDS_OF = `SELECT uetr, instruction AS id FROM json_each(?) JOIN uetrs ON uetr = value`
const SENT_KEPT_AFTER_MS = SECOND
const BOOK = `INSERT INTO bookings (instruction, movement, statement, at)
  SELECT value ->> 0, value ->> 1, ?, ? FROM json_each(?) WHERE true
  ON CONFLICT DO NOTHING`
const BOOKED_BEFORE = `SELECT instruction AS id, movement AS kind
  FROM json_each(?) JOIN bookings ON instruction = value ->> 0 AND movement = value ->> 1
  WHERE statement <> ?`
/** Many banks begin to count again each year: a number of then is another statement. */
const COUNTED_FOR_MS = 180 * DAY

export async function openRecord(file: string, clock: Clock): Promise<Record> {
  const database = await openDatabase(file, {
    migrations: join(projectRoot(), SCHEMA),
    sole: true,
  })
  let sent: EffectId[] = []
  let timer: NodeJS.Timeout | undefined
  const keepSent = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (sent.length === 0) return
    const rows = sent.map((id) => [uetrOf(id), id])
    sent = []
    await database.run(SENT, [JSON.stringify(rows)])
  }
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
    page: async (series, statement, { page, isLast, opening, moved, closing }) => {
      const digest = hash('sha256', series)
      const figures = [opening, moved, closing].map((figure) => figure?.toString() ?? null)
      const row = [digest, statement, page, isLast ? 1 : 0, ...figures, clock.now()]
      await database.run(PAGE, row)
      const since = plus(clock.now(), -COUNTED_FOR_MS)
      return (await database.all<PageRow>(PAGES, [digest, statement, since])).map(pageIn)
    },
    unfinished: async (series, statement) => {
      const digest = hash('sha256', series)
      const since = plus(clock.now(), -COUNTED_FOR_MS)
      const found = await database.all<{ statement: string; pages: string }>(UNFINISHED, [
        ...[digest, statement, since],
      ])
      for (const each of found) await database.run(TOLD, [digest, each.statement])
      return found.map((each) => ({ ...each, pages: JSON.parse(each.pages) as number[] }))
    },
    booked: async (statement, bookings) => {
      if (bookings.length === 0) return []
      const digest = hash('sha256', statement)
      const rows = JSON.stringify(bookings.map(({ id, kind }) => [id, kind]))
      await database.run(BOOK, [digest, clock.now(), rows])
      return database.all<Booking>(BOOKED_BEFORE, [rows, digest])
    },
    sent: (id) => {
      sent.push(id)
      timer ??= setTimeout(() => void keepSent().catch(() => undefined), SENT_KEPT_AFTER_MS)
    },
    idsOf: async (uetrs) => {
      if (uetrs.length === 0) return new Map()
      await keepSent()
      const rows = await database.all<{ uetr: string; id: EffectId }>(IDS_OF, [
        JSON.stringify(uetrs),
      ])
      return new Map(rows.map(({ uetr, id }) => [uetr, id]))
    },
    close: async () => {
      await keepSent()
      await database.close()
    },
  }
}

interface PageRow {
  readonly page: number
  readonly is_last: number
  readonly opening: string | null
  readonly moved: string
  readonly closing: string | null
}

function pageIn({ page, is_last, opening, moved, closing }: PageRow): StatementPage {
  const figureIn = (text: string | null) => (text === null ? null : BigInt(text))
  const figures = { opening: figureIn(opening), moved: BigInt(moved), closing: figureIn(closing) }
  return { page, isLast: is_last === 1, ...figures }
}
