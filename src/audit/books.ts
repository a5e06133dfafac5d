/**
 * The books under audit: the databases of a data folder, each as it was at one instant.
 *
 * Owns: opening them for reading only, their snapshots, paging through big tables. Does not own:
 * what must hold in them (checks), what is said of it (report).
 *
 * - One connection reads all files in one transaction, so each database stands still. They are
 *   taken in the order processor, rail, webhooks: what the processor says a rail or the pool has
 *   done must then be there, however busy the stack is.
 * - Nothing is written: the connection is read-only, the databases attached to it as well.
 * - A page is held at a time, however big a table is.
 * - Amounts are read as text (CAST(… AS TEXT)) and added up as bigint: as numbers they would be
 *   rounded.
 * - Each webhook pool has books of its own. A query about `:pool` is asked of one after another;
 *   what only all of them together can tell names them all.
 * - Corrupt rows are set apart, so that they hide nothing else.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { instant, type Clock, type Instant } from '../base/clock.js'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX } from '../base/subjects.js'
import { openDatabase, type Bindable, type Database } from '../store/database.js'

export const FILE_OF = {
  processor: FILES.processorDatabase,
  rail: FILES.railDatabase,
  /** Of the first pool, which is always there. */
  webhooks: FILES.webhookDatabase,
} as const
export type Source = keyof typeof FILE_OF
export const SOURCES = Object.keys(FILE_OF) as readonly Source[]

export interface BookFile {
  readonly source: Source
  readonly file: string
  /** What its tables are found under in a query. */
  readonly schema: string
}

/** All there can be: ten, and SQLite opens eleven at once. */
const BOOK_FILES: readonly BookFile[] = [
  { source: 'processor', file: FILE_OF.processor, schema: 'main' },
  { source: 'rail', file: FILE_OF.rail, schema: 'rail' },
  ...Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) => ({
    source: 'webhooks' as const,
    file: webhookDatabase(index + 1),
    schema: `pool_${index + 1}`,
  })),
]

export interface Books {
  /** Just before the first snapshot: a later time stamp belongs to what is not in the books yet. */
  readonly asOf: Instant
  /** What was settled until then may be missing in the pools: theirs were replaced on purpose. */
  readonly poolsReplacedAt: Instant
  /** Those that are there. */
  readonly files: readonly BookFile[]
  /** The schemas of the webhook pools. */
  readonly pools: readonly string[]
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
  /** Rows of payouts and intents that cannot be read: `setCorruptApart` has found them. */
  readonly corrupt: ReadonlySet<string>
  /** From now on `payouts` and `intents` are without the rows whose context is no JSON. */
  setCorruptApart(): Promise<void>
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

export interface BookOptions {
  /** Rows of a page. */
  readonly page?: number
  /** See Books; epoch 0: never. */
  readonly poolsReplacedAt?: Instant
}

export async function openBooks(
  folder: string,
  clock: Clock,
  { page = PAGE, poolsReplacedAt = instant(0) }: BookOptions = {},
): Promise<Books> {
  const files = BOOK_FILES.filter(({ file }) => existsSync(join(folder, file)))
  const has = (source: Source): boolean => files.some((each) => each.source === source)
  if (!has('processor')) throw new NoBooks(`there is no ${FILE_OF.processor} in ${folder}`)
  const ofProcessor = join(folder, FILE_OF.processor)
  const reader = await openDatabase(ofProcessor, { readOnly: true })
  for (const { source, file, schema } of files) {
    if (source === 'processor') continue
    await reader.run(`ATTACH DATABASE ? AS ${schema}`, [join(folder, file)])
  }
  const live = await openDatabase(ofProcessor, { readOnly: true })
  const asOf = clock.now()
  await takeSnapshots(reader, files)
  const counts = new Map<string, number>()
  const corrupt = new Set<string>()

  return {
    asOf,
    poolsReplacedAt,
    files,
    pools: files.filter(({ source }) => source === 'webhooks').map(({ schema }) => schema),
    has,
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
    corrupt,
    setCorruptApart: async () => {
      for (const { id } of await reader.all<{ id: string }>(CORRUPT)) corrupt.add(id)
      if (corrupt.size > 0) await reader.exec(WITHOUT_CORRUPT)
    },
    byNow: live.all,
    close: async () => {
      await reader.exec('ROLLBACK')
      await reader.close()
      await live.close()
    },
  }
}

const CORRUPT = `
  SELECT id FROM payouts WHERE NOT json_valid(context)
  UNION ALL SELECT id FROM intents WHERE NOT json_valid(context)`
/** An unqualified name means the view. It is the connection's own: the file stays as it is. */
const WITHOUT_CORRUPT = `
  PRAGMA query_only = OFF;
  CREATE TEMP VIEW payouts AS SELECT * FROM main.payouts WHERE json_valid(context);
  CREATE TEMP VIEW intents AS SELECT * FROM main.intents WHERE json_valid(context);
  PRAGMA query_only = ON;
`

/** A deferred transaction takes the snapshot of a database at the first look into it. */
async function takeSnapshots(reader: Database, files: readonly BookFile[]): Promise<void> {
  await reader.exec('BEGIN')
  for (const { schema } of files) await reader.all(`SELECT count(*) FROM ${schema}.sqlite_schema`)
}

/** B5. The query as it is asked of each pool; one that names no `:pool` is asked once. */
export const inEachPool = (sql: string, { pools }: Pick<Books, 'pools'>): readonly string[] =>
  sql.includes(':pool') ? pools.map((pool) => sql.replaceAll(':pool', pool)) : [sql]

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
