/**
 * Transactions of several statements, as PostgreSQL runs them at READ COMMITTED.
 *
 * Does not own: the statements (dialect), sessions (server).
 *
 * - A transaction writes to copies of tables. Its end writes what has changed, all at once; until
 *   then no other session sees it, and it sees what others commit in the tables that it only reads.
 * - Two rows are locked by name: a partner's move and the owner row of a shard. A statement that
 *   changes one waits for the end of the transaction that has it, or skips it if it says so.
 * - The server ends a session that rests in a transaction for longer than it allows.
 */
import type { Bindable } from '../../../src/store/database.js'
import { changesNothing, movedFrom, partsOf } from './dialect.js'
import { columnsIn, SHARDS, type Tables } from './tables.js'

export interface Transactions {
  has(session: number): boolean
  /**
   * Begins or ends a transaction, or sets one of its bounds.
   *
   * @returns false if the statement is none of these
   */
  control(session: number, sql: string): boolean
  /** Whether the statement waits for a transaction of another session. */
  isBlocked(session: number, sql: string, parameters: readonly Bindable[], schema: string): boolean
  /** Whether a row that it may skip is locked. */
  isSkipped(session: number, sql: string, parameters: readonly Bindable[]): boolean
  /** One of the transaction. @param sql translated; `original` is the product's */
  execute(
    session: number,
    sql: string,
    original: string,
    parameters: readonly Bindable[],
  ): readonly unknown[] | number
  rollBack(session: number): void
}

interface Options {
  readonly tables: Tables
  readonly now: () => number
  /** The server has ended a session. */
  readonly onEnded: (session: number) => void
  /** A transaction with changes is committed. */
  readonly onCommitted: () => void
}

type StoredRow = Readonly<Record<string, Bindable>>

interface Copied {
  readonly keys: readonly string[]
  readonly before: ReadonlyMap<string, StoredRow>
}

interface Transaction {
  idleMs: number
  lastAt: number
  /** By qualified name. */
  readonly copies: Map<string, Copied>
  readonly temporary: Set<string>
  readonly locks: Set<string>
}

const SCHEMAS = ['main', ...SHARDS].join('|')
const NAME = new RegExp(`\\b(INTO )?((?:${SCHEMAS})\\.(\\w+))`, 'g')
const WRITTEN = new RegExp(`(?:INTO|UPDATE|DELETE FROM) ((?:${SCHEMAS})\\.\\w+)`, 'g')
const IDLE = /idle_in_transaction_session_timeout = '?(\d+)(s?)/
const copyNamed = (name: string): string => `temp.changed_${name.replace('.', '_')}`

/** The row that a statement outside of a transaction changes. */
function changedBy(sql: string, [first]: readonly Bindable[], schema: string): string | undefined {
  if (/(UPDATE|INTO) partner_moves/.test(sql)) return `move of ${String(first)}`
  return /^\s*(WITH raised|UPDATE owner)/.test(sql) ? `owner of ${schema}` : undefined
}

/** The row that a statement of a transaction locks. */
function lockedBy(sql: string, [first]: readonly Bindable[]): string | undefined {
  const [, shard] = /FROM (\w+)\.owner WHERE [^;]* FOR UPDATE/.exec(sql) ?? []
  if (shard !== undefined) return `owner of ${shard}`
  return sql.includes('FOR UPDATE OF partner_moves') ? `move of ${String(first)}` : undefined
}

