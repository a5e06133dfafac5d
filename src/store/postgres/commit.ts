/**
 * The function that writes a batch of commands on PostgreSQL, and its parameters.
 *
 * Owns: the SQL of a commit, made from store/tables. Does not own: the connection (postgres/store).
 *
 * - A commit is one call of one function: one round trip, one transaction, one flush.
 * - It must be the next batch of its epoch, otherwise nothing is written: the fence.
 * - Rows of busy tables are passed as binary arrays, one per column; those of the others as JSON,
 *   because a function has at most 100 parameters.
 */
import { createHash } from 'node:crypto'
import type { CommitRows } from '../store.js'
import { OLDEST_NONCES } from '../stored_fingerprints.js'
import {
  EXPIRED_QUOTES_PER_COMMIT,
  TABLE_NAMES,
  TABLES,
  toJson,
  type ColumnType,
  type Table,
  type TableName,
} from '../tables.js'
import { bigintArray, textArray } from './arrays.js'

/** SQLSTATE of a commit that is not the next batch of its epoch. */
export const FENCED = 'CW001'

const ARRAY_TABLES: ReadonlySet<TableName> = new Set([
  'intents',
  'payouts',
  'beneficiaries',
  'idempotency',
  'entries',
  'accounts',
  'events',
  'usage',
])

type Value = string | number | Buffer | null

interface Parameter {
  readonly name: string
  readonly type: 'bigint' | 'text' | 'bytea' | 'text[]' | 'bigint[]'
}

const columnsIn = (table: Table): readonly (readonly [string, ColumnType])[] =>
  Object.entries<ColumnType>(table.columns)

const isText = (type: ColumnType): boolean => type === 'text' || type === 'json'

const parametersOf = (name: TableName): readonly Parameter[] =>
  ARRAY_TABLES.has(name)
    ? columnsIn(TABLES[name]).map(([column, type]) => ({
        name: `${TABLES[name].name}_${column}`,
        type: isText(type) ? 'text[]' : 'bigint[]',
      }))
    : [{ name: TABLES[name].name, type: 'text' }]

const OTHERS: readonly Parameter[] = [
  { name: 'settled_events', type: 'text' },
  { name: 'settled_at', type: 'bigint' },
  { name: 'nonces', type: 'bytea' },
  { name: 'nonces_seen_at', type: 'bigint' },
  { name: 'forget_before', type: 'bigint' },
  { name: 'forget_after', type: 'bigint' },
  { name: 'key_fingerprints', type: 'bytea' },
  { name: 'key_fingerprints_first', type: 'bigint' },
  { name: 'user_fingerprints', type: 'bytea' },
  { name: 'user_links', type: 'text' },
  { name: 'user_first', type: 'bigint' },
]

const PARAMETERS: readonly Parameter[] = [
  { name: 'epoch', type: 'bigint' },
  { name: 'batch', type: 'bigint' },
  ...TABLE_NAMES.flatMap(parametersOf),
  ...OTHERS,
]

/** Parameters have names of their own, so that none is taken for a column. */
const given = (name: string): string => `p_${name}`

/** SQL that reads one column from the JSON row `r`. */
const fromJson = (type: ColumnType, place: number): string =>
  isText(type) ? `r ->> ${place}` : `(r ->> ${place})::bigint`

function insertInto(name: TableName): string {
  const table: Table = TABLES[name]
  const columns = columnsIn(table)
  const names = columns.map(([column]) => column)
  const first = given(parametersOf(name)[0]!.name)
  const rows = ARRAY_TABLES.has(name)
    ? `SELECT * FROM unnest(${parametersOf(name)
        .map((parameter) => given(parameter.name))
        .join(', ')})`
    : `SELECT ${columns.map(([, type], place) => fromJson(type, place)).join(', ')}
      FROM json_array_elements(${first}::json) AS r`
  return `IF ${first} IS NOT NULL THEN
    INSERT INTO ${table.name} (${names.join(', ')}) ${rows}${onConflict(table, names)};
  END IF;`
}

function onConflict({ key, fixed = [] }: Table, names: readonly string[]): string {
  if (key === undefined) return ''
  const kept = [...key, ...fixed]
  const updates = names.filter((name) => !kept.includes(name)).map((n) => `${n} = excluded.${n}`)
  return ` ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${updates.join(', ')}`
}

