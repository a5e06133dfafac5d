/**
 * A connection to a database, SQLite or PostgreSQL: the port that statements are written against.
 *
 * Does not own: opening one (sqlite/database, postgres/connection), what differs in SQL (dialect).
 */
import type { Dialect } from './dialect.js'

export type Bindable = string | number | Buffer | null

export interface Statement {
  sql(dialect: Dialect): string
  readonly values: readonly Bindable[]
}

/** A connection that reads, to SQLite or PostgreSQL. */
export interface Reader {
  readonly dialect: Dialect
  /** All rows of one query. The caller names the row's type; the query must select exactly that. */
  all<Row>(sql: string, parameters?: readonly Bindable[]): Promise<Row[]>
}

export interface Database extends Reader {
  /** Runs one statement; resolves with the number of changed rows. */
  run(sql: string, parameters?: readonly Bindable[]): Promise<number>
  /** Several statements without parameters. */
  exec(sql: string): Promise<void>
  /** Checkpoints completed beside the writer; only of a file opened with `sole`. */
  checkpoints?(): number
  close(): Promise<void>
}
