/**
 * Schemas that the tests of one process use one after another: emptying one is faster than creating
 * one.
 */
import { randomBytes } from 'node:crypto'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'

/** The content of a new schema. */
interface NewSchema {
  readonly tables: readonly string[]
  /** SQL that makes the rows of the emptied tables those of a new schema. */
  readonly refill: string
}

const spares: string[] = []
let created: NewSchema | undefined

const TABLES = `SELECT tablename AS name FROM pg_tables WHERE schemaname = ?`
const IDENTITIES = `SELECT table_name AS "table", column_name AS "column"
  FROM information_schema.columns WHERE table_schema = ? AND is_identity = 'YES'`

/** The recorded row already has its first owner. */
const NO_OWNER = `UPDATE owner SET epoch = 0, last_batch = 0, holder = '', beat = 0, session = 0`

const inSchema = async <Result>(
  url: string,
  schema: string,
  use: (connection: Awaited<ReturnType<typeof connectToPrimary>>) => Promise<Result>,
): Promise<Result> => {
  const connection = await connectToPrimary(parseStoreUrl(url), schema, 'test')
  return use(connection).finally(() => connection.close())
}

/** Renames an emptied schema to this name if there is one; otherwise drops the name. */
export const takeSchema = (url: string, name: string): Promise<void> =>
  inSchema(url, 'pg_catalog', async (connection) => {
    const spare = spares.pop()
    await connection.exec(`SET client_min_messages = error;
      DROP SCHEMA IF EXISTS ${name} CASCADE;
      ${spare === undefined ? '' : `ALTER SCHEMA ${spare} RENAME TO ${name}`}`)
  })

/** Records the content of a new schema; call it before the first write. */
export async function rememberNew(url: string, name: string): Promise<void> {
  created ??= await inSchema(url, name, async (connection) => {
    const tables = (await connection.all<{ name: string }>(TABLES, [name])).map((row) => row.name)
    const identities = await connection.all<{ table: string; column: string }>(IDENTITIES, [name])
    const refills = identities.map(
      ({ table, column }) => `ALTER TABLE ${table} ALTER ${column} RESTART`,
    )
    for (const table of tables) {
      const rows = await connection.all<{ row: string }>(
        `SELECT quote_literal(to_json(t)::text) AS row FROM ${table} AS t`,
      )
      for (const { row } of rows)
        refills.push(
          `INSERT INTO ${table} SELECT * FROM json_populate_record(NULL::${table}, ${row})`,
        )
    }
    refills.push(NO_OWNER)
    return { tables, refill: refills.join(';\n') }
  })
}

/** Empties a schema for the next test of this process. */
export async function returnSchema(url: string, name: string): Promise<void> {
  if (created === undefined) return
  const { tables, refill } = created
  const spare = `spare_${randomBytes(8).toString('hex')}`
  await inSchema(url, name, (connection) =>
    connection.exec(`SET session_replication_role = replica;
      ${tables.map((table) => `DELETE FROM ${table};`).join('\n')}
      ${refill};
      ALTER SCHEMA ${name} RENAME TO ${spare}`),
  )
  spares.push(spare)
}
