/**
 * A schema of PostgreSQL: created and migrated under a lock, with its commit function.
 *
 * - Migrations only expand: the previous version of the program can commit to the newer schema.
 * - An owner may commit meanwhile, and a snapshot, such as an export, be read for minutes. Commits
 *   queue behind a migration that waits for the snapshot's locks, so it waits shortly, undoes
 *   itself and begins again.
 * - A commit function is named after its own text and never replaced, so two versions of the
 *   program run side by side.
 * - A schema of a newer version is rejected, as is a database that cannot store every text, or does
 *   not collate by bytes: ids are compared by bytes.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECOND, systemPause, type Pause } from '../../base/clock.js'
import type { CommitFunction } from './commit_function.js'
import type { Connection } from './connection.js'

export interface SchemaDefinition {
  /** Folder of numbered `.sql` files; the first one creates the version table. */
  readonly migrations: string
  /** The table with one row and the column `schema_version`. Default: `owner`. */
  readonly versionTable?: string
}

/** A schema that one process at a time owns and commits to. */
export interface OwnedSchemaDefinition extends SchemaDefinition {
  readonly commitFunction: Pick<CommitFunction<never>, 'name' | 'definition' | 'statement'>
}

/** Names that are also safe inside SQL. */
export const SHARD_NAME = /^[a-z][a-z0-9_]{0,40}$/

/** Far shorter than an owner waits for its commit. */
const LOCKS_WITHIN = '500ms'
const AGAIN_AFTER_MS = 2 * SECOND
/** PostgreSQL's code for a lock that is not free. */
const NO_LOCK = '55P03'
/** PostgreSQL's code for a right that the role lacks. */
export const NOT_ALLOWED = '42501'

export interface MigrationWaits {
  /** Default: the system's. */
  readonly pause?: Pause
  /** Called once, when a lock that it needs is not free. */
  readonly onBlocked?: () => void
}

export async function migrate(
  connection: Connection,
  schema: string,
  definition: SchemaDefinition | OwnedSchemaDefinition,
  { pause = systemPause, onBlocked = () => undefined }: MigrationWaits = {},
): Promise<void> {
  await checkLocale(connection)
  for (let tries = 0; !(await isMigrated(connection, schema, definition)); tries++) {
    if (tries === 0) onBlocked()
    await pause(AGAIN_AFTER_MS)
  }
}

/** @returns false when a lock was not free soon: nothing has changed */
async function isMigrated(
  connection: Connection,
  schema: string,
  definition: SchemaDefinition | OwnedSchemaDefinition,
): Promise<boolean> {
  await connection.exec('BEGIN')
  try {
    await connection.run('SELECT pg_advisory_xact_lock(hashtext(?))', [schema])
    await connection.exec(`SET LOCAL lock_timeout = '${LOCKS_WITHIN}'`)
    await ensureSchema(connection, schema)
    await applyMigrations(connection, schema, definition)
    if ('commitFunction' in definition)
      await ensureFunction(connection, schema, definition.commitFunction)
    await connection.exec('COMMIT')
    return true
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => undefined)
    if ((error as { code?: string }).code === NO_LOCK) return false
    throw error
  }
}

/** A role that may not create schemas uses one that was made for it. */
async function ensureSchema(connection: Connection, schema: string): Promise<void> {
  const found = await connection.all('SELECT 1 FROM pg_namespace WHERE nspname = ?', [schema])
  if (found.length > 0) return
  try {
    await connection.exec(`CREATE SCHEMA ${schema}`)
  } catch (error) {
    if ((error as { code?: string }).code !== NOT_ALLOWED) throw error
    const { user = 'the role', database } = connection.target
    throw new Error(
      `${user} may not create the schema ${schema} in the database ${database}: ` +
        `CREATE SCHEMA ${schema} AUTHORIZATION ${user}`,
    )
  }
}

interface DatabaseLocale {
  readonly name: string
  readonly encoding: string
  readonly collation: string
  /** `c`: the C library, `i`: ICU, `b`: PostgreSQL itself, which collates by code points. */
  readonly provider: string
}

async function checkLocale(connection: Connection): Promise<void> {
  const [row] = await connection.all<DatabaseLocale>(
    `SELECT datname AS name, pg_encoding_to_char(encoding) AS encoding, datcollate AS collation,
       datlocprovider AS provider
     FROM pg_database WHERE datname = current_database()`,
  )
  if (row === undefined) return
  const { name, encoding, collation, provider } = row
  const create = "create it with TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
  if (encoding !== 'UTF8') throw new Error(`database ${name} stores ${encoding}: ${create}`)
  const byBytes = provider === 'b' || (provider === 'c' && BYTE_COLLATIONS.includes(collation))
  if (!byBytes) {
    const by = provider === 'i' ? 'ICU' : collation
    throw new Error(`database ${name} collates by ${by}: ${create}`)
  }
}

const BYTE_COLLATIONS = ['C', 'POSIX', 'C.UTF-8', 'C.utf8']

export const migrationsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()

/** The newest version of a schema that this program knows. */
export const newestVersion = ({ migrations }: SchemaDefinition): number =>
  migrationsIn(migrations).length

async function applyMigrations(
  connection: Connection,
  schema: string,
  { migrations: folder, versionTable = 'owner' }: SchemaDefinition,
): Promise<void> {
  const files = migrationsIn(folder)
  const applied = await schemaVersion(connection, schema, versionTable)
  if (applied > files.length) {
    throw new Error(
      `schema ${schema} was written by a newer version (${applied} > ${files.length})`,
    )
  }
  for (const file of files.slice(applied)) {
    await connection.exec(readFileSync(join(folder, file), 'utf8'))
  }
  await connection.run(`UPDATE ${versionTable} SET schema_version = ? WHERE schema_version <> ?`, [
    files.length,
    files.length,
  ])
}

async function schemaVersion(
  connection: Connection,
  schema: string,
  table: string,
): Promise<number> {
  const [found] = await connection.all<{ name: string | null }>(
    'SELECT to_regclass(?)::text AS name',
    [`${schema}.${table}`],
  )
  if (found?.name == null) return 0
  const [row] = await connection.all<{ version: number }>(
    `SELECT schema_version AS version FROM ${table}`,
  )
  if (row === undefined) throw new Error(`${schema}.${table} has no row: restore it`)
  return row.version
}

async function ensureFunction(
  connection: Connection,
  schema: string,
  { name, definition }: OwnedSchemaDefinition['commitFunction'],
): Promise<void> {
  const found = await connection.all(
    'SELECT 1 FROM pg_proc WHERE proname = ? AND pronamespace = ?::regnamespace',
    [name, schema],
  )
  if (found.length === 0) await connection.exec(definition)
}
