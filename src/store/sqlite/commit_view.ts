/**
 * The SQL that writes a batch of commands to SQLite in one statement.
 *
 * - A batch is one INSERT into a view, with one parameter per table: a JSON array of rows. One
 *   statement is one driver call, one transaction and one fsync, whatever the batch size.
 * - Each parameter costs time, also when it is null. So there are two views: a batch that has rows
 *   of busy tables only and deletes none goes to `commit_payments`, any other one to
 *   `commit_batch`.
 * - The order of `columns` (tables) is the column order in JSON: `toJson` writes it and `fanOut`
 *   reads it; `asText` and `rowsOf` (json_page) use a list's columns likewise.
 * - Large texts are JSON already. They follow one another in one BLOB, and rows name their start
 *   and length: as strings of the rows' JSON they would be escaped and parsed once more.
 * - A commit must be the next batch of its epoch, otherwise it is rejected: neither a second owner
 *   nor the owner of a replaced file can continue.
 */
import { SQLITE } from '../dialect.js'
import { deleteExpired } from '../retention.js'
import { OLDEST_NONCES } from '../stored_fingerprints.js'
import type { CommitRows } from '../store.js'
import {
  BUSY_TABLES,
  onConflict,
  TABLE_NAMES,
  TABLES,
  type ColumnType,
  type Row,
  type Table,
  type TableName,
} from '../tables.js'

/** The large texts of a batch. */
export interface LargeTexts {
  /** @returns its first byte, counted from 1, and its length */
  add(text: string): readonly [start: number, length: number]
  bytes(): Buffer
}

export function createLargeTexts(): LargeTexts {
  const texts: string[] = []
  let size = 0
  return {
    add: (text) => {
      const start = size + 1
      const length = Buffer.byteLength(text)
      texts.push(text)
      size += length
      return [start, length]
    },
    bytes: () => Buffer.from(texts.join('')),
  }
}

const NONE: readonly string[] = []

/** The rows of one table as its JSON parameter; null if there are none. */
export function toJson<N extends TableName>(
  name: N,
  rows: Iterable<Row<N>> | undefined,
  texts: LargeTexts,
): string | null {
  if (rows === undefined) return null
  const { columns, large = NONE }: Table = TABLES[name]
  const names = Object.keys(columns) as (keyof Row<N> & string)[]
  const all: unknown[][] = []
  for (const row of rows) {
    const values: unknown[] = []
    for (const column of names) {
      const value: unknown = row[column]
      if (typeof value === 'bigint') values.push(value.toString())
      else if (value === null || !large.includes(column)) values.push(value)
      else values.push(texts.add(value as string))
    }
    all.push(values)
  }
  return all.length === 0 ? null : JSON.stringify(all)
}

/** SQL that reads one column from the JSON row `value`. */
function fromJson(type: ColumnType, index: number): string {
  const path = `value ->> '$[${index}]'`
  return type === 'int64' ? `CAST(${path} AS INTEGER)` : path
}

const largeText = (index: number): string =>
  `CAST(substr(NEW.largeTexts, value ->> '$[${index}][0]', value ->> '$[${index}][1]') AS TEXT)`

/** `jsonb_each` returns parsed rows; `json_each` would serialize each row to be parsed again. */
function fanOut(table: Table, parameter: string): string {
  const columns = Object.entries(table.columns)
  const names = columns.map(([name]) => name)
  const values = columns.map(([name, type], index) =>
    table.large?.includes(name) === true ? largeText(index) : fromJson(type, index),
  )
  const insert = `INSERT INTO ${table.name} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM jsonb_each(NEW.${parameter}) WHERE true`
  return `${insert}${onConflict(table)};`
}