const BODY = `
BEGIN
  UPDATE owner SET last_batch = p_batch, beat = beat + 1
    WHERE epoch = p_epoch AND last_batch = p_batch - 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'these books are at another batch or epoch' USING ERRCODE = '${FENCED}';
  END IF;
  ${TABLE_NAMES.map(insertInto).join('\n  ')}
  IF p_events_position IS NOT NULL THEN
    INSERT INTO outbox (position) SELECT * FROM unnest(p_events_position);
  END IF;
  IF p_settled_events IS NOT NULL THEN
    WITH settled AS (
      DELETE FROM outbox USING events
        WHERE events.id IN (SELECT json_array_elements_text(p_settled_events::json))
          AND outbox.position = events.position
        RETURNING outbox.position)
    INSERT INTO event_outcomes (position, settled_at) SELECT position, p_settled_at FROM settled;
  END IF;
  IF p_nonces IS NOT NULL THEN
    INSERT INTO nonces (seen_at, fingerprints) VALUES (p_nonces_seen_at, p_nonces);
  END IF;
  IF p_key_fingerprints IS NOT NULL THEN
    INSERT INTO idempotency_prints (first, prints)
      VALUES (p_key_fingerprints_first, p_key_fingerprints);
  END IF;
  IF p_user_fingerprints IS NOT NULL THEN
    INSERT INTO intent_users (first, prints, links)
      VALUES (p_user_first, p_user_fingerprints, p_user_links);
  END IF;
  IF p_forget_before IS NOT NULL THEN
    DELETE FROM nonces WHERE id IN (SELECT id FROM (${OLDEST_NONCES}) AS oldest
      WHERE seen_at < p_forget_before OR seen_at > p_forget_after);
    DELETE FROM fx_quotes WHERE id IN (SELECT id FROM fx_quotes
      WHERE conversion IS NULL AND expires_at < p_forget_before
      LIMIT ${EXPIRED_QUOTES_PER_COMMIT});
  END IF;
END`

const SIGNATURE = PARAMETERS.map(({ name, type }) => `${given(name)} ${type}`).join(', ')
const NAME = `commit_batch_${createHash('sha256')
  .update(SIGNATURE + BODY)
  .digest('hex')
  .slice(0, 12)}`

export const COMMIT_FUNCTION = {
  name: NAME,
  definition: `CREATE FUNCTION ${NAME}(${SIGNATURE})
    RETURNS void LANGUAGE plpgsql AS $commit$${BODY} $commit$`,
}
export const COMMIT_STATEMENT = `SELECT ${NAME}(${PARAMETERS.map(() => '?').join(', ')})`

/** The values of COMMIT_STATEMENT. */
export function commitValues(batch: CommitRows, epoch: number, number: number): Value[] {
  return [
    epoch,
    number,
    ...TABLE_NAMES.flatMap((name) => rowValues(name, batch)),
    batch.settledEvents.length === 0 ? null : JSON.stringify(batch.settledEvents),
    batch.settledAt,
    batch.nonces,
    batch.noncesSeenAt,
    batch.forgetBefore,
    Math.min(batch.forgetAfter, Number.MAX_SAFE_INTEGER),
    batch.keyFingerprints,
    batch.keyFingerprintsFirst,
    batch.userFingerprints,
    batch.userLinks,
    batch.userFirst,
  ]
}

function rowValues(name: TableName, batch: CommitRows): Value[] {
  if (!ARRAY_TABLES.has(name)) return [toJson(name, batch.rows[name])]
  const columns = columnsIn(TABLES[name])
  const rows = [...batch.rows[name]] as readonly Readonly<Record<string, unknown>>[]
  if (rows.length === 0) return columns.map(() => null)
  return columns.map(([column, type]) => {
    const values = rows.map((row) => row[column] ?? null)
    if (type === 'json') return textArray(values.map(jsonText))
    return isText(type)
      ? textArray(values as (string | null)[])
      : bigintArray(values as (number | bigint | null)[])
  })
}

const jsonText = (value: unknown): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value)
