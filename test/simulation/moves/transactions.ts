/**
 * Transactions of several statements, as PostgreSQL runs them at READ COMMITTED.
 *
 * Does not own: the statements (dialect), sessions (server).
 *
 * - A transaction writes to copies of tables. Its end writes what has changed, all at once; until
 *   then no other session sees it, and it sees what others commit in the tables that it only reads.
 * - Rows are locked by name: a partner's move, its copy, the owner row of a shard, and those that a
 *   step of a copy takes. A statement that changes one waits for the end of the transaction that
 *   has it, or skips it if it says so. One step runs at a time.
 * - The server ends a session that rests in a transaction for longer than it allows.
 */
import type { Bindable } from '../../../src/store/database.js'
import { changesNothing, foundNothing, pageIn, partsOf } from './dialect.js'
import {
  definitionsIn,
  literal,
  partsOfName,
  resolved,
  ServerError,
  triggered,
  TRIGGERS_ON,
  writtenBy,
  type Naming,
  type Trigger,
} from './made.js'
import { columnsOf, type Tables } from './tables.js'

export interface Transactions {
  has(session: number): boolean
  areNone(): boolean
  /** Those that rest for too long end. */
  expire(): void
  /**
   * Begins or ends a transaction, or sets one of its bounds.
   *
   * @returns false if the statement is none of these
   */
  control(session: number, sql: string): boolean
  /**
   * Whether the statement waits for a transaction of another session.
   *
   * @param rows those of the books that it changes
   */
  isBlocked(
    session: number,
    sql: string,
    parameters: readonly Bindable[],
    schema: string,
    rows?: readonly string[],
  ): boolean
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
  /** A statement on the rows as all see them. */
  seen(sql: string): string
  /** A row was written outside of a transaction: its triggers run. */
  written(name: string, row: StoredRow): void
  /** The rows were replaced. */
  restored(): void
}

interface Options {
  readonly tables: Tables
  readonly now: () => number
  /** The server has ended a session. */
  readonly onEnded: (session: number) => void
  /** Others wait for a step of a copy that has rested for long. */
  readonly onRests: (what: string) => void
  /** A transaction that has changed these tables is committed. A step is one of a copy. */
  readonly onCommitted: (tables: readonly string[], isStep: boolean) => void
}

export type StoredRow = Readonly<Record<string, Bindable>>

interface Copied {
  /** The table that has the rows of the transaction. */
  readonly stored: string
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
  /** A number that no other open one has. */
  readonly slot: number
  /** A step of a copy. */
  isStep: boolean
}

const IDLE = /idle_in_transaction_session_timeout = '?(\d+)(s?)/
/** The server ends a transaction that rests for longer. */
const RESTS_WITHIN_MS = 6_000
const MADE_TABLES = 'main.made_tables'
/** What a step of a copy sets, and no other transaction. */
const OF_STEP = 'enable_seqscan'
const copyNamed = (slot: number, name: string): string =>
  `temp.changed_${slot}_${name.replace(/\W/g, '_')}`
/** Rows that owners write while a step takes some of them, by table. */
const TAKEN = { intents: 'id', payouts: 'id', limit_usage: 'key' } as const
export const lockOf = (table: keyof typeof TAKEN, key: string): string => `${table} ${key}`

/** Any row of the table. */
const COPIES = 'copies'
const CHANGES_COPIES = /^\s*(UPDATE|INSERT INTO|DELETE FROM) (cluster\.)?partner_copies/

/** The row that a statement outside of a transaction changes. */
function changedBy(sql: string, [first]: readonly Bindable[], schema: string): string | undefined {
  if (CHANGES_COPIES.test(sql)) return COPIES
  if (/(UPDATE|INTO) partner_moves/.test(sql)) return `move of ${String(first)}`
  return /^\s*(WITH raised|UPDATE owner)/.test(sql) ? `owner of ${schema}` : undefined
}

/** The row that a statement of a transaction locks. */
function lockedBy(sql: string, [first]: readonly Bindable[]): string | undefined {
  if (CHANGES_COPIES.test(sql)) return COPIES
  const [, shard] = /FROM (\w+)\.owner WHERE [^;]* FOR UPDATE/.exec(sql) ?? []
  if (shard !== undefined) return `owner of ${shard}`
  return sql.includes('FOR UPDATE OF partner_moves') ? `move of ${String(first)}` : undefined
}

