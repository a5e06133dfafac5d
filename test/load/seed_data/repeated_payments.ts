/**
 * Repeats seeded payments, each time a period later: books of years in minutes.
 *
 * - What is repeated are ended payments after their retention: no events, keys or deliveries, only
 *   the payment, its ledger entries, counters and links, and its instruction at the rail.
 * - Every repetition has ids, users, moments and running balances of its own, so the audit is clean
 *   and each list and index is as large as that of real books.
 * - The rows are written without a journal: a crash leaves a folder to delete. An end that is
 *   asked for comes after a whole repetition: the books are as clean as those of fewer repetitions.
 */
import { join } from 'node:path'
import { HOUR, instant, plus, toRfc3339, type Instant } from '../../../src/base/clock.js'
import { instantOf, leastIdAt, type TenantId } from '../../../src/base/ids.js'
import { systemRandom } from '../../../src/base/random.js'
import { FILES } from '../../../src/base/subjects.js'
import {
  fingerprintsIn,
  packedFingerprints,
} from '../../../src/processor/cache/idempotency_index.js'
import { createUserFingerprinter } from '../../../src/processor/cache/user_fingerprint.js'
import type { Database } from '../../../src/store/database.js'
import {
  readAccountBox,
  type AccountBox,
  type StoredAccount,
} from '../../../src/rails/adapter/account_box.js'
import { openDatabase } from '../../../src/store/sqlite/database.js'

export interface RepeatOptions {
  readonly folder: string
  /** How often the payments are in the books at the end. */
  readonly times: number
  readonly periodMs: number
  readonly progress: (done: number, of: number) => void
  /** Asks for the end after the repetition that is being written. */
  readonly signal: AbortSignal
}

type Values = readonly (string | number | null)[]
/** A row of the repetition with this number. */
type Repeated = (repetition: number) => Values

const FAST = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA cache_size = -1500000;
`
const ROWS_AT_ONCE = 2_000
const LOCAL_OFFSET_MS = 7 * HOUR

/** @returns how often the payments are in the books */
export async function repeatPayments(options: RepeatOptions): Promise<number> {
  const { folder, times, progress, signal } = options
  const books = await openDatabase(join(folder, FILES.processorDatabase))
  const railFile = join(folder, FILES.railDatabase)
  const rail = await openDatabase(railFile)
  try {
    await books.exec(FAST)
    await rail.exec(FAST)
    const shift = createShift(options.periodMs)
    const ledger = await entriesOf(books, shift)
    const tables = [
      await actorsOf(books, shift, 'intents', INTENT_COLUMNS),
      await actorsOf(books, shift, 'payouts', PAYOUT_COLUMNS),
      ledger.table,
      await usageOf(books, shift),
      await linksOf(books, shift),
      await instructionsOf(rail, readAccountBox(railFile, systemRandom()), shift),
    ]
    let done = 1
    for (; done < times && !signal.aborted; done += 1) {
      for (const table of tables) await write(table, done)
      progress(done + 1, times)
    }
    await moveRetention(books, shift, done - 1)
    for (const [account, moved] of ledger.moved) {
      const sql = 'UPDATE ledger_accounts SET balance = balance + ? WHERE id = ?'
      await books.run(sql, [(done - 1) * moved, account])
    }
    return done
  } finally {
    await rail.close()
    await books.close()
  }
}

interface RepeatedTable {
  readonly database: Database
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: readonly Repeated[]
}

async function write(table: RepeatedTable, repetition: number): Promise<void> {
  const { database, name, columns, rows } = table
  const cells = columns.map((column, at) =>
    column === 'prints' ? `unhex(value ->> ${at})` : `value ->> ${at}`,
  )
  const sql = `INSERT INTO ${name} (${columns.join(', ')})
    SELECT ${cells.join(', ')} FROM json_each(?)`
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const page = rows.slice(from, from + ROWS_AT_ONCE).map((row) => row(repetition))
    await database.run(sql, [JSON.stringify(page.filter(({ length }) => length > 0))])
  }
}

interface Shift {
  readonly moment: (at: number, repetition: number) => Instant
  readonly id: (id: string, repetition: number) => string
  /** A text with ids, moments, users and days in it. */
  readonly text: (text: string, confirmedAt: number | null) => (repetition: number) => string
}

/** Ids of payments and what is theirs; moments in milliseconds and seconds; users; local days. */
const SHIFTED = new RegExp(
  [
    String.raw`\b(?:pi|pout|qt|rep|req|evt)_[0-9A-HJKMNP-TV-Z]{26}\b`,
    String.raw`(?<=":)\d{13}(?=[,}])`,
    String.raw`(?<="exp":)\d{10}(?=[,}])`,
    String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
    String.raw`user-\d+(?:\+fail)?`,
    String.raw`(?<=\] )\d{4}-\d\d(?:-\d\d)?(?=")`,
  ].join('|'),
  'g',
)
const TIME_LENGTH = 10
const SECONDS_LENGTH = 10
const MONTH_LENGTH = 7

