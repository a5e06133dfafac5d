/**
 * Copies schemas between PostgreSQL and SQLite files, row by row.
 *
 * Does not own: who may write meanwhile (callers: an export reads one snapshot, an import needs an
 * empty schema without an owner).
 *
 * - The tables and columns are those of the SQLite schema; PostgreSQL has the same, but for the
 *   outbox (`events.settled_at`) and the lease (`owner`).
 * - Rows travel as JSON pages; whole numbers and blobs as text, so that nothing is rounded.
 */
import { join } from 'node:path'
import { projectRoot } from '../../base/protos.js'
import { openDatabase, type Database } from '../database.js'
import { PROCESSOR_SCHEMA } from '../store.js'
import { connectToPrimary, parseStoreUrl, type Connection } from './connection.js'
import { migrate } from './migrate.js'
import { BOOKS } from './store.js'

/** The SQLite schemas with the same tables. */
const SQLITE_SCHEMAS = {
  books: PROCESSOR_SCHEMA,
  pool: join(projectRoot(), 'actors/webhook/store/schema'),
} as const

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

interface Column {
  readonly name: string
  readonly type: 'TEXT' | 'INTEGER' | 'BLOB'
}

interface CopyTable {
  readonly table: string
  readonly columns: readonly Column[]
}

const PAGE_ROWS = 10_000

export interface Export {
  readonly schema: string
  /** A new SQLite file. */
  readonly file: string
  readonly holds: keyof typeof SQLITE_SCHEMAS
}

/**
 * Writes schemas to SQLite files, all as one snapshot shows them. A schema that does not exist has
 * no file.
 *
 * @returns the rows of each table
 */
export async function exportSchemas(
  url: string,
  wanted: readonly Export[],
): Promise<readonly CopiedTable[]> {
  const connection = await connectToPrimary(parseStoreUrl(url), 'pg_catalog', 'export')
  try {
    await connection.exec('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const found = await connection.all<{ name: string }>('SELECT nspname AS name FROM pg_namespace')
    const known = new Set(found.map(({ name }) => name))
    const copied: CopiedTable[] = []
    for (const each of wanted) {
      if (known.has(each.schema)) copied.push(...(await exportSchema(connection, each)))
    }
    return copied
  } finally {
    await connection.close()
  }
}

async function exportSchema(
  connection: Connection,
  { schema, file, holds }: Export,
): Promise<readonly CopiedTable[]> {
  const target = await openDatabase(file, { migrations: SQLITE_SCHEMAS[holds] })
  try {
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

/** Writes the books of a schema to a new SQLite file. @returns the rows of each table */
export const exportBooks = (
  url: string,
  shard: string,
  file: string,
): Promise<readonly CopiedTable[]> => exportSchemas(url, [{ schema: shard, file, holds: 'books' }])

/**
 * Writes the books of a SQLite file to a schema without rows, which gets created.
 *
 * @returns the rows of each table
 * @throws Error when the schema has books
 */
export async function importBooks(
  file: string,
  url: string,
  shard: string,
): Promise<readonly CopiedTable[]> {
  const source = await openDatabase(file, { readOnly: true })
  const connection = await connectToPrimary(parseStoreUrl(url), shard, 'import')
  try {
    await migrate(connection, shard, BOOKS)
    await connection.exec('BEGIN')
    await connection.exec('LOCK TABLE owner IN ACCESS EXCLUSIVE MODE')
    const [owner] = await connection.all<{ epoch: number }>('SELECT epoch FROM owner')
    if (owner?.epoch !== 0) throw new Error(`schema ${shard} has books: name another SHARD`)
    const copied: CopiedTable[] = []
    for (const table of await tablesOf(source)) {
      copied.push({ table: table.table, rows: await importTable(source, connection, table) })
    }
    for (const sequence of ['nonces', 'operator_log']) {
      await connection.exec(`SELECT setval(pg_get_serial_sequence('${sequence}', 'id'),
        (SELECT coalesce(max(id), 0) + 1 FROM ${sequence}), false)`)
    }
    await connection.exec('COMMIT')
    await connection.exec('ANALYZE')
    return copied
  } finally {
    await connection.close()
    await source.close()
  }
}

/** In an order in which every referenced table comes first: that of their creation. */
async function tablesOf(database: Database): Promise<readonly CopyTable[]> {
  const tables = await database.all<{ name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
     ORDER BY rowid`,
  )
  return Promise.all(
    tables.map(async ({ name }) => ({
      table: name,
      columns: await database.all<Column>(`SELECT name, type FROM pragma_table_info('${name}')`),
    })),
  )
}

async function exportTable(
  connection: Connection,
  target: Database,
  { table, columns }: CopyTable,
): Promise<number> {
  const cells = columns.map(({ name, type }) => {
    if (table === 'events' && name === 'settled_at')
      return '(SELECT settled_at::text FROM event_outcomes o WHERE o.position = events.position)'
    if (type === 'INTEGER') return `${name}::text`
    return type === 'BLOB' ? `encode(${name}, 'hex')` : name
  })
  const values = columns.map(({ type }, place) => {
    const cell = `value ->> '$[${place}]'`
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
  { table, columns }: CopyTable,
): Promise<number> {
  if (table === 'owner') return importOwner(source, connection)
  if (table === 'meta') await connection.exec('DELETE FROM meta')
  const isEvents = table === 'events'
  const kept = columns.filter(({ name }) => !(isEvents && name === 'settled_at'))
  const cells = kept.map(({ name, type }) => {
    if (type === 'INTEGER') return `CAST(${name} AS TEXT)`
    return type === 'BLOB' ? `hex(${name})` : name
  })
  const values = kept.map(({ type }, place) => {
    if (type === 'INTEGER') return `(r ->> ${place})::bigint`
    return type === 'BLOB' ? `decode(r ->> ${place}, 'hex')` : `r ->> ${place}`
  })
  const insert = `INSERT INTO ${table} (${namesOf(kept)})
    SELECT ${values.join(', ')} FROM json_array_elements(?::json) AS r`
  let rows = 0
  for await (const page of pagesOf(source, table, `json_array(${cells.join(', ')})`)) {
    await connection.run(insert, [`[${page.join(',')}]`])
    rows += page.length
  }
  if (isEvents) await importOutcomes(source, connection)
  return rows
}

async function importOutcomes(source: Database, connection: Connection): Promise<void> {
  const cell = `json_array(position, settled_at)`
  for await (const page of pagesOf(source, 'events', cell)) {
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

async function* pagesOf(
  source: Database,
  table: string,
  cell: string,
): AsyncGenerator<readonly string[]> {
  const key = await source.all<{ name: string }>(
    `SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`,
  )
  const order = key.map(({ name }) => name).join(', ')
  for (let from = 0; ; from += PAGE_ROWS) {
    const page = await source.all<{ row: string }>(
      `SELECT ${cell} AS row FROM ${table} ORDER BY ${order} LIMIT ? OFFSET ?`,
      [PAGE_ROWS, from],
    )
    if (page.length === 0) return
    yield page.map(({ row }) => row)
  }
}

const namesOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(', ')