export function createTransactions(options: Options): Transactions {
  const { tables, now, onEnded, onRests, onCommitted } = options
  const open = new Map<number, Transaction>()
  /** Tables of copies stay: each new one makes the server prepare all statements again. */
  const kept = new Set<string>()
  /** What statements have made, as all see it: read again after each change. */
  let madeForAll: readonly MadeTable[] | undefined

  const madeSeenBy = (transaction: Transaction | undefined): readonly MadeTable[] => {
    const changed = transaction?.copies.get(MADE_TABLES)
    const from = (name: string): readonly MadeTable[] =>
      tables.all(`SELECT name, parent FROM ${name} ORDER BY name`)
    return changed === undefined ? (madeForAll ??= from(MADE_TABLES)) : from(changed.stored)
  }
  const namingOf = (transaction: Transaction | undefined): Naming => {
    const made = madeSeenBy(transaction)
    return {
      storedIn: (name) => {
        if (partsOfName(name).isMade && !made.some((each) => each.name === name))
          throw new ServerError(`relation ${name} does not exist`, '42P01')
        return transaction?.copies.get(name)?.stored ?? name
      },
      childrenOf: (name) => made.flatMap((each) => (each.parent === name ? [each.name] : [])),
    }
  }
  const rollBack = (session: number): void => {
    const transaction = open.get(session)
    if (!open.delete(session)) return
    for (const { stored } of transaction!.copies.values()) tables.run(`DELETE FROM ${stored}`)
    for (const name of transaction!.temporary) tables.once(`DROP TABLE IF EXISTS temp.${name}`)
  }
  const expire = (): void => {
    for (const [session, { idleMs, lastAt }] of open)
      if (now() - lastAt > idleMs) {
        rollBack(session)
        onEnded(session)
      }
  }
  const othersOf = (session: number): readonly Transaction[] => {
    expire()
    return [...open].flatMap(([other, transaction]) => (other === session ? [] : [transaction]))
  }
  const isLocked = (session: number, row: string | undefined): boolean =>
    row !== undefined && othersOf(session).some(({ locks }) => locks.has(row))
  /** @param others the transactions for which it waits. @returns whether there are some */
  const checked = (what: string, others: readonly Transaction[]): boolean => {
    if (others.some(({ lastAt }) => now() - lastAt > RESTS_WITHIN_MS)) onRests(what)
    return others.length > 0
  }
  /** Copies of tables take most of the time of a transaction, and many have no rows. */
  const isEmpty = (transaction: Transaction, from: string): boolean =>
    tables.once(resolved(`SELECT 1 FROM ${from} LIMIT 1`, namingOf(transaction))).rows.length === 0
  const commit = (session: number): void => {
    const { copies, isStep } = open.get(session)!
    const changed = [...copies].flatMap(([name, copied]) =>
      writeBack(tables, name, copied) ? [name] : [],
    )
    if (copies.has(MADE_TABLES)) madeForAll = undefined
    rollBack(session)
    if (changed.length > 0) onCommitted(changed, isStep)
  }
  const copy = (session: number, name: string): void => {
    const transaction = open.get(session)!
    if (transaction.copies.has(name)) return
    const { isMade } = partsOfName(name)
    const stored = copyNamed(transaction.slot, name)
    if (!kept.has(stored)) tables.once(`CREATE TABLE ${stored} (${columnsOf(name)!})`)
    kept.add(stored)
    const columns = columnNames(tables, name)
    const all = [...(isMade ? ['rowid'] : []), ...columns].join()
    tables.run(`INSERT INTO ${stored} (${all}) SELECT ${all} FROM ${name}`)
    const keys = keysOf(tables, name)
    transaction.copies.set(name, { stored, keys, before: rowsByKey(tables, name, keys) })
    transaction.temporary.add('gone')
  }
  /** Runs one statement, and triggers for its rows. @param session null: as all see them */
  const runOne = (
    session: number | null,
    sql: string,
    parameters: readonly Bindable[],
  ): { rows: StoredRow[]; changed: number } => {
    const transaction = session === null ? undefined : open.get(session)
    if (session !== null) for (const name of writtenBy(sql)) copy(session, name)
    const naming = namingOf(transaction)
    const [, deletedFrom = ''] = DELETES.exec(sql) ?? []
    const children = deletedFrom === '' ? [] : naming.childrenOf(deletedFrom)
    if (children.length > 0) {
      for (const each of [deletedFrom, ...children])
        runOne(session, sql.replace(`FROM ${deletedFrom}`, `FROM ONLY ${each}`), parameters)
      return { rows: [], changed: 0 }
    }
    const [, verb = '', changed = ''] = CHANGES.exec(sql) ?? []
    const triggers = changed === '' ? [] : triggersOn(transaction, changed, verb)
    const returning = triggers.length === 0 ? '' : ' RETURNING *'
    const result = tables.once<StoredRow>(resolved(sql, naming) + returning, parameters)
    for (const row of result.rows) fire(session, triggers, row)
    return result
  }
  const triggersOn = (
    transaction: Transaction | undefined,
    name: string,
    verb: string,
  ): readonly Trigger[] => {
    if (madeSeenBy(transaction).length === 0) return []
    const found = tables.all<Trigger>(resolved(TRIGGERS_ON, namingOf(transaction)), [name])
    return found.filter(({ after }) => after.includes(verb.split(' ')[0]!))
  }
  const fire = (session: number | null, triggers: readonly Trigger[], row: StoredRow): void => {
    for (const trigger of triggers) {
      const { condition, statements } = triggered(trigger, row)
      if (tables.once(`SELECT 1 WHERE ${condition}`).rows.length === 0) continue
      for (const statement of statements)
        if (!changesNothing(statement)) runOne(session, statement, [])
    }
  }
  const define = (session: number, sql: string): boolean => {
    const definitions = definitionsIn(sql)
    for (const { sql: each, parameters, otherwise, makes, empties } of definitions ?? []) {
      if (empties !== undefined && isEmpty(open.get(session)!, `ONLY ${empties}`)) continue
      const { changed } = runOne(session, each, parameters)
      if (changed === 0 && otherwise !== undefined) throw new ServerError(otherwise, '42P07')
      if (makes === undefined) continue
      tables.once(`CREATE TABLE IF NOT EXISTS ${makes} (${columnsOf(makes)!})`)
    }
    return definitions !== undefined
  }

  return {
    has: (session) => open.has(session),
    areNone: () => open.size === 0,
    expire,
    rollBack,
    seen: (sql) => resolved(sql, namingOf(undefined)),
    written: (name, row) => fire(null, triggersOn(undefined, name, 'INSERT'), row),
    restored: () => (madeForAll = undefined),
    control: (session, sql) => {
      const [, idle, unit] = IDLE.exec(sql) ?? []
      const bounds = idle === undefined ? {} : { idleMs: Number(idle) * (unit === 's' ? 1_000 : 1) }
      if (sql.startsWith('BEGIN')) {
        const sets = { copies: new Map(), temporary: new Set<string>(), locks: new Set<string>() }
        const taken = new Set([...open.values()].map(({ slot }) => slot))
        const slot = Array.from({ length: open.size + 1 }, (_, i) => i).find((i) => !taken.has(i))!
        open.set(session, { idleMs: Infinity, lastAt: now(), slot, isStep: false, ...sets })
        Object.assign(open.get(session)!, bounds)
      } else if (sql === 'COMMIT') commit(session)
      else if (sql === 'ROLLBACK') rollBack(session)
      else if (!open.has(session)) return /^\s*(VACUUM|ANALYZE)/.test(sql)
      else if (sql.includes('SET LOCAL')) {
        const isStep = sql.includes(OF_STEP) ? { isStep: true } : {}
        Object.assign(open.get(session)!, bounds, isStep)
      } else return define(session, sql)
      return true
    },
    isBlocked: (session, sql, parameters, schema, rows = []) => {
      if (open.size === 0) return false
      // The tables of a connection here are those of all: one transaction moves rows at a time.
      if (sql.includes('FOR UPDATE OF partner_moves'))
        return othersOf(session).some(({ isStep, locks }) => !isStep && locks.size > 0)
      if (sql.startsWith('BEGIN') && sql.includes(OF_STEP))
        return checked(
          'a step',
          othersOf(session).filter(({ isStep }) => isStep),
        )
      if (/SKIP LOCKED\)?$/.test(sql)) return false
      const row = open.has(session) ? lockedBy(sql, parameters) : changedBy(sql, parameters, schema)
      if (isLocked(session, row)) return true
      if (rows.length === 0) return false
      const isOfRows = ({ locks }: Transaction): boolean => rows.some((each) => locks.has(each))
      return checked('a commit', othersOf(session).filter(isOfRows))
    },
    isSkipped: (session, sql, parameters) =>
      /SKIP LOCKED\)?$/.test(sql) &&
      isLocked(session, lockedBy(sql, parameters) ?? `move of ${String(parameters[0])}`),
    execute: (session, sql, original, parameters) => {
      const transaction = open.get(session)!
      transaction.lastAt = now()
      if (changesNothing(sql)) return isRead(original) ? foundNothing(original) : 0
      const whole = filled(sql, parameters)
      const page = pageIn(whole)
      if (page !== undefined && isEmpty(transaction, `(${page})`)) return foundNothing(original)
      const { statements, changes = [], temporary, from } = partsOf(whole)
      if (from !== undefined && !isStepOfCopy(from) && isEmpty(transaction, from)) return 0
      const lock = lockedBy(original, parameters)
      if (lock !== undefined) transaction.locks.add(lock)
      for (const name of temporary) transaction.temporary.add(name)
      let result = { rows: [] as StoredRow[], changed: 0 }
      for (const statement of statements) {
        const isNothing = changes.includes(statement) && isEmpty(transaction, 'temp.gone')
        result = isNothing ? { rows: [], changed: 0 } : runOne(session, statement, [])
      }
      if (from !== undefined && isStepOfCopy(from)) lockTaken(tables, transaction, from)
      return isRead(original) ? result.rows : result.changed
    },
  }
}