function createShift(periodMs: number): Shift {
  const moment: Shift['moment'] = (at, repetition) => instant(at + repetition * periodMs)
  const times = new Map<string, string>()
  const id: Shift['id'] = (text, repetition) => {
    const start = text.indexOf('_') + 1
    const time = text.slice(start, start + TIME_LENGTH)
    const key = `${time}${repetition}`
    let shifted = times.get(key)
    if (shifted === undefined) {
      shifted = leastIdAt('intent', moment(instantOf(text), repetition)).slice(3, 3 + TIME_LENGTH)
      times.set(key, shifted)
    }
    return text.slice(0, start) + shifted + text.slice(start + TIME_LENGTH)
  }
  const part = (found: string, confirmedAt: number | null): ((repetition: number) => string) => {
    if (found.includes('_')) return (repetition) => id(found, repetition)
    if (found.startsWith('user-')) return (repetition) => userOf(found, repetition)
    if (found.endsWith('Z')) return (repetition) => toRfc3339(moment(Date.parse(found), repetition))
    if (found.includes('-')) {
      return (repetition) =>
        toRfc3339(plus(moment(confirmedAt ?? 0, repetition), LOCAL_OFFSET_MS)).slice(
          0,
          found.length,
        )
    }
    if (found.length === SECONDS_LENGTH) {
      return (repetition) => String(Math.floor(moment(Number(found) * 1_000, repetition) / 1_000))
    }
    return (repetition) => String(moment(Number(found), repetition))
  }
  const text: Shift['text'] = (whole, confirmedAt) => {
    const parts: (string | ((repetition: number) => string))[] = []
    let end = 0
    for (const match of whole.matchAll(SHIFTED)) {
      parts.push(whole.slice(end, match.index), part(match[0], confirmedAt))
      end = match.index + match[0].length
    }
    parts.push(whole.slice(end))
    return (repetition) =>
      parts.reduce<string>(
        (done, each) => done + (typeof each === 'string' ? each : each(repetition)),
        '',
      )
  }
  return { moment, id, text }
}

const userOf = (user: string, repetition: number): string =>
  repetition === 0 ? user : `${user}.${repetition}`

const INTENT_COLUMNS = ['id', 'tenant', 'state', 'due_at', 'confirmed_at', 'context']
const PAYOUT_COLUMNS = [
  ...['id', 'tenant', 'state', 'due_at', 'reference', 'beneficiary', 'context'],
]

interface ActorRow {
  readonly id: string
  readonly confirmed_at?: number | null
  readonly context: string
  readonly [column: string]: string | number | null | undefined
}

