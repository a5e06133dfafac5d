/**
 * The product's statements for PostgreSQL, as SQLite has them.
 *
 * - Fingerprints are not simulated: those of keys are zeros, which name nothing, and intents have
 *   no links. So statements about either change nothing here.
 */

/** Whether it is about fingerprints or links. */
export const changesNothing = (sql: string): boolean =>
  /\b(idempotency_index|links|generate_series|overlay)\b/.test(sql)

/** What a read about links finds: a page of them has none. */
export const foundNothing = (sql: string): readonly unknown[] =>
  /\bAS ended\b/.test(sql) ? [{ last: null, first: null, rows: 0, ended: 1 }] : []

const GROWN_WITH_GAPS = /string_agg\(decode[\s\S]*?ORDER BY sequence\)/
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
    : pagesOf(sql)
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
        .replace(GROWN_WITH_GAPS, 'zeroblob(8 * (max(sequence) - min(sequence) + 1))')
        .replace(
          ARRAY,
          (_, values: string) => `SELECT * FROM (VALUES (${values.replaceAll(', ', '), (')}))`,
        )
        .replaceAll('json_each_text(', 'json_each(')
        .replaceAll('strpos(', 'instr(')
        .replace(/\('0' \|\| (\?1|'\w*'|\d+)\)::bigint/g, "CAST('0' || $1 AS INTEGER)")
        .replace(CAST_TO, '')
        .replace(/(FROM [\w."]+)\s+ON CONFLICT/, '$1 WHERE true ON CONFLICT')
const EACH_PARTNER = 'FROM (SELECT value AS partner FROM json_each(?1)) WHERE true'

/** A page of the product has so many times the rows of one here: so these books have some, too. */
const PAGE_SHARE = 100
/** Each row of a table is on so many pages. */
const PAGES_PER_ROW = 8

/** Steps of a copy take fewer rows. */
function pagesOf(sql: string): string {
  if (sql.includes('ctid') || sql.includes('pg_relation_size'))
    return sql
      .replace(/ctid (>=|>|<) '\((\d+),0\)'/g, `(rowid - 1) * ${PAGES_PER_ROW} $1 $2`)
      .replace(
        /pg_relation_size\('([^']+)'\) \/ \d+/,
        `(SELECT coalesce(max(rowid), 0) * ${PAGES_PER_ROW} FROM ONLY $1)`,
      )
  if (!/WITH page AS|CREATE TEMP TABLE forgotten/.test(sql)) return sql
  const fewer = (_: string, before: string, rows: string): string =>
    before + Math.ceil(Number(rows) / PAGE_SHARE)
  return sql.replace(/(LIMIT |count\(\*\) < |sequence < )(\d+)\b/g, fewer)
}

const TABLE = '(?:ONLY )?\\w+\\.(?:\\w+|"[^"]+")'
const DELETED = new RegExp(
  `^\\s*DELETE FROM (${TABLE})(?: AS x)?(?: USING (\\w+))?\\s+WHERE ([\\s\\S]*?)` +
    `\\s*RETURNING (?:x\\.)?\\*\\s*$`,
)
const USING = /^\s*(DELETE FROM \S+ AS \w+) USING (\w+)\s+WHERE ([\s\S]*)$/
const TEMPORARY = /^\s*CREATE TEMP TABLE (\w+) ON COMMIT DROP AS/
const CHANGES = /^\s*(DELETE|INSERT)/

/** A statement of a transaction, as statements of which the last one but temporary ones counts. */
export interface Parts {
  readonly statements: readonly string[]
  /** Those that do nothing when no row is deleted: they are not the first or the last one. */
  readonly changes?: readonly string[]
  /** Temporary tables that it makes. */
  readonly temporary: readonly string[]
  /** The table whose rows it deletes, as \`gone\`. */
  readonly from?: string
}

/** What a step of a copy reads before it takes rows. @param sql translated */
export function pageIn(sql: string): string | undefined {
  if (!/^\s*WITH page AS/.test(sql)) return undefined
  const { tables } = commonTablesIn(sql)
  return tables.some(({ body }) => CHANGES.test(body)) ? tables[0]!.body : undefined
}

/** @param sql translated */
export function partsOf(sql: string): Parts {
  const { tables, rest } = commonTablesIn(sql)
  if (tables.some(({ body }) => CHANGES.test(body))) return changingParts(tables, rest)
  const [, rows = '', other = '', joined = ''] = USING.exec(sql) ?? []
  if (rows !== '')
    return {
      statements: [`${rows} WHERE EXISTS (SELECT 1 FROM ${other} WHERE ${joined})`],
      temporary: [],
    }
  const [, temporary] = TEMPORARY.exec(sql) ?? []
  if (temporary === undefined) return { statements: [sql], temporary: [] }
  return { statements: [sql.replace(' ON COMMIT DROP', '')], temporary: [temporary] }
}

interface CommonTable {
  readonly name: string
  readonly body: string
}

/** Each of its common tables in order: none of the product's needs what another one has changed. */
function changingParts(tables: readonly CommonTable[], rest: string): Parts {
  const made: string[] = []
  const changes: string[] = []
  let from: string | undefined
  const make = (name: string, rows: string): readonly string[] => {
    made.push(name)
    return [`DROP TABLE IF EXISTS temp.${name}`, `CREATE TEMP TABLE ${name} AS ${rows}`]
  }
  const statements = tables.flatMap(({ name, body }) => {
    const [, table = '', using, condition = ''] = DELETED.exec(body) ?? []
    if (table === '' && !CHANGES.test(body)) return make(name, body)
    if (table === '') {
      changes.push(body)
      return [body]
    }
    const isFirst = from === undefined
    from ??= table
    const beside = using === undefined ? '' : `, ${using}`
    const isGone =
      using === undefined ? condition : `EXISTS (SELECT 1 FROM ${using} WHERE ${condition})`
    const deleted = [
      ...make(name, `SELECT x.* FROM ${table} AS x${beside} WHERE ${condition}`),
      `DELETE FROM ${table} AS x WHERE ${isGone}`,
    ]
    changes.push(...(isFirst ? deleted.slice(-1) : deleted))
    return deleted
  })
  if (CHANGES.test(rest)) changes.push(rest)
  return {
    statements: [...statements, rest],
    changes,
    temporary: made,
    ...(from === undefined ? {} : { from }),
  }
}

const HEAD = /^\s*(?:WITH|,)\s*(\w+) AS (?:MATERIALIZED )?\(/

function commonTablesIn(sql: string): { readonly tables: CommonTable[]; readonly rest: string } {
  const tables: CommonTable[] = []
  let rest = sql
  for (;;) {
    const head = HEAD.exec(rest)
    if (head === null || (tables.length === 0) !== /^\s*WITH/.test(rest)) return { tables, rest }
    const end = closing(rest, head[0].length)
    tables.push({ name: head[1]!, body: rest.slice(head[0].length, end) })
    rest = rest.slice(end + 1)
  }
}

/** Where the parenthesis that is open at this place closes. */
function closing(sql: string, start: number): number {
  let isText = false
  for (let [at, depth] = [start, 1]; at < sql.length; at++) {
    const character = sql[at]
    if (character === "'") isText = !isText
    else if (!isText && character === '(') depth += 1
    else if (!isText && character === ')') {
      depth -= 1
      if (depth === 0) return at
    }
  }
  throw new Error(`a parenthesis is open in ${sql}`)
}
