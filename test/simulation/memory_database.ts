/**
 * SQLite in memory, in the caller's thread, behind the port of a connection. The driver of the
 * product changes threads for each statement, which is most of the time of a simulated run.
 *
 * Does not own: migrations (a file is loaded with its schema), which runs use it (seeds).
 *
 * - A file is read when it is opened and written when its last connection closes. Until then all
 *   its connections are one, so a transaction is safe only while nothing else runs.
 * - Nothing is durable: a simulated crash drops what a process has in memory, not the file.
 */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import initSqlJs, { type Database as Loaded, type Statement } from 'sql.js'
import type { Bindable, Database } from '../../src/store/database.js'
import { SQLITE } from '../../src/store/dialect.js'
import type { openDatabase } from '../../src/store/sqlite/database.js'

type Opener = typeof openDatabase

const PRAGMAS = `
  PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -65536;
`
const ATTACH = /^ATTACH DATABASE \? AS (\w+)$/
const COPY = /^VACUUM INTO '(.+)'$/
/** It drops what a connection has materialized and its views, and here all are one. */
const TEMPORARY = /^PRAGMA temp_store = \w+$/
const OWNER_ONLY = 0o600

/** Without a lock that stays, each statement looks for a journal of another process. */
type LockingMode = 'EXCLUSIVE' | 'NORMAL'

interface Prepared {
  readonly statement: Statement
  columns: readonly string[] | null
}

interface OpenFile {
  readonly loaded: Loaded
  readonly prepared: Map<string, Prepared>
  /** Schemas of attached files. */
  readonly attached: Map<string, string>
  connections: number
}

const sqlJs = await initSqlJs()

/** Opens files as `openDatabase` does. Each simulated run has its own. */
export function createMemoryDatabases(): Opener {
  const files = new Map<string, OpenFile>()

  const use = (file: string, lockingMode: LockingMode): OpenFile => {
    const opened = files.get(file) ?? open(file, lockingMode)
    files.set(file, opened)
    opened.connections += 1
    return opened
  }
  const leave = (file: string): void => {
    const { loaded, prepared, attached, connections } = files.get(file)!
    files.get(file)!.connections -= 1
    for (const [schema, other] of attached) {
      // A statement that has read it keeps it locked.
      for (const { statement } of prepared.values()) statement.free()
      prepared.clear()
      loaded.exec(`DETACH ${schema}`)
      attached.delete(schema)
      leave(other)
    }
    if (connections > 1) return
    files.delete(file)
    writeFileSync(file, loaded.export(), { mode: OWNER_ONLY })
    loaded.close()
  }
  const attach = (to: OpenFile, schema: string, file: string): void => {
    to.loaded.run(`ATTACH DATABASE ? AS ${schema}`, [pathOf(use(file, 'NORMAL').loaded)])
    to.attached.set(schema, file)
  }
  /** Page by page: what was deleted stays as large as before. */
  const copy = ({ loaded }: OpenFile, file: string): void =>
    writeFileSync(file, loaded.export(), { mode: OWNER_ONLY })

  return async (file, { migrations } = {}) => {
    const opened = use(file, 'EXCLUSIVE')
    const { loaded } = opened
    const database: Database = {
      dialect: SQLITE,
      all: async <Row>(sql: string, parameters: readonly Bindable[] = []) =>
        Promise.resolve(rowsOf(preparedFor(opened, sql), parameters) as Row[]),
      run: async (sql, parameters = []) => {
        const [, schema] = ATTACH.exec(sql) ?? []
        if (schema !== undefined) attach(opened, schema, String(parameters[0]))
        else preparedFor(opened, sql).statement.run([...parameters])
        return Promise.resolve(loaded.getRowsModified())
      },
      exec: async (sql) => {
        const [, to] = COPY.exec(sql) ?? []
        if (to !== undefined) copy(opened, to)
        else if (!TEMPORARY.test(sql)) loaded.exec(sql)
        return Promise.resolve()
      },
      close: async () => Promise.resolve(leave(file)),
    }
    if (migrations !== undefined) await checkIsMigrated(database)
    return database
  }
}

function open(file: string, lockingMode: LockingMode): OpenFile {
  const isEmpty = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0
  const loaded = new sqlJs.Database(isEmpty ? undefined : readFileSync(file))
  loaded.exec(`PRAGMA locking_mode = ${lockingMode}; ${PRAGMAS}`)
  return { loaded, prepared: new Map(), attached: new Map(), connections: 0 }
}

/** The path of the virtual file that the library keeps a database in. */
function pathOf(loaded: Loaded): string {
  const { filename } = loaded as unknown as { readonly filename: string }
  assert.ok(filename.length > 0)
  return filename
}

function preparedFor({ loaded, prepared }: OpenFile, sql: string): Prepared {
  const known = prepared.get(sql)
  if (known !== undefined) return known
  const made = { statement: loaded.prepare(sql), columns: null }
  prepared.set(sql, made)
  return made
}

function rowsOf(prepared: Prepared, parameters: readonly Bindable[]): object[] {
  const { statement } = prepared
  const rows: object[] = []
  try {
    statement.bind([...parameters])
    while (statement.step()) {
      const columns = (prepared.columns ??= statement.getColumnNames())
      const row: Record<string, unknown> = {}
      for (const [index, value] of statement.get().entries())
        row[columns[index]!] = value instanceof Uint8Array ? Buffer.from(value) : value
      rows.push(row)
    }
  } finally {
    statement.reset()
  }
  return rows
}

async function checkIsMigrated(database: Database): Promise<void> {
  const [row] = await database.all<{ user_version: number }>('PRAGMA user_version')
  assert.ok((row?.user_version ?? 0) > 0, 'a file is migrated by the driver of the product')
}