async function actorsOf(
  database: Database,
  shift: Shift,
  name: 'intents' | 'payouts',
  columns: readonly string[],
): Promise<RepeatedTable> {
  const stored = await database.all<ActorRow>(
    `SELECT ${columns.join(', ')} FROM ${name} ORDER BY id`,
  )
  const rows = stored.map((row): Repeated => {
    const confirmedAt = row.confirmed_at ?? null
    const context = shift.text(row.context, confirmedAt)
    return (repetition) =>
      columns.map((column) => {
        if (column === 'id') return shift.id(row.id, repetition)
        if (column === 'context') return context(repetition)
        if (column !== 'confirmed_at') return row[column] ?? null
        return confirmedAt === null ? null : shift.moment(confirmedAt, repetition)
      })
  })
  return { database, name, columns, rows }
}

const ENTRY_COLUMNS = [
  ...['posting', 'line', 'account', 'tenant', 'amount', 'balance', 'plan', 'entity', 'at'],
]

interface EntryRow {
  readonly posting: number
  readonly line: number
  readonly account: string
  readonly tenant: string | null
  readonly amount: number
  readonly balance: number
  readonly plan: string
  readonly entity: string
  readonly at: number
}

/** Deposits are not repeated. @returns also what a repetition adds to the balances */
async function entriesOf(
  database: Database,
  shift: Shift,
): Promise<{ readonly table: RepeatedTable; readonly moved: ReadonlyMap<string, number> }> {
  const stored = await database.all<EntryRow>(
    `SELECT ${ENTRY_COLUMNS.join(', ')} FROM ledger_entries WHERE plan <> 'deposit'
     ORDER BY posting, line`,
  )
  const moved = new Map<string, number>()
  for (const { account, amount } of stored) {
    moved.set(account, (moved.get(account) ?? 0) + amount)
  }
  const postings = (stored.at(-1)?.posting ?? 0) - (stored[0]?.posting ?? 1) + 1
  const rows = stored.map(
    ({ posting, line, account, tenant, amount, balance, plan, entity, at }): Repeated =>
      (repetition) => [
        ...[posting + repetition * postings, line, account, tenant, amount],
        balance + repetition * (moved.get(account) ?? 0),
        ...[plan, shift.id(entity, repetition), shift.moment(at, repetition)],
      ],
  )
  return { table: { database, name: 'ledger_entries', columns: ENTRY_COLUMNS, rows }, moved }
}

interface UsageRow {
  readonly user: string
  readonly corridor: string
  readonly tenant: string
  readonly confirmedAt: number
  readonly used: number
  readonly counts: number
}

/** A repetition has users of its own, so its counters are the sums of its payments. */
async function usageOf(database: Database, shift: Shift): Promise<RepeatedTable> {
  const stored = await database.all<UsageRow>(`
    SELECT tenant, context ->> 'userId' AS user, context ->> 'corridor' AS corridor,
           confirmed_at AS confirmedAt, state NOT IN ('failed', 'cancelled') AS counts,
           CAST(context ->> '$.scanned.quote.localMinor' AS INTEGER) AS used
      FROM intents WHERE confirmed_at IS NOT NULL`)
  const sums = new Map<number, readonly Values[]>()
  const sumsOf = (repetition: number): readonly Values[] => {
    const known = sums.get(repetition)
    if (known !== undefined) return known
    const used = new Map<string, number>()
    for (const row of stored) {
      const owner = JSON.stringify([row.tenant, userOf(row.user, repetition), row.corridor])
      const local = toRfc3339(plus(shift.moment(row.confirmedAt, repetition), LOCAL_OFFSET_MS))
      for (const period of [local.slice(0, TIME_LENGTH), local.slice(0, MONTH_LENGTH)]) {
        const key = `${owner} ${period}`
        used.set(key, (used.get(key) ?? 0) + (row.counts === 1 ? row.used : 0))
      }
    }
    sums.clear()
    sums.set(repetition, [...used])
    return sums.get(repetition)!
  }
  // As many rows as any repetition can have; those beyond its counters are left out.
  return {
    ...{ database, name: 'limit_usage', columns: ['key', 'used'] },
    rows: Array.from({ length: 2 * stored.length }, (_, at): Repeated => (repetition) => {
      return sumsOf(repetition)[at] ?? []
    }),
  }
}

interface LinksRow {
  readonly first: number
  readonly prints: string
  readonly links: string
}