const FURTHER_PARAMETERS = [
  /** After the tables, whose rows name its texts. */
  'largeTexts',
  'epoch',
  'batch',
  'settledEvents',
  'settledAt',
  'nonces',
  'noncesSeenAt',
  'forgetBefore',
  'forgetAfter',
  'keyFingerprints',
  'keyFingerprintsFirst',
  'userFingerprints',
  'userLinks',
  'userFirst',
] as const
export type CommitParameter = TableName | (typeof FURTHER_PARAMETERS)[number] | 'expired'

/** Expired FX quotes deleted per commit. */
export const EXPIRED_QUOTES_PER_COMMIT = 1_000

interface CommitView {
  /** Creates it, with its trigger. */
  readonly definition: string
  /** Writes a batch. */
  readonly statement: string
  /** The parameters of the statement, in order. */
  readonly parameters: readonly CommitParameter[]
}

function commitView(
  view: string,
  tables: readonly TableName[],
  { deletes }: { readonly deletes: boolean },
): CommitView {
  const expired = deletes ? (['expired'] as const) : []
  const parameters = [...tables, ...FURTHER_PARAMETERS, ...expired]
  const definition = `
  CREATE TEMP VIEW ${view} AS
    SELECT ${parameters.map((name) => `NULL AS ${name}`).join(', ')};
  CREATE TEMP TRIGGER ${view}_fan_out INSTEAD OF INSERT ON ${view} BEGIN
    UPDATE owner SET last_batch = NEW.batch
      WHERE epoch = NEW.epoch AND last_batch = NEW.batch - 1;
    SELECT RAISE(ABORT, 'these books are at another batch or epoch') WHERE changes() = 0;
    ${tables.map((name) => fanOut(TABLES[name], name)).join('\n    ')}
    UPDATE events SET settled_at = NEW.settledAt
      WHERE id IN (SELECT value FROM json_each(NEW.settledEvents)) AND settled_at IS NULL;
    INSERT INTO nonces (seen_at, fingerprints)
      SELECT NEW.noncesSeenAt, NEW.nonces WHERE NEW.nonces IS NOT NULL;
    INSERT INTO idempotency_prints (first, prints)
      SELECT NEW.keyFingerprintsFirst, NEW.keyFingerprints WHERE NEW.keyFingerprints IS NOT NULL;
    INSERT INTO intent_users (first, prints, links)
      SELECT NEW.userFirst, NEW.userFingerprints, NEW.userLinks
        WHERE NEW.userFingerprints IS NOT NULL;
    DELETE FROM nonces WHERE NEW.forgetBefore IS NOT NULL
      AND id IN (SELECT id FROM (${OLDEST_NONCES})
        WHERE seen_at < NEW.forgetBefore OR seen_at > NEW.forgetAfter);
    DELETE FROM fx_quotes WHERE NEW.forgetBefore IS NOT NULL
      AND id IN (SELECT id FROM fx_quotes
        WHERE conversion IS NULL AND expires_at < NEW.forgetBefore
        LIMIT ${EXPIRED_QUOTES_PER_COMMIT});
    ${expired.flatMap((name) => deleteExpired(SQLITE, `NEW.${name}`)).join('\n    ')}
  END;
`
  const statement = `INSERT INTO ${view} (${parameters.join(', ')})
  VALUES (${parameters.map(() => '?').join(', ')})`
  return { definition, statement, parameters }
}

const OF_PAYMENTS = commitView('commit_payments', BUSY_TABLES, { deletes: false })
const OF_ALL = commitView('commit_batch', TABLE_NAMES, { deletes: true })

/** Run once on the writer's connection: the views and their triggers are temporary. */
export const COMMIT_VIEWS = OF_PAYMENTS.definition + OF_ALL.definition

const BUSY: ReadonlySet<string> = new Set(BUSY_TABLES)

/** The smallest view that takes all of the batch. */
export const viewFor = ({ rows, expired }: CommitRows): CommitView =>
  expired === null && Object.keys(rows).every((name) => BUSY.has(name)) ? OF_PAYMENTS : OF_ALL