export function createTransactions({ tables, now, onEnded, onCommitted }: Options): Transactions {
  const open = new Map<number, Transaction>()

  const rollBack = (session: number): void => {
    const transaction = open.get(session)
    if (!open.delete(session)) return
    for (const name of transaction!.copies.keys()) tables.once(`DROP TABLE ${copyNamed(name)}`)
    for (const name of transaction!.temporary) tables.once(`DROP TABLE IF EXISTS temp.${name}`)
  }
  const expire = (): void => {
    for (const [session, { idleMs, lastAt }] of open)
      if (now() - lastAt > idleMs) {
        rollBack(session)
        onEnded(session)
      }
  }
  const isLocked = (session: number, row: string | undefined): boolean => {
    if (row === undefined) return false
    expire()
    return [...open].some(([other, { locks }]) => other !== session && locks.has(row))
  }
  /** Copies of tables take most of the time of a transaction, and many have no rows. */
  const isEmpty = (name: string): boolean =>
    tables.all(`SELECT 1 FROM ${name} LIMIT 1`).length === 0
  const othersMove = (session: number): boolean => {
    expire()
    return [...open].some(([other, { locks }]) => other !== session && locks.size > 0)
  }
  const commit = (session: number): void => {
    const { copies } = open.get(session)!
    for (const [name, copied] of copies) writeBack(tables, name, copied)
    const hasChanged = copies.size > 0
    rollBack(session)
    if (hasChanged) onCommitted()
  }
  const copy = (transaction: Transaction, name: string): void => {
    if (transaction.copies.has(name)) return
    const [schema = '', table = ''] = name.split('.')
    tables.once(`CREATE TABLE ${copyNamed(name)} (${columnsIn(schema, table)!})`)
    tables.once(`INSERT INTO ${copyNamed(name)} SELECT * FROM ${name}`)
    const keys = keysOf(tables, schema, table)
    transaction.copies.set(name, { keys, before: rowsByKey(tables, name, keys) })
    transaction.temporary.add('gone')
  }

  return {
    has: (session) => open.has(session),
    rollBack,
    control: (session, sql) => {
      const [, idle, unit] = IDLE.exec(sql) ?? []
      const bounds = idle === undefined ? {} : { idleMs: Number(idle) * (unit === 's' ? 1_000 : 1) }
      if (sql.startsWith('BEGIN')) {
        const sets = { copies: new Map(), temporary: new Set<string>(), locks: new Set<string>() }
        open.set(session, { idleMs: Infinity, lastAt: now(), ...sets, ...bounds })
      } else if (sql === 'COMMIT') commit(session)
      else if (sql === 'ROLLBACK') rollBack(session)
      else if (!open.has(session)) return false
      else if (sql.includes('SET LOCAL')) Object.assign(open.get(session)!, bounds)
      else return /^\s*CREATE INDEX/.test(sql)
      return true
    },
    isBlocked: (session, sql, parameters, schema) => {
      if (open.size === 0) return false
      // The tables of a connection here are those of all: one transaction moves rows at a time.
      if (sql.includes('FOR UPDATE OF partner_moves')) return othersMove(session)
      if (sql.includes('SKIP LOCKED')) return false
      const own = open.get(session)
      return isLocked(session, own ? lockedBy(sql, parameters) : changedBy(sql, parameters, schema))
    },
    isSkipped: (session, sql, parameters) =>
      sql.includes('SKIP LOCKED') &&
      isLocked(session, lockedBy(sql, parameters) ?? `move of ${String(parameters[0])}`),
    execute: (session, sql, original, parameters) => {
      const transaction = open.get(session)!
      transaction.lastAt = now()
      if (changesNothing(sql)) return isRead(original) ? [] : 0
      const source = movedFrom(sql)
      if (source !== undefined && isEmpty(source)) return 0
      const lock = lockedBy(original, parameters)
      if (lock !== undefined) transaction.locks.add(lock)
      for (const [, written = ''] of sql.matchAll(WRITTEN)) copy(transaction, written)
      const { statements, temporary } = partsOf(
        sql.replace(NAME, (found, into: string | undefined, name: string, table: string) => {
          if (!transaction.copies.has(name)) return found
          return into === undefined ? copyNamed(name) : `${into}${copyNamed(name)} AS ${table}`
        }),
      )
      if (temporary !== undefined) transaction.temporary.add(temporary)
      let result = { rows: [] as unknown[], changed: 0 }
      for (const statement of statements) result = tables.once(statement, parameters)
      return isRead(original) ? result.rows : result.changed
    },
  }
}

const isRead = (sql: string): boolean => /^\s*SELECT/.test(sql)

const keyOf = (row: StoredRow, keys: readonly string[]): string =>
  JSON.stringify(keys.map((key) => row[key]))

const keysOf = (tables: Tables, schema: string, table: string): readonly string[] =>
  tables
    .all<{ name: string }>('SELECT name FROM pragma_table_info(?, ?) WHERE pk > 0 ORDER BY pk', [
      table,
      schema,
    ])
    .map(({ name }) => name)

function rowsByKey(
  tables: Tables,
  name: string,
  keys: readonly string[],
): ReadonlyMap<string, StoredRow> {
  const { rows } = tables.once<StoredRow>(`SELECT * FROM ${name}`)
  return new Map(rows.map((row) => [keyOf(row, keys), row]))
}

/** Rows that the transaction has not changed stay as others have left them. */
function writeBack(tables: Tables, name: string, { keys, before }: Copied): void {
  const after = rowsByKey(tables, copyNamed(name), keys)
  const isSame = (key: string, row: StoredRow): boolean => {
    const other = before.get(key)
    return other !== undefined && JSON.stringify(other) === JSON.stringify(row)
  }
  const where = keys.map((key) => `${key} = ?`).join(' AND ')
  for (const [key, row] of before) {
    const kept = after.get(key)
    if (kept === undefined || !isSame(key, kept))
      tables.run(
        `DELETE FROM ${name} WHERE ${where}`,
        keys.map((column) => row[column]!),
      )
  }
  for (const [key, row] of after) {
    if (isSame(key, row)) continue
    const values = Object.values(row)
    tables.run(`INSERT INTO ${name} VALUES (${values.map(() => '?').join()})`, values)
  }
}
