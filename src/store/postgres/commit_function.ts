/**
 * A function in a schema of PostgreSQL that writes one batch, made from a table description.
 *
 * Owns: the fence, the inserts, the parameters. Does not own: tables and further statements
 * (callers), the connection (postgres/owned_schema).
 *
 * - A commit is one call of one function: one round trip, one transaction, one flush.
 * - It must be the next batch of its epoch, otherwise nothing is written: the fence.
 * - Rows of busy tables are passed as binary arrays, one per column; those of the others as JSON,
 *   because a function has at most PARAMETERS_MAX parameters.
 */
import { createHash } from 'node:crypto'
import { assert } from '../../base/assert.js'
import { onConflict, type ColumnType, type Table } from '../tables.js'
import { bigintArray, textArray } from './arrays.js'

/** PostgreSQL's own bound, `FUNC_MAX_ARGS`. */
const PARAMETERS_MAX = 100

/** SQLSTATE of a commit that is not the next batch of its epoch. */
export const FENCED = 'CW001'

export type Value = string | number | Buffer | null

export interface Parameter {
  readonly name: string
  readonly type: 'bigint' | 'text' | 'bytea' | 'text[]' | 'bigint[]'
}

type StoredRow = Readonly<Record<string, unknown>>

export interface CommitFunctionOptions<N extends string> {
  readonly tables: Readonly<Record<N, Table>>
  /** Tables whose rows are passed as arrays. */
  readonly arrays: ReadonlySet<N>
  /** Further parameters. */
  readonly others: readonly Parameter[]
  /** They follow the inserts. A parameter is `p_name`; of an array `p_table_column`. */
  readonly statements: string
}

export interface CommitFunction<N extends string> {
  readonly name: string
  readonly definition: string
  /** Calls it. */
  readonly statement: string
  /** The values of `statement`. */
  values(
    epoch: number,
    batch: number,
    rows: Readonly<Partial<Record<N, Iterable<object>>>>,
    others: readonly Value[],
  ): readonly Value[]
}

type Column = readonly [name: string, type: ColumnType]

const columnsIn = (table: Table): readonly Column[] => Object.entries<ColumnType>(table.columns)

const isText = (type: ColumnType): boolean => type === 'text' || type === 'json'

/** Parameters have names of their own, so that none is taken for a column. */
const argument = (name: string): string => `p_${name}`

export function createCommitFunction<N extends string>(
  options: CommitFunctionOptions<N>,
): CommitFunction<N> {
  const { tables, arrays, others, statements } = options
  const names = Object.keys(tables) as N[]
  const ofTables = names.map((name) => ({
    name,
    table: tables[name],
    columns: columnsIn(tables[name]),
    isArray: arrays.has(name),
    parameters: parametersOf(tables[name], arrays.has(name)),
  }))
  const parameters: readonly Parameter[] = [
    { name: 'epoch', type: 'bigint' },
    { name: 'batch', type: 'bigint' },
    ...ofTables.flatMap((each) => each.parameters),
    ...others,
  ]
  assert(parameters.length <= PARAMETERS_MAX, 'a function of PostgreSQL has at most 100 parameters')
  const body = `
BEGIN
  UPDATE owner SET last_batch = p_batch, beat = beat + 1
    WHERE epoch = p_epoch AND last_batch = p_batch - 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'these books are at another batch or epoch' USING ERRCODE = '${FENCED}';
  END IF;
  ${ofTables.map((each) => insertInto(each.table, each.isArray, each.parameters)).join('\n  ')}
  ${statements.trim()}
END`
  const signature = parameters.map(({ name, type }) => `${argument(name)} ${type}`).join(', ')
  const name = `commit_batch_${createHash('sha256')
    .update(signature + body)
    .digest('hex')
    .slice(0, 12)}`
  return {
    name,
    definition: `CREATE FUNCTION ${name}(${signature})
    RETURNS void LANGUAGE plpgsql AS $commit$${body} $commit$`,
    statement: `SELECT ${name}(${parameters.map(() => '?').join(', ')})`,
    values: (epoch, batch, rows, otherValues) => [
      epoch,
      batch,
      ...ofTables.flatMap((each) =>
        rowValues(each.columns, each.isArray, (rows[each.name] ?? []) as Iterable<StoredRow>),
      ),
      ...otherValues,
    ],
  }
}

const parametersOf = (table: Table, isArray: boolean): readonly Parameter[] =>
  isArray
    ? columnsIn(table).map(([column, type]) => ({
        name: `${table.name}_${column}`,
        type: isText(type) ? 'text[]' : 'bigint[]',
      }))
    : [{ name: table.name, type: 'text' }]

/** SQL that reads one column from the JSON row `r`. */
const fromJson = (type: ColumnType, index: number): string =>
  isText(type) ? `r ->> ${index}` : `(r ->> ${index})::bigint`

function insertInto(table: Table, isArray: boolean, parameters: readonly Parameter[]): string {
  const columns = columnsIn(table)
  const names = columns.map(([column]) => column)
  const first = argument(parameters[0]!.name)
  const rows = isArray
    ? `SELECT * FROM unnest(${parameters.map((parameter) => argument(parameter.name)).join(', ')})`
    : `SELECT ${columns.map(([, type], index) => fromJson(type, index)).join(', ')}
      FROM json_array_elements(${first}::json) AS r`
  return `IF ${first} IS NOT NULL THEN
    INSERT INTO ${table.name} (${names.join(', ')}) ${rows}${onConflict(table)};
  END IF;`
}

function rowValues(
  columns: readonly Column[],
  isArray: boolean,
  given: Iterable<StoredRow>,
): readonly Value[] {
  const rows = [...given]
  if (rows.length === 0) return isArray ? columns.map(() => null) : [null]
  if (!isArray) return [jsonOf(columns, rows)]
  return columns.map(([column, type]) => {
    const values = rows.map((row) => row[column] ?? null)
    if (type === 'json') return textArray(values.map(jsonText))
    return isText(type)
      ? textArray(values as (string | null)[])
      : bigintArray(values as (number | bigint | null)[])
  })
}

const jsonOf = (columns: readonly Column[], rows: readonly StoredRow[]): string =>
  JSON.stringify(
    rows.map((row) =>
      columns.map(([column]) => {
        const value = row[column]
        return typeof value === 'bigint' ? value.toString() : value
      }),
    ),
  )

const jsonText = (value: unknown): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value)
