/**
 * The books under audit: the databases of a data folder, each as it was at one instant.
 *
 * Owns: opening them for reading only, their snapshots, paging through big tables. Does not own:
 * what must hold in them (checks), what is said of it (report).
 *
 * B1. One connection reads all files in one transaction, so each database stands still. They are
 *     taken in the order processor, rail, webhooks: what the processor says a rail or the pool has
 *     done must then be there, however busy the stack is.
 * B2. Nothing is written: the connection is read-only, the databases attached to it as well.
 * B3. A page is held at a time, however big a table is.
 * B4. Amounts are read as text (CAST(… AS TEXT)) and added up as bigint: as numbers they would be
 *     rounded.
 * B5. Where several webhook pools have shared the deliveries, none of their books tells of all:
 *     they are not audited, and the verdict says so.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Instant } from '../base/clock.js'
import { FILES, webhookDatabase } from '../base/subjects.js'
import { openDatabase, type Bindable, type Database } from '../store/database.js'

/** A database and the schema its tables are found under in a query. */
export const SCHEMAS = { processor: 'main', rail: 'rail', webhooks: 'webhooks' } as const
export type Source = keyof typeof SCHEMAS
export const SOURCES = Object.keys(SCHEMAS) as readonly Source[]

export const FILE_OF: Readonly<Record<Source, string>> = {
  processor: FILES.processorDatabase,
  rail: FILES.railDatabase,
  webhooks: FILES.webhookDatabase,
}

export interface Books {
  /** Just before the first snapshot: a later time stamp belongs to what is not in the books yet. */
  readonly asOf: Instant
  has(source: Source): boolean
  all<Row>(sql: string, parameters?: readonly Bindable[]): Promise<Row[]>
  /**
   * All rows, a page after another. The query takes the cursor of the last row (`first` at first)
   * and the size of a page as its parameters, and sorts by that cursor. No column is a blob.
   */
  pages<Row>(
    sql: string,
    first: readonly Bindable[],
    cursorOf: (row: Row) => readonly Bindable[],
  ): AsyncGenerator<readonly Row[]>
  /** Rows of a table. */
  count(table: string): Promise<number>
  /** What the processor's database says by now, outside of the snapshots. */
  byNow<Row>(sql: string, parameters?: readonly Bindable[]): Promise<Row[]>
  close(): Promise<void>
}

/** There is nothing to audit, which is neither clean nor broken. */
export class NoBooks extends Error {
  override name = 'NoBooks'
}

/** Rows of a page. */
const PAGE = 4_000

export async function openBooks(folder: string, clock: Clock, page = PAGE): Promise<Books> {
  const fileOf = (source: Source): string => join(folder, FILE_OF[source])
  if (!existsSync(fileOf('processor'))) {
    throw new NoBooks(`there is no ${FILE_OF.processor} in ${folder}`)
  }
  const reader = await openDatabase(fileOf('processor'), { readOnly: true })
  const isShared = existsSync(join(folder, webhookDatabase(2)))
  const present = SOURCES.filter(
    (source) => existsSync(fileOf(source)) && !(source === 'webhooks' && isShared), // B5
  )
  for (const source of present) {
    if (source !== 'processor') {
      await reader.run(`ATTACH DATABASE ? AS ${SCHEMAS[source]}`, [fileOf(source)])
    }
  }
  const live = await openDatabase(fileOf('processor'), { readOnly: true })
  const asOf = clock.now()
  await takeSnapshots(reader, present)
  const counts = new Map<string, number>()

  return {
    asOf,
    has: (source) => present.includes(source),
    all: reader.all,
    pages: (sql, first, cursorOf) => pages(reader, page, sql, first, cursorOf),
    count: async (table) => {
      const known = counts.get(table)
      if (known !== undefined) return known
      const [row] = await reader.all<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
      const n = row?.n ?? 0
      counts.set(table, n)
      return n
    },
    byNow: live.all,
    close: async () => {
      await reader.exec('ROLLBACK')
      await reader.close()
      await live.close()
    },
  }
}

/** A deferred transaction takes the snapshot of a database at the first look into it. */
async function takeSnapshots(reader: Database, sources: readonly Source[]): Promise<void> {
  await reader.exec('BEGIN')
  for (const source of sources) {
    await reader.all(`SELECT count(*) FROM ${SCHEMAS[source]}.sqlite_schema`)
  }
}

/**
 * A page comes as one JSON text: that takes a quarter of what the driver takes for as many rows.
 */
async function* pages<Row>(
  reader: Database,
  size: number,
  sql: string,
  first: readonly Bindable[],
  cursorOf: (row: Row) => readonly Bindable[],
): AsyncGenerator<readonly Row[]> {
  const [row] = await reader.all<object>(sql, [...first, 1])
  if (row === undefined) return
  const members = Object.keys(row).map((column) => `'${column}', ${column}`)
  const asJson = `SELECT json_group_array(json_object(${members.join(', ')})) AS page FROM (${sql})`
  let cursor = first
  for (;;) {
    const [found] = await reader.all<{ page: string }>(asJson, [...cursor, size])
    const page = JSON.parse(found?.page ?? '[]') as Row[]
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < size) return
    cursor = cursorOf(last)
  }
}
