/**
 * Copies schemas between PostgreSQL and SQLite files, row by row.
 *
 * Does not own: keeping writers out (callers: an export reads one snapshot, an import needs schemas
 * without rows and owner).
 *
 * - The tables and columns are those of the SQLite schema; PostgreSQL has the same, but for the
 *   outbox (`events.settled_at`) and the lease (`owner`).
 * - Rows travel as JSON pages; whole numbers and blobs as text, so that nothing is rounded.
 */
import { join } from 'node:path'
import { projectRoot } from '../../base/project_root.js'
import { openDatabase } from '../sqlite/database.js'
import type { Database, Reader } from '../database.js'
import { PROCESSOR_SCHEMA } from '../sqlite/store.js'
import {
  PAGE_ROWS,
  pagesOf,
  tablesOf,
  type Column,
  type StoredTable,
} from '../sqlite/table_pages.js'
import { connectToPrimary, parseStoreUrl, type Connection } from './connection.js'
import { migrate, NOT_ALLOWED, type SchemaDefinition } from './migrate.js'
import { BOOKS } from './store.js'

const POOL_STORE = join(projectRoot(), 'actors/webhook/store')

interface Kind {
  /** Migrations of the SQLite file. */
  readonly sqlite: string
  readonly postgres: string
  /** Tables whose next id comes from a sequence, and that column. */
  readonly sequences: Readonly<Record<string, string>>
  /** What the file holds, in a sentence about a schema that is not empty. */
  readonly contents: string
  readonly setting: string
}

const KINDS = {
  books: {
    sqlite: PROCESSOR_SCHEMA,
    postgres: BOOKS.migrations,
    sequences: { nonces: 'id', operator_log: 'id' },
    contents: 'books',
    setting: 'SHARD',
  },
  pool: {
    sqlite: join(POOL_STORE, 'schema'),
    postgres: join(POOL_STORE, 'postgres/schema'),
    sequences: { events: 'position' },
    contents: 'deliveries',
    setting: 'WEBHOOK_POOL_SCHEMA',
  },
} as const satisfies Readonly<Record<string, Kind>>

/** The schema of a webhook pool. */
export const POOL_SCHEMA: SchemaDefinition = { migrations: KINDS.pool.postgres }

/** The migrations of a SQLite file. */
export const migrationsOf = (holds: keyof typeof KINDS): string => KINDS[holds].sqlite

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** A schema of PostgreSQL, and the SQLite file with the same rows. */
export interface SchemaFile {
  readonly schema: string
  readonly file: string
  readonly holds: keyof typeof KINDS
}

/** A snapshot of a server. */
export interface Snapshot {
  readonly all: Reader['all']
  /**
   * Writes schemas to new SQLite files. A schema that does not exist has no file.
   *
   * @returns the rows of each table
   */
  export(wanted: readonly SchemaFile[]): Promise<readonly CopiedTable[]>
}

/** A transaction rests while a file is written or read: the disk of the files can be slow. */
const RESTS_WITHIN = `SET LOCAL idle_in_transaction_session_timeout = '10min'`