async function linksOf(database: Database, shift: Shift): Promise<RepeatedTable> {
  const stored = await database.all<LinksRow>(
    'SELECT first, hex(prints) AS prints, links FROM intent_users ORDER BY first',
  )
  const users = await database.all<{ id: string; tenant: TenantId; user: string }>(
    `SELECT id, tenant, context ->> 'userId' AS user FROM intents`,
  )
  const userById = new Map(users.map((row) => [row.id, row]))
  const [salt] = await database.all<{ value: string }>(
    "SELECT value FROM meta WHERE name = 'nonce_salt'",
  )
  const fingerprintOf = createUserFingerprinter(Buffer.from(salt?.value ?? '', 'hex'))
  const intents = stored.reduce((sum, { prints }) => sum + prints.length / 16, 0)
  const rows = stored.map((row): Repeated => {
    const links = JSON.parse(row.links) as (readonly [string, number])[]
    if (fingerprintsIn(Buffer.from(row.prints, 'hex')).length !== links.length) {
      throw new Error(`links from ${row.first} on have another number of users`)
    }
    return (repetition) => [
      row.first + repetition * intents,
      packedFingerprints(
        links.map(([id]) => {
          const { tenant, user } = userById.get(id)!
          return { ...fingerprintOf(tenant, userOf(user, repetition)) }
        }),
      ).toString('hex'),
      JSON.stringify(
        links.map(([id, before]) => [
          shift.id(id, repetition),
          before === 0 ? 0 : before + repetition * intents,
        ]),
      ),
    ]
  })
  return { database, name: 'intent_users', columns: ['first', 'prints', 'links'], rows }
}

interface InstructionRow extends StoredAccount {
  readonly received_at: number
  readonly executed_at: number | null
  readonly returned_at: number | null
  readonly [column: string]: string | number | null
}

async function instructionsOf(
  database: Database,
  accounts: AccountBox,
  shift: Shift,
): Promise<RepeatedTable> {
  const stored = await database.all<InstructionRow>('SELECT * FROM instructions ORDER BY id')
  const columns = Object.keys(stored[0] ?? { id: '' })
  const rows = stored.map((row): Repeated => {
    const account = accounts.open(row)
    return (repetition) => {
      const id = shift.id(row.id, repetition)
      return columns.map((column) => {
        const value = row[column] ?? null
        if (column === 'id') return id
        if (column === 'sealed_account') return accounts.seal(id, account)
        return column.endsWith('_at') && typeof value === 'number'
          ? shift.moment(value, repetition)
          : value
      })
    }
  })
  return { database, name: 'instructions', columns, rows }
}

interface NewestEvent {
  readonly id: string
  readonly entity: string
  readonly position: number
  readonly sequence: number
  readonly created_at: number
  readonly settled_at: number
  readonly body: string
}

/** The one event that retention leaves is that of the newest payment; what it deleted is older. */
async function moveRetention(books: Database, shift: Shift, repetition: number): Promise<void> {
  const [event] = await books.all<NewestEvent>('SELECT * FROM events ORDER BY position DESC')
  if (event === undefined) throw new Error('there is no event')
  const { id, entity, position, sequence, created_at: createdAt, settled_at: settledAt } = event
  const number = (repetition + 1) * sequence
  const at = shift.moment(createdAt, repetition)
  await books.run(
    `UPDATE events SET id = ?, entity = ?, position = ?, sequence = ?, created_at = ?,
       settled_at = ?, body = ? WHERE position = ?`,
    [
      ...[shift.id(id, repetition), shift.id(entity, repetition)],
      ...[(repetition + 1) * position, number, at, shift.moment(settledAt, repetition)],
      ...[shift.text(event.body, null)(repetition), position],
    ],
  )
  await books.run('UPDATE event_retention SET sequence = ?, position = ?, created_at = ?', [
    ...[number - 1, (repetition + 1) * position - 1, at],
  ])
  await books.run('UPDATE idempotency_ages SET at = ?', [at])
}
