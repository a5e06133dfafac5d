/**
 * The product's statements for PostgreSQL, as SQLite has them.
 *
 * - Fingerprints are not simulated: those of keys are zeros, which name nothing, and intents have
 *   no links. So statements about either change nothing here.
 */

/** Whether it is about fingerprints or links. */
export const changesNothing = (sql: string): boolean =>
  /\b(idempotency_index|links|generate_series)\b/.test(sql)

const GROWN = /string_agg\([\s\S]*? ORDER BY ordinal\)/g
const CAST_TO = /::\w+/g
const ARRAY = /SELECT unnest\(ARRAY\[(.*?)\]\)/g
const COLUMNS = /information_schema\.columns/
const COLUMNS_HERE = 'SELECT name FROM pragma_table_info(?2, ?1) ORDER BY cid'

/** The product's statement with one of two tables, where `meta` is part of the row. */
const RAISE_EPOCH = `UPDATE owner
  SET epoch = max(epoch, ?1) + 1, accepted_epoch = max(epoch, ?1) + 1
  WHERE epoch = ?2 RETURNING epoch`

export const ownStatement = (sql: string): string =>
  sql.includes('accepted_epoch') ? RAISE_EPOCH : sql

/** @param schema that of the session */
export function createTranslation(): (sql: string, schema: string) => string {
  const known = new Map<string, string>()
  return (sql, schema) => {
    const key = `${schema} ${sql}`
    const text = known.get(key) ?? translated(sql, schema)
    known.set(key, text)
    return text
  }
}

export const translated = (sql: string, schema: string): string =>
  COLUMNS.test(sql)
    ? COLUMNS_HERE
    : sql
        .replaceAll('cluster.', 'main.')
        .replace(/(FROM|UPDATE) owner\b/g, `$1 ${schema}.owner`)
        .replaceAll("to_regclass(shard || '.owner') IS NOT NULL", '1')
        .replaceAll('to_regclass(?) IS NOT NULL', '? IS NULL')
        .replaceAll('floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint', 'now_ms()')
        .replaceAll("set_config('synchronous_commit', 'off', true)", "'off'")
        .replace(/FROM json_array_elements_text\(\?1::json\) AS partner/, EACH_PARTNER)
        .replace(
          /\(SELECT json_array_elements_text\(\?1::json\)\)/,
          '(SELECT value FROM json_each(?1))',
        )
        .replace(/ FOR UPDATE( OF \w+)?( SKIP LOCKED)?/g, '')
        .replace(GROWN, 'zeroblob(8 * count(*))')
        .replace(
          ARRAY,
          (_, values: string) => `SELECT * FROM (VALUES (${values.replaceAll(', ', '), (')}))`,
        )
        .replaceAll('json_each_text(', 'json_each(')
        .replace(/\b(greatest|least)\(/g, (_, name) => (name === 'least' ? 'min(' : 'max('))
        .replace(/ ONLY /g, ' ')
        .replace(CAST_TO, '')
        .replace(/(FROM [\w."]+)\s+ON CONFLICT/, '$1 WHERE true ON CONFLICT')
const EACH_PARTNER = 'FROM (SELECT value AS partner FROM json_each(?1)) WHERE true'

const MOVED =
  /^\s*WITH gone AS \((DELETE FROM (\S+) AS x WHERE [\s\S]*?) RETURNING x\.\*\)\s*(INSERT[\s\S]*)$/
const USING = /^\s*(DELETE FROM \S+ AS \w+) USING (\w+)\s+WHERE ([\s\S]*)$/
const TEMPORARY = /^\s*CREATE TEMP TABLE (\w+) ON COMMIT DROP AS/

/** A statement of a transaction, as statements of which the last one but temporary ones counts. */
export interface Parts {
  readonly statements: readonly string[]
  /** A temporary table that it makes. */
  readonly temporary?: string
}

/** The table whose rows a translated statement moves to another one. */
export const movedFrom = (sql: string): string | undefined => MOVED.exec(sql)?.[2]

/** @param sql translated */
export function partsOf(sql: string): Parts {
  const [, deleted = '', from = '', inserted = ''] = MOVED.exec(sql) ?? []
  if (deleted !== '') {
    const condition = deleted.slice(deleted.indexOf(' WHERE '))
    return {
      statements: [
        'DROP TABLE IF EXISTS temp.gone',
        `CREATE TEMP TABLE gone AS SELECT x.* FROM ${from} AS x${condition}`,
        ...[deleted, inserted],
      ],
    }
  }
  const [, rows = '', other = '', joined = ''] = USING.exec(sql) ?? []
  if (rows !== '')
    return { statements: [`${rows} WHERE EXISTS (SELECT 1 FROM ${other} WHERE ${joined})`] }
  const [, temporary] = TEMPORARY.exec(sql) ?? []
  if (temporary === undefined) return { statements: [sql] }
  return { statements: [sql.replace(' ON COMMIT DROP', '')], temporary }
}