/** All reads of `read` use one snapshot. */
export async function readSnapshot<Result>(
  url: string,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const connection = await connectToPrimary(parseStoreUrl(url), 'pg_catalog', 'export')
  try {
    const books = await connection.all<{ schema: string }>(
      `SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'intents'`,
    )
    await connection.exec(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${RESTS_WITHIN}`)
    // Which tables a shard has is in no snapshot, so no move of a large partner ends meanwhile.
    for (const { schema } of books) await lockBooks(connection, schema)
    const found = await connection.all<{ name: string }>('SELECT nspname AS name FROM pg_namespace')
    const known = new Set(found.map(({ name }) => name))
    return await read({
      all: connection.all,
      export: async (wanted) => {
        const copied: CopiedTable[] = []
        for (const each of wanted) {
          if (known.has(each.schema)) copied.push(...(await exportSchema(connection, each)))
        }
        return copied
      },
    })
  } finally {
    await connection.close()
  }
}

/** No schema or table any more, or no right to read it: it is not exported. */
const ABSENT: readonly unknown[] = ['3F000', '42P01', NOT_ALLOWED]

async function lockBooks(connection: Connection, schema: string): Promise<void> {
  await connection.exec('SAVEPOINT books')
  try {
    await connection.exec(`LOCK TABLE ${schema}.intents IN ACCESS SHARE MODE`)
  } catch (error) {
    if (!ABSENT.includes((error as { code?: unknown }).code)) throw error
    await connection.exec('ROLLBACK TO books')
  }
}

/** Writes schemas to new SQLite files, all as one snapshot shows them. */
export const exportSchemas = (
  url: string,
  wanted: readonly SchemaFile[],
): Promise<readonly CopiedTable[]> => readSnapshot(url, (snapshot) => snapshot.export(wanted))

async function exportSchema(
  connection: Connection,
  { schema, file, holds }: SchemaFile,
): Promise<readonly CopiedTable[]> {
  const target = await openDatabase(file, { migrations: KINDS[holds].sqlite })
  try {
    // The reader of the file checks the rows.
    await target.exec('PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF')
    await connection.exec(`SET LOCAL search_path = ${schema}`)
    const copied: CopiedTable[] = []
    for (const table of await tablesOf(target)) {
      await target.exec(`DELETE FROM ${table.table}`)
      copied.push({ table: table.table, rows: await exportTable(connection, target, table) })
    }
    return copied
  } finally {
    await target.close()
  }
}

/**
 * Writes SQLite files to schemas without rows, which get created: all of them or none.
 *
 * @param toText what is stored of a row's JSON text
 * @returns the rows of each table
 * @throws Error when a schema is not empty
 */
export async function importSchemas(
  url: string,
  wanted: readonly SchemaFile[],
  toText: (row: string, { holds }: SchemaFile) => string = (row) => row,
): Promise<readonly CopiedTable[]> {
  const connection = await connectToPrimary(parseStoreUrl(url), 'pg_catalog', 'import')
  try {
    for (const { schema, holds } of wanted) {
      await connection.exec(`SET search_path = ${schema}`)
      await migrate(connection, schema, { migrations: KINDS[holds].postgres })
    }
    await connection.exec(`BEGIN; ${RESTS_WITHIN}`)
    const copied: CopiedTable[] = []
    for (const each of wanted) {
      copied.push(...(await importSchema(connection, each, (row) => toText(row, each))))
    }
    await connection.exec('COMMIT')
    await connection.exec('ANALYZE')
    return copied
  } finally {
    await connection.close()
  }
}

async function importSchema(
  connection: Connection,
  { schema, file, holds }: SchemaFile,
  toText: (row: string) => string,
): Promise<readonly CopiedTable[]> {
  const { sequences, contents, setting } = KINDS[holds]
  await connection.exec(`SET LOCAL search_path = ${schema}`)
  await connection.exec('LOCK TABLE owner IN ACCESS EXCLUSIVE MODE')
  const [owner] = await connection.all<{ epoch: number }>('SELECT epoch FROM owner')
  if (owner?.epoch !== 0)
    throw new Error(`schema ${schema} has ${contents}: name another ${setting}`)
  // A pool's file has no epoch. The books' overwrite this one.
  await connection.run('UPDATE owner SET epoch = 1')
  const source = await openDatabase(file, { readOnly: true })
  try {
    const copied: CopiedTable[] = []
    for (const table of await tablesOf(source)) {
      const rows = await importTable(source, connection, table, toText)
      copied.push({ table: table.table, rows })
    }
    for (const [table, column] of Object.entries(sequences)) {
      await connection.exec(`SELECT setval(pg_get_serial_sequence('${table}', '${column}'),
        (SELECT coalesce(max(${column}), 0) + 1 FROM ${table}), false)`)
    }
    return copied
  } finally {
    await source.close()
  }
}

async function exportTable(
  connection: Connection,
  target: Database,
  { table, columns }: StoredTable,
): Promise<number> {
  const cells = columns.map(({ name, type }) => {
    if (name === 'settled_at')
      return '(SELECT settled_at::text FROM event_outcomes o WHERE o.position = events.position)'
    if (type === 'INTEGER') return `${name}::text`
    return type === 'BLOB' ? `encode(${name}, 'hex')` : name
  })
  const values = columns.map(({ type }, index) => {
    const cell = `value ->> '$[${index}]'`
    if (type === 'INTEGER') return `CAST(${cell} AS INTEGER)`
    return type === 'BLOB' ? `unhex(${cell})` : cell
  })
  const insert = `INSERT INTO ${table} (${namesOf(columns)})
    SELECT ${values.join(', ')} FROM json_each(?) WHERE true`
  await connection.exec(
    `DECLARE copied CURSOR FOR SELECT json_build_array(${cells.join(', ')})::text AS row
     FROM ${table}`,
  )
  let rows = 0
  for (;;) {
    const page = await connection.all<{ row: string }>(`FETCH ${PAGE_ROWS} FROM copied`)
    if (page.length === 0) break
    await target.run(insert, [`[${page.map(({ row }) => row).join(',')}]`])
    rows += page.length
  }
  await connection.exec('CLOSE copied')
  return rows
}

async function importTable(
  source: Database,
  connection: Connection,
  stored: StoredTable,
  toText: (row: string) => string,
): Promise<number> {
  const { table, columns } = stored
  if (table === 'owner') return importOwner(source, connection)
  if (table === 'meta') await connection.exec('DELETE FROM meta')
  const outcome = columns.find(({ name }) => name === 'settled_at')
  const kept = columns.filter((column) => column !== outcome)
  const values = kept.map(({ type }, index) => {
    if (type === 'INTEGER') return `(r ->> ${index})::bigint`
    return type === 'BLOB' ? `decode(r ->> ${index}, 'hex')` : `r ->> ${index}`
  })
  const insert = `INSERT INTO ${table} (${namesOf(kept)})
    SELECT ${values.join(', ')} FROM json_array_elements(?::json) AS r`
  let rows = 0
  for await (const page of pagesOf(source, stored, kept)) {
    await connection.run(insert, [`[${page.map(toText).join(',')}]`])
    rows += page.length
  }
  if (outcome !== undefined) await importOutcomes(source, connection, stored)
  return rows
}

async function importOutcomes(
  source: Database,
  connection: Connection,
  events: StoredTable,
): Promise<void> {
  const cells = ['position', 'settled_at'].flatMap((name) =>
    events.columns.filter((column) => column.name === name),
  )
  for await (const page of pagesOf(source, events, cells)) {
    const rows = `[${page.join(',')}]`
    await connection.run(
      `INSERT INTO event_outcomes SELECT (r ->> 0)::bigint, (r ->> 1)::bigint
       FROM json_array_elements(?::json) AS r WHERE r ->> 1 IS NOT NULL`,
      [rows],
    )
    await connection.run(
      `INSERT INTO outbox SELECT (r ->> 0)::bigint
       FROM json_array_elements(?::json) AS r WHERE r ->> 1 IS NULL`,
      [rows],
    )
  }
}

async function importOwner(source: Database, connection: Connection): Promise<number> {
  const [owner] = await source.all<{ epoch: number; last_batch: number }>(
    'SELECT epoch, last_batch FROM owner',
  )
  if (owner === undefined) throw new Error('the books have no owner row')
  return connection.run('UPDATE owner SET epoch = ?, last_batch = ?', [
    owner.epoch,
    owner.last_batch,
  ])
}

const namesOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(', ')
