/**
 * Schemas that the tests of one process use one after another: emptying one is faster than creating
 * one.
 */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { parseStoreUrl } from '../../src/store/postgres/connection.js'

/** The content of a new schema. */
interface NewSchema {
  readonly tables: readonly string[]
  /** SQL that makes the rows of the emptied tables those of a new schema. */
  readonly refill: string
}

const spares: string[] = []
let created: NewSchema | undefined

const TABLES = `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1`
const IDENTITIES = `SELECT table_name AS "table", column_name AS "column"
  FROM information_schema.columns WHERE table_schema = $1 AND is_identity = 'YES'`

/** The recorded row already has its first owner. */
const NO_OWNER = `UPDATE owner SET epoch = 0, last_batch = 0, holder = '', beat = 0, session = 0`

/** Its types leave them out. */
interface Client extends pg.Client {
  ref(): void
  unref(): void
}

let opened: Promise<Client> | undefined
let uses = 0

async function connect(url: string): Promise<Client> {
  const { default: driver } = await import('pg')
  const { ssl: _loopback, ...target } = parseStoreUrl(url)[0]!
  const client = new driver.Client({ ...target, application_name: 'causeway test' }) as Client
  client.on('error', () => (opened = undefined))
  await client.connect()
  return client
}

/**
 * One connection for all schemas: to connect takes both ends longer than to empty the tables. The
 * process ends while it is open.
 */
async function onServer<Result>(
  url: string,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  uses += 1
  const client = await (opened ??= connect(url))
  client.ref()
  return use(client).finally(() => {
    uses -= 1
    if (uses === 0) client.unref()
  })
}

/** Renames an emptied schema to this name if there is one; otherwise drops the name. */
export const takeSchema = (url: string, name: string): Promise<unknown> =>
  onServer(url, (client) => {
    const spare = spares.pop()
    return client.query(`SET client_min_messages = error;
      DROP SCHEMA IF EXISTS ${name} CASCADE;
      ${spare === undefined ? '' : `ALTER SCHEMA ${spare} RENAME TO ${name}`}`)
  })

/** Records the content of a new schema; call it before the first write. */
export async function rememberNew(url: string, name: string): Promise<void> {
  created ??= await onServer(url, async (client) => {
    const tables = (await client.query<{ name: string }>(TABLES, [name])).rows.map(
      (row) => row.name,
    )
    const { rows: identities } = await client.query<{ table: string; column: string }>(IDENTITIES, [
      name,
    ])
    const refills = identities.map(
      ({ table, column }) => `ALTER TABLE ${table} ALTER ${column} RESTART`,
    )
    for (const table of tables) {
      const { rows } = await client.query<{ row: string }>(
        `SELECT quote_literal(to_json(t)::text) AS row FROM ${name}.${table} AS t`,
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
  await onServer(url, (client) =>
    client.query(`SET LOCAL search_path = ${name};
      SET LOCAL session_replication_role = replica;
      ${tables.map((table) => `DELETE FROM ${table};`).join('\n')}
      ${refill};
      ALTER SCHEMA ${name} RENAME TO ${spare}`),
  )
  spares.push(spare)
}
