/**
 * What differs between SQLite and PostgreSQL in the SQL of reads.
 *
 * Does not own: statements (their files write one text with these parts), parameters (`?` and `?1`
 * in both; store/postgres/connection numbers them).
 *
 * - A list parameter is a JSON array, in both.
 * - Output names with capitals are quoted, because PostgreSQL folds others to lower case.
 */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** Fixes the index of a table; PostgreSQL chooses by itself. */
  indexedBy(index: string): string
  /**
   * The condition `tenant = ?`. Use it with `tenantFirst`, so that PostgreSQL reads the index on
   * (tenant, …) instead of other tenants' rows.
   */
  readonly ofTenant: string
  /** Precedes the other columns in the descending order of such rows. */
  readonly tenantFirst: string
  /** The texts of the JSON array `list`, as rows of one column. */
  texts(list: string): string
  /** The integers of the JSON array `list`, as rows of one column. */
  integers(list: string): string
  /** A column is among few rows. PostgreSQL joins `IN (SELECT …)`, and reads the table whole. */
  isAmong(column: string, rows: string): string
  /** The items of a JSON array as rows, in the column `value`. */
  items(list: string): string
  /** The items of a member that is an array, as rows, in the column `value`. */
  itemsOf(json: string, member: string): string
  /** A member of JSON text by its path; NULL when it is missing. */
  text(json: string, ...path: string[]): string
  integer(json: string, ...path: string[]): string
  /** Whether a member is `true`. */
  isTrue(json: string, ...path: string[]): string
  /** Whether a text is valid JSON. */
  isJson(text: string): string
  /** When the deliveries of an event of `events` were settled; NULL while it is open. */
  readonly settledAt: string
  /** The table of these moments. Null means that they are a column of `events`. */
  readonly outcomes: string | null
  /** Events without a recorded outcome, as `events`. */
  readonly openEvents: string
  /** A value as JSON text. */
  quoted(value: string): string
  quotedHex(blob: string): string
  /** The bytes of hexadecimal text. */
  fromHex(text: string): string
  /** All values of an expression as one text, in the order of the rows. */
  joined(expression: string, separator: string): string
  /** Whether a text ends with the given letters, digits and `:_`. As in the partial indexes. */
  endsWith(text: string, end: string): string
  position(text: string, part: string): string
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  indexedBy: (index) => `INDEXED BY ${index}`,
  ofTenant: 'tenant = ?',
  tenantFirst: '',
  texts: (list) => `SELECT value FROM json_each(${list})`,
  integers: (list) => `SELECT value FROM json_each(${list})`,
  isAmong: (column, rows) => `${column} IN (${rows})`,
  items: (list) => `json_each(${list})`,
  itemsOf: (json, member) => `json_each(${json}, '$.${member}')`,
  text: (json, ...path) => `${json} ->> '$.${path.join('.')}'`,
  integer: (json, ...path) => `${json} ->> '$.${path.join('.')}'`,
  isTrue: (json, ...path) => `coalesce(${json} ->> '$.${path.join('.')}', 0)`,
  isJson: (text) => `json_valid(${text})`,
  settledAt: 'settled_at',
  outcomes: null,
  openEvents: '(SELECT * FROM events WHERE settled_at IS NULL) AS events',
  quoted: (value) => `json_quote(${value})`,
  quotedHex: (blob) => `json_quote(hex(${blob}))`,
  fromHex: (text) => `unhex(${text})`,
  joined: (expression, separator) => `group_concat(${expression}, '${separator}')`,
  endsWith: (text, end) => `${text} GLOB '*${end}'`,
  position: (text, part) => `instr(${text}, '${part}')`,
}

export const POSTGRES: Dialect = {
  name: 'postgres',
  indexedBy: () => '',
  // An equal column is not part of an order, so the index of the primary key would also do: with
  // few rows of the tenant in it, a page would read any number of others' rows.
  ofTenant: 'tenant = ANY (ARRAY[?])',
  tenantFirst: 'tenant DESC, ',
  texts: (list) => `SELECT json_array_elements_text(${list}::json)`,
  integers: (list) => `SELECT json_array_elements_text(${list}::json)::bigint`,
  isAmong: (column, rows) => `${column} = ANY (ARRAY(${rows}))`,
  items: (list) => `json_array_elements(${list}::json)`,
  itemsOf: (json, member) => `json_array_elements(${json}::json -> '${member}')`,
  text: (json, ...path) => `(${json}::json #>> '{${path.join(',')}}')`,
  integer: (json, ...path) => `(${json}::json #>> '{${path.join(',')}}')::bigint`,
  isTrue: (json, ...path) => `coalesce(${json}::json #>> '{${path.join(',')}}' = 'true', false)`,
  isJson: (text) => `is_json(${text})`,
  settledAt: `(SELECT settled_at FROM event_outcomes o WHERE o.position = events.position)`,
  outcomes: 'event_outcomes',
  openEvents: 'outbox JOIN events USING (position)',
  quoted: (value) => `coalesce(to_json(${value})::text, 'null')`,
  quotedHex: (blob) => `to_json(encode(${blob}, 'hex'))::text`,
  fromHex: (text) => `decode(${text}, 'hex')`,
  joined: (expression, separator) => `string_agg(${expression}, '${separator}')`,
  endsWith: (text, end) => `${text} LIKE '%${end.replaceAll('_', '\\_')}'`,
  position: (text, part) => `strpos(${text}, '${part}')`,
}
