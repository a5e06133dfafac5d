/**
 * Tables, functions and triggers that the product's statements make in PostgreSQL, as rows: so they
 * come and go with a transaction, and with a copy of the cluster.
 *
 * Does not own: transactions (transactions), the text of other statements (dialect).
 *
 * - A read of a table also reads those that inherit from it, unless it says ONLY.
 * - A name that does not exist, or exists already, is an error of the server.
 */
import type { Bindable } from '../../../src/store/database.js'

/** Tables of the schema `cluster` here. */
export const MADE = {
  made_tables: 'name TEXT PRIMARY KEY, parent TEXT',
  made_functions: 'name TEXT PRIMARY KEY, body TEXT NOT NULL',
  made_triggers: `id TEXT PRIMARY KEY, source TEXT NOT NULL, after TEXT NOT NULL,
    condition TEXT NOT NULL, function TEXT NOT NULL`,
} as const

/** What PostgreSQL answers with an error, which the product has to expect. */
export class ServerError extends Error {
  readonly code: string
  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

const NAME = '(?:main|books_\\d)\\.(?:\\w+|"[^"]+")'
/** What comes before a name, the name, and what it is called. */
const NAMED = new RegExp(`\\b(INTO |UPDATE |DELETE FROM )?(ONLY )?(${NAME})( AS \\w+)?`, 'g')

export interface NameParts {
  readonly schema: string
  readonly table: string
  /** A statement of the product has made it. */
  readonly isMade: boolean
  /** The table that it is like. */
  readonly like: string
}

const known = new Map<string, NameParts>()

export function partsOfName(name: string): NameParts {
  const parts = known.get(name) ?? partsIn(name)
  known.set(name, parts)
  return parts
}

function partsIn(name: string): NameParts {
  const [schema = '', given = ''] = name.split('.')
  const table = given.replaceAll('"', '')
  return { schema, table, isMade: given.startsWith('"'), like: table.split(' ').at(-1)! }
}

/** How a session sees tables. */
export interface Naming {
  /** The table that has its rows. @throws ServerError when there is none */
  storedIn(name: string): string
  /** Those that inherit from it. */
  childrenOf(name: string): readonly string[]
}

/** @returns the statement with the tables that have the rows */
export const resolved = (sql: string, { storedIn, childrenOf }: Naming): string =>
  sql.replace(NAMED, (_, write = '', only = '', name: string, alias: string | undefined) => {
    const { table, isMade } = partsOfName(name)
    const stored = storedIn(name)
    const children = write === '' && only === '' ? childrenOf(name) : []
    const isSame = stored === name && children.length === 0
    const called = alias ?? (isMade || isSame || write === 'UPDATE ' ? '' : ` AS ${table}`)
    if (children.length === 0) return `${write}${stored}${called}`
    const all = [stored, ...children.map(storedIn)].map((each) => `SELECT * FROM ${each}`)
    return `(${all.join(' UNION ALL ')})${called}`
  })

/** The tables that a statement changes. */
export const writtenBy = (sql: string): readonly string[] =>
  [...sql.matchAll(NAMED)].flatMap(([, write, , name = '']) => (write === undefined ? [] : [name]))

/** A statement on the rows above. */
export interface Definition {
  readonly sql: string
  readonly parameters: readonly Bindable[]
  /** What the server says when nothing has changed. */
  readonly otherwise?: string
  /** A table that exists from here on. */
  readonly makes?: string
  /** A table whose rows it deletes. */
  readonly empties?: string
}

const INERT = /^(SET LOCAL|LOCK TABLE|ANALYZE|VACUUM|CREATE INDEX)\b/
const CREATE_TABLE = new RegExp(`^CREATE TABLE (${NAME}) \\(LIKE (${NAME}) INCLUDING ALL\\)$`)
const INHERIT = new RegExp(`^ALTER TABLE (${NAME}) (NO )?INHERIT (${NAME})$`)
const FUNCTION = new RegExp(
  `^CREATE (OR REPLACE )?FUNCTION (${NAME})\\(\\) RETURNS trigger\\s+LANGUAGE plpgsql AS \\$\\$` +
    ` BEGIN([\\s\\S]*)RETURN NULL;\\s*END \\$\\$$`,
)
const TRIGGER = new RegExp(
  `^CREATE (OR REPLACE )?TRIGGER ("[^"]+"|\\w+)\\s+AFTER ([A-Z ]+) ON (${NAME}) FOR EACH ROW` +
    `\\s+(?:WHEN \\(([\\s\\S]*)\\)\\s+)?EXECUTE FUNCTION (${NAME})\\(\\)$`,
)
const DROP_TRIGGER = new RegExp(`^DROP TRIGGER IF EXISTS ("[^"]+"|\\w+) ON (${NAME})$`)
const DROP = new RegExp(`^DROP (TABLE|FUNCTION) (${NAME})(?:\\(\\))?$`)

/** @returns undefined if it is none, and the changes of rows that it is */
export function definitionsIn(statement: string): readonly Definition[] | undefined {
  const sql = statement.trim()
  if (INERT.test(sql)) return []
  const [, table] = CREATE_TABLE.exec(sql) ?? []
  if (table !== undefined) {
    const made = `INSERT INTO main.made_tables VALUES (?, NULL) ON CONFLICT DO NOTHING`
    return [{ sql: made, parameters: [table], otherwise: `${table} exists`, makes: table }]
  }
  const [, child = '', no, parent = ''] = INHERIT.exec(sql) ?? []
  if (child !== '') {
    const [after, before] = no === undefined ? [parent, null] : [null, parent]
    return [
      {
        sql: 'UPDATE main.made_tables SET parent = ? WHERE name = ? AND parent IS ?',
        parameters: [after, child, before],
        otherwise: `${child} does not inherit as ${sql} says`,
      },
    ]
  }
  const [, isReplaced, name = '', body = ''] = FUNCTION.exec(sql) ?? []
  if (name !== '') {
    const or = isReplaced === undefined ? 'OR ABORT' : 'OR REPLACE'
    return [
      { sql: `INSERT ${or} INTO main.made_functions VALUES (?, ?)`, parameters: [name, body] },
    ]
  }
  return triggersIn(sql) ?? dropsIn(sql)
}

function triggersIn(sql: string): readonly Definition[] | undefined {
  const [, , name, after = '', source = '', condition = 'true', run = ''] = TRIGGER.exec(sql) ?? []
  if (name !== undefined)
    return [
      {
        sql: 'INSERT OR REPLACE INTO main.made_triggers VALUES (?, ?, ?, ?, ?)',
        parameters: [`${name} ON ${source}`, source, after, condition, run],
      },
    ]
  const [, dropped, of] = DROP_TRIGGER.exec(sql) ?? []
  if (dropped === undefined) return undefined
  const parameters = [`${dropped} ON ${of}`]
  return [{ sql: 'DELETE FROM main.made_triggers WHERE id = ?', parameters }]
}

function dropsIn(sql: string): readonly Definition[] | undefined {
  const [, what, name = ''] = DROP.exec(sql) ?? []
  const otherwise = `${name} does not exist`
  const parameters = [name]
  if (what === 'FUNCTION')
    return [{ sql: 'DELETE FROM main.made_functions WHERE name = ?', parameters, otherwise }]
  if (what === undefined) return undefined
  return [
    { sql: `DELETE FROM ONLY ${name}`, parameters: [], empties: name },
    { sql: 'DELETE FROM main.made_triggers WHERE source = ?', parameters },
    { sql: 'DELETE FROM main.made_tables WHERE name = ?', parameters, otherwise },
  ]
}

/** Statements of a script; the body of a function has some of its own. */
export const statementsIn = (script: string): readonly string[] =>
  script
    .split('$$')
    .flatMap((part, index) => (index % 2 === 1 ? [`$$${part}$$`] : part.split(/(;)/)))
    .reduce<string[]>(
      (all, part) => (part === ';' ? [...all, ''] : [...all.slice(0, -1), all.at(-1)! + part]),
      [''],
    )
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

export interface Trigger {
  readonly after: string
  readonly condition: string
  readonly body: string
}

/** SQL of those on a table, as a session sees them. */
export const TRIGGERS_ON = `SELECT after, condition, body FROM main.made_triggers AS t
  JOIN main.made_functions AS f ON f.name = t.function WHERE source = ? ORDER BY id`

/** What a trigger runs for a row. */
export function triggered(
  { condition, body }: Pick<Trigger, 'condition' | 'body'>,
  row: Readonly<Record<string, Bindable>>,
): { readonly condition: string; readonly statements: readonly string[] } {
  const filled = (sql: string): string =>
    sql.replace(/\b(?:NEW|OLD)\.(\w+)/g, (_, column: string) => literal(row[column] ?? null))
  return { condition: filled(condition), statements: statementsIn(filled(body)) }
}

export function literal(value: Bindable): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  return Buffer.isBuffer(value) ? `x'${value.toString('hex')}'` : String(value)
}
