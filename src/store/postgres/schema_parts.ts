/**
 * The parts of a schema of PostgreSQL: columns, indexes, constraints, triggers and functions, each
 * with its definition; as they are, and as the migrations make them.
 *
 * - The migrations are applied to a schema of their own in a transaction that is undone: it takes
 *   no lock on other schemas.
 * - The commit function is left out: an owner makes the one that it needs.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from './connection.js'
import { migrationsIn, type SchemaDefinition } from './migrate.js'

/** Definitions by name, e.g. `index payouts_due`. */
export type SchemaParts = ReadonlyMap<string, string>

export interface FoundSchema {
  readonly version: number
  readonly parts: SchemaParts
  /** The rows of a partner are set apart for a move, with tables and triggers of their own. */
  readonly hasCopies: boolean
}

const OF_SCHEMA = `n.nspname = ?`
const PARTS = `
  SELECT 'column ' || c.relname || '.' || a.attname AS name,
    format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') AS text
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE ${OF_SCHEMA} AND c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT 'index ' || c.relname,
    pg_get_indexdef(c.oid) || CASE WHEN i.indisvalid THEN '' ELSE ' INVALID' END
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OF_SCHEMA}
  UNION ALL
  SELECT 'constraint ' || t.conname || ' of ' || c.relname, pg_get_constraintdef(t.oid)
  FROM pg_constraint t JOIN pg_class c ON c.oid = t.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OF_SCHEMA}
  UNION ALL
  SELECT 'trigger ' || t.tgname || ' of ' || c.relname,
    pg_get_triggerdef(t.oid) || CASE WHEN t.tgenabled = 'D' THEN ' DISABLED' ELSE '' END
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OF_SCHEMA} AND NOT t.tgisinternal
  UNION ALL
  SELECT 'function ' || p.proname, p.prosrc FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE ${OF_SCHEMA} AND p.proname NOT LIKE 'commit!_%' ESCAPE '!'`
const PARAMETERS = PARTS.split(OF_SCHEMA).length - 1

async function partsOf(connection: Connection, schema: string): Promise<SchemaParts> {
  const rows = await connection.all<{ name: string; text: string }>(
    PARTS,
    Array.from({ length: PARAMETERS }, () => schema),
  )
  return new Map(rows.map(({ name, text }) => [name, text.replaceAll(`${schema}.`, '')]))
}

/** Schemas that have both tables. */
export async function schemasWith(
  connection: Connection,
  one: string,
  other: string,
): Promise<readonly string[]> {
  const rows = await connection.all<{ schema: string }>(
    `SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relname = ? AND EXISTS (SELECT 1 FROM pg_class o
       WHERE o.relnamespace = n.oid AND o.relname = ?) ORDER BY 1`,
    [one, other],
  )
  return rows.map(({ schema }) => schema)
}

const COPIES = `SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? LIMIT 1`

export async function readSchema(
  connection: Connection,
  schema: string,
  { versionTable = 'owner' }: SchemaDefinition,
): Promise<FoundSchema> {
  const [row] = await connection.all<{ version: number }>(
    `SELECT schema_version AS version FROM ${schema}.${versionTable}`,
  )
  const copies = await connection.all(COPIES, [schema])
  const parts = await partsOf(connection, schema)
  return { version: row?.version ?? 0, parts, hasCopies: copies.length > 0 }
}

/** The parts that the first migrations make, so many as `version` says. */
export async function expectedParts(
  connection: Connection,
  { migrations }: SchemaDefinition,
  version: number,
): Promise<SchemaParts> {
  await connection.exec('BEGIN')
  try {
    await connection.exec(`CREATE SCHEMA ${EXPECTED}; SET LOCAL search_path = ${EXPECTED}`)
    for (const file of migrationsIn(migrations).slice(0, version))
      await connection.exec(readFileSync(join(migrations, file), 'utf8'))
    return await partsOf(connection, EXPECTED)
  } finally {
    await connection.exec('ROLLBACK')
  }
}

const EXPECTED = 'doctor_expects'