/** Its parts have the parameters of the whole. */
function filled(sql: string, parameters: readonly Bindable[]): string {
  let last = 0
  return sql.replace(/\?(\d*)/g, (_, number: string) => {
    last = number === '' ? last + 1 : Number(number)
    return literal(parameters[last - 1]!)
  })
}

/** The rows that a step has taken wait for its end. */
function lockTaken(tables: Tables, { locks }: Transaction, from: string): void {
  const { like } = partsOfName(from.replace('ONLY ', ''))
  const found = Object.entries(TAKEN).find(([table]) => table === like)
  if (found === undefined) return
  const [table, column] = found as [keyof typeof TAKEN, string]
  for (const { key } of tables.once<{ key: string }>(`SELECT ${column} AS key FROM gone`).rows)
    locks.add(lockOf(table, key))
}

const isStepOfCopy = (from: string): boolean => /^ONLY |"/.test(from)
const DELETES = /^\s*DELETE FROM (\w+\.(?:\w+|"[^"]+"))/
const CHANGES = /^\s*(INSERT|DELETE)[A-Z ]* (?:INTO|FROM) (?:ONLY )?(\w+\.(?:\w+|"[^"]+"))/

interface MadeTable {
  readonly name: string
  readonly parent: string | null
}

/** The last part of a statement that changes rows may be one. */
const isRead = (sql: string): boolean => /^\s*SELECT|^\s*WITH page AS/.test(sql)

const keyOf = (row: StoredRow, keys: readonly string[]): string =>
  JSON.stringify(keys.map((key) => row[key]))

/** By the table that it is like: they never change. */
const columnsKnown = new Map<string, readonly ColumnRow[]>()

function columnsSeen(tables: Tables, name: string): readonly ColumnRow[] {
  const { schema, table, isMade, like } = partsOfName(name)
  const known = columnsKnown.get(isMade ? like : table)
  if (known !== undefined) return known
  const found = tables.all<ColumnRow>('SELECT name, pk FROM pragma_table_info(?, ?) ORDER BY cid', [
    table,
    schema,
  ])
  columnsKnown.set(isMade ? like : table, found)
  return found
}
const columnNames = (tables: Tables, name: string): readonly string[] =>
  columnsSeen(tables, name).map((column) => column.name)
const keysOf = (tables: Tables, name: string): readonly string[] =>
  columnsSeen(tables, name).flatMap((column) => (column.pk > 0 ? [column.name] : []))

interface ColumnRow {
  readonly name: string
  readonly pk: number
}

function rowsByKey(
  tables: Tables,
  name: string,
  keys: readonly string[],
): ReadonlyMap<string, StoredRow> {
  const rows = tables.all<StoredRow>(`SELECT * FROM ${name}`)
  return new Map(rows.map((row) => [keyOf(row, keys), row]))
}

/**
 * Rows that the transaction has not changed stay as others have left them.
 *
 * @returns whether it has changed some
 */
function writeBack(tables: Tables, name: string, { stored, keys, before }: Copied): boolean {
  let hasChanged = false
  const after = rowsByKey(tables, stored, keys)
  const isSame = (key: string, row: StoredRow): boolean => {
    const other = before.get(key)
    return other !== undefined && JSON.stringify(other) === JSON.stringify(row)
  }
  const where = keys.map((key) => `${key} = ?`).join(' AND ')
  for (const [key, row] of before) {
    const kept = after.get(key)
    if (kept !== undefined && isSame(key, kept)) continue
    hasChanged = true
    tables.run(
      `DELETE FROM ${name} WHERE ${where}`,
      keys.map((column) => row[column]!),
    )
  }
  for (const [key, row] of after) {
    if (isSame(key, row)) continue
    hasChanged = true
    const values = Object.values(row)
    tables.run(`INSERT INTO ${name} VALUES (${values.map(() => '?').join()})`, values)
  }
  return hasChanged
}
