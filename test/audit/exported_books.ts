/**
 * Books in PostgreSQL for the audit: a schema takes the rows of a SQLite file, whatever constraints
 * they violate, and is exported as the audit program does it.
 */
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.js'
import type { Exported } from '../../src/audit/books.js'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Database } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { exportSchemas } from '../../src/store/postgres/copy.js'
import { migrate } from '../../src/store/postgres/migrate.js'
import { BOOKS } from '../../src/store/postgres/store.js'
import { dropSchema, server } from '../support/books.js'

/** Exports a folder's books through PostgreSQL; the pools' files stay as they are. */
export interface Exporter {
  export(folder: string): Promise<Exported>
  close(): Promise<void>
}

/** Not null and primary keys stay: no corruption violates them. */
const WITHOUT_CONSTRAINTS = (schema: string): string => `DO $$ DECLARE r record; BEGIN
  FOR r IN SELECT conrelid::regclass AS owner, conname FROM pg_constraint
    WHERE connamespace = '${schema}'::regnamespace AND contype IN ('c', 'f', 'u') LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.owner, r.conname);
  END LOOP; END $$`
/** The outbox derives from the events; a file has no lease. */
const OTHER_TABLES = ['outbox', 'event_outcomes', 'owner']
const AN_OWNER = `INSERT INTO owner VALUES (1, 0, 0, '', 0, 0, 0) ON CONFLICT DO NOTHING`
const SETTLED = `DELETE FROM outbox; DELETE FROM event_outcomes`

export async function createExporter(clock: Clock): Promise<Exporter> {
  const schema = `audit_${randomBytes(8).toString('hex')}`
  const connection = await connectToPrimary(parseStoreUrl(server()), schema, 'test')
  await migrate(connection, schema, BOOKS)
  await connection.exec(WITHOUT_CONSTRAINTS(schema))
  const tables = await connection.all<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = ?`,
    [schema],
  )
  const names = tables.map(({ name }) => name).filter((name) => !OTHER_TABLES.includes(name))
  /** The rows of each table, as JSON. */
  const filled = new Map<string, string>()

  const fill = async (file: string): Promise<void> => {
    const source = await openDatabase(file, { readOnly: true })
    for (const table of names) {
      const rows = await rowsOf(source, table)
      if (filled.get(table) === rows) continue
      filled.set(table, rows)
      await connection.run(`DELETE FROM ${table}`)
      await connection.run(
        `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ?::json)`,
        [rows],
      )
      if (table === 'events') await settle(rows)
    }
    const owners = await source.all('SELECT 1 FROM owner')
    await connection.exec(owners.length === 0 ? 'DELETE FROM owner' : AN_OWNER)
    await source.close()
  }
  const settle = async (rows: string): Promise<void> => {
    await connection.exec(SETTLED)
    await connection.run(
      `INSERT INTO event_outcomes SELECT position, settled_at
       FROM json_to_recordset(?::json) AS e (position bigint, settled_at bigint)
       WHERE settled_at IS NOT NULL`,
      [rows],
    )
  }
  let exports = 0
  const exportTo = async (folder: string, file: string): Promise<void> => {
    const source = join(folder, FILES.processorDatabase)
    if (!existsSync(source)) return
    await fill(source)
    await exportSchemas(server(), [{ schema, file, holds: 'books' }])
  }

  return {
    export: async (folder) => {
      const to = join(folder, `exported-${++exports}`)
      mkdirSync(to)
      for (const name of readdirSync(folder)) {
        if (name.startsWith('webhooks')) cpSync(join(folder, name), join(to, name))
      }
      const asOf = clock.now()
      await exportTo(folder, join(to, FILES.processorDatabase))
      const again = async (): Promise<string> => {
        await exportTo(folder, join(to, 'later.db'))
        return join(to, 'later.db')
      }
      return { folder: to, asOf, again }
    },
    close: async () => {
      await connection.close()
      await dropSchema(schema)
    },
  }
}

async function rowsOf(source: Database, table: string): Promise<string> {
  const columns = await source.all<{ name: string; type: string }>(
    `SELECT name, type FROM pragma_table_info('${table}')`,
  )
  const members = columns.map(({ name, type }) => {
    if (type === 'BLOB') return `'${name}', '\\x' || hex(${name})`
    return `'${name}', ${type === 'INTEGER' ? `CAST(${name} AS TEXT)` : name}`
  })
  const [row] = await source.all<{ rows: string }>(
    `SELECT json_group_array(json_object(${members.join(', ')})) AS rows FROM ${table}`,
  )
  return row?.rows ?? '[]'
}
