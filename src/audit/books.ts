/**
 * The books under audit: the databases of a data directory, each as one snapshot.
 *
 * Owns: opening them read-only, their snapshots, paging through large tables. Does not own: the
 * rules (checks), the printed result (report).
 *
 * - One connection reads all files in one transaction, so each database stands still. Snapshots are
 *   taken in the order processor, rail, webhooks, so the later ones contain everything that the
 *   processor records of the rail or a pool, also under load.
 * - PostgreSQL is exported first, at one snapshot: the processor's books and the pools'. Rows that
 *   the rail's later snapshot has and the export lacks are looked up in a second export.
 * - Connections and attached databases are read-only.
 * - One page of a table is in memory at a time. What a join materializes, up to all payments, is in
 *   a temporary file.
 * - Amounts are read as text (CAST(… AS TEXT)) and summed as bigint, because numbers would be
 *   rounded.
 * - Each webhook pool has its own database. A query with `:pool` runs once per pool; a query over
 *   all pools together names each of them.
 * - Corrupt rows are excluded from later checks, which then find further violations.
 */
import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { instant, type Clock, type Instant } from '../base/clock.js'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX } from '../base/subjects.js'
import { openDatabase } from '../store/sqlite/database.js'
import type { Bindable, Database } from '../store/database.js'

export const FILE_OF = {
  processor: FILES.processorDatabase,
  rail: FILES.railDatabase,
  /** Opens the accounts in the rail's database. */
  railKey: FILES.railKey,
  /** The first pool's. */
  webhooks: FILES.webhookDatabase,
} as const
export type Source = keyof typeof FILE_OF
export const SOURCES = Object.keys(FILE_OF) as readonly Source[]

export interface BookFile {
  readonly source: Source
  readonly file: string
  /** Qualifies its tables in a query. */
  readonly schema: string
}

/** At most ten files: SQLite attaches at most ten to one connection. */
const BOOK_FILES: readonly BookFile[] = [
  { source: 'processor', file: FILE_OF.processor, schema: 'main' },
  { source: 'rail', file: FILE_OF.rail, schema: 'rail' },
  ...Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) => ({
    source: 'webhooks' as const,
    file: webhookDatabase(index + 1),
    schema: `pool_${index + 1}`,
  })),
]

/** Paths of the databases that exist. */
export const databasesIn = (folder: string, railDir = folder): readonly string[] =>
  BOOK_FILES.map(({ source, file }) => join(source === 'rail' ? railDir : folder, file)).filter(
    (path) => existsSync(path),
  )

export interface Books {
  /** Just before the first snapshot: rows with a later timestamp may be missing in it. */
  readonly asOf: Instant
  /** Deliveries settled before it may be missing: the operator replaced the pools' databases. */
  readonly poolsReplacedAt: Instant
  /** The folder of the rail's key. */
  readonly railFolder: string
  /** The databases that exist. */
  readonly files: readonly BookFile[]
  /** The schemas of the webhook pools. */
  readonly pools: readonly string[]
  has(source: Source): boolean
  all<Row>(sql: string, parameters?: readonly Bindable[]): Promise<Row[]>
  /**
   * All rows, page by page. The query's parameters are the cursor of the last row (initially
   * `first`) and the page size; it sorts by the cursor. No column is a blob.
   */
  pages<Row>(
    sql: string,
    first: readonly Bindable[],
    cursorOf: (row: Row) => readonly Bindable[],
  ): AsyncGenerator<readonly Row[]>
  /** Rows of a table. */
  count(table: string): Promise<number>
  /** Ids of payouts and intents whose context is not JSON, once `excludeCorrupt` has run. */
  readonly corrupt: ReadonlySet<string>
  /** Null means that no payment has left these books. */
  readonly archive: BooksArchive | null
  /** From now on queries of `payouts` and `intents` omit corrupt rows. */
  excludeCorrupt(): Promise<void>
  /** Reads the processor's rows as they are after all snapshots were taken. */
  allCurrent<Row>(sql: string, parameters?: readonly Bindable[]): Promise<Row[]>
  close(): Promise<void>
}

export interface BooksArchive {
  readonly id: string
  readonly path: string
  /** Whether the file is there and is that archive: its payments are read with the books'. */
  readonly isRead: boolean
  /** Why the file cannot be read, e.g. that it is damaged. Absent unless it is there. */
  readonly fault?: string
}

/** There is nothing to audit, which is neither clean nor broken. */
export class NothingToAudit extends Error {
  override name = 'NothingToAudit'
}

/** Rows of a page. */
const PAGE = 4_000

export interface BookOptions {
  /** Rows of a page. */
  readonly page?: number
  /** See Books; epoch 0: never. */
  readonly poolsReplacedAt?: Instant
  /** The data directory of the rail. Default: that of the books. */
  readonly railDir?: string | undefined
  readonly exported?: Exported | undefined
  /** Another driver, of a simulation. */
  readonly open?: typeof openDatabase
  /** Where the archive is now, or its folder. Default: where it was written. */
  readonly archive?: string | undefined
}

/** An export of PostgreSQL: the databases of processor and pools. */
export interface Exported {
  readonly folder: string
  /** The folder of the shard's part of the rail's log. Default: the rail's data directory. */
  readonly railFolder?: string
  readonly asOf: Instant
  /** Exports the processor's books again. @returns the file */
  again(): Promise<string>
}

export async function openBooks(
  folder: string,
  clock: Clock,
  {
    page = PAGE,
    poolsReplacedAt = instant(0),
    railDir = folder,
    exported,
    open = openDatabase,
    archive: given,
  }: BookOptions = {},
): Promise<Books> {
  const pathOf = ({ source, file }: BookFile): string =>
    source === 'rail'
      ? join(exported?.railFolder ?? railDir, file)
      : join(exported?.folder ?? folder, file)
  const files = BOOK_FILES.filter((each) => existsSync(pathOf(each)))
  const has = (source: Source): boolean =>
    source === 'railKey'
      ? existsSync(join(railDir, FILES.railKey))
      : files.some((each) => each.source === source)
  if (!has('processor')) throw new NothingToAudit(`there is no ${FILE_OF.processor} in ${folder}`)
  const ofProcessor = pathOf(BOOK_FILES[0]!)
  const reader = await open(ofProcessor, { readOnly: true })
  await reader.exec('PRAGMA temp_store = FILE')
  for (const each of files) {
    if (each.source === 'processor') continue
    await reader.run(`ATTACH DATABASE ? AS ${each.schema}`, [pathOf(each)])
  }
  const archive = await attachArchive(reader, given, open)
  let current: Database | undefined
  const asOf = exported?.asOf ?? clock.now()
  await takeSnapshots(reader, files)
  const counts = new Map<string, number>()
  const corrupt = new Set<string>()
  if (archive?.isRead === true) await reader.exec(viewsOf(withArchive))

  return {
    asOf,
    poolsReplacedAt,
    railFolder: railDir,
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
    archive,
    excludeCorrupt: async () => {
      for (const { id } of await reader.all<{ id: string }>(CORRUPT)) corrupt.add(id)
      if (corrupt.size === 0) return
      const all = archive?.isRead === true ? withArchive : inBooks
      await reader.exec(
        viewsOf((table) => `SELECT * FROM (${all(table)}) WHERE json_valid(context)`),
      )
    },
    allCurrent: async (sql, parameters) => {
      current ??= await open((await exported?.again()) ?? ofProcessor, { readOnly: true })
      return current.all(sql, parameters)
    },
    close: async () => {
      await reader.exec('ROLLBACK')
      await reader.close()
      await current?.close()
    },
  }
}

const CORRUPT = `
  SELECT id FROM payouts WHERE NOT json_valid(context)
  UNION ALL SELECT id FROM intents WHERE NOT json_valid(context)`
type Actors = 'intents' | 'payouts'

/** An unqualified name resolves to the view, which exists in this connection only. */
const viewsOf = (select: (table: Actors) => string): string => `
  PRAGMA query_only = OFF;
  ${(['intents', 'payouts'] as const)
    .map(
      (table) =>
        `DROP VIEW IF EXISTS temp.${table}; CREATE TEMP VIEW ${table} AS ${select(table)};`,
    )
    .join('\n')}
  PRAGMA query_only = ON;
`

const ACTOR_COLUMNS: Readonly<Record<Actors, string>> = {
  intents: 'id, tenant, state, due_at, confirmed_at, context',
  payouts: 'id, tenant, state, due_at, reference, beneficiary, context',
}

/** A payment that the archive has already and the books still have is read in the books. */
const archived = (table: Actors): string => `
  SELECT ${ACTOR_COLUMNS[table]} FROM archive.${table} a
    WHERE EXISTS (SELECT 1 FROM main.archived_payments x WHERE x.id = a.id)`

const inBooks = (table: Actors): string => `SELECT ${ACTOR_COLUMNS[table]} FROM main.${table}`

const withArchive = (table: Actors): string => `${inBooks(table)} UNION ALL ${archived(table)}`

/** Books of an earlier version have no archive. One that cannot be read hides nothing else. */
async function attachArchive(
  reader: Database,
  given: string | undefined,
  open: typeof openDatabase,
): Promise<BooksArchive | null> {
  const known = await reader.all("SELECT 1 FROM main.sqlite_schema WHERE name = 'archives'")
  if (known.length === 0) return null
  const [row] = await reader.all<{ id: string; path: string }>('SELECT id, path FROM archives')
  if (row === undefined) return null
  const path = archivePath(row.path, given)
  const named = { id: row.id, path }
  if (!existsSync(path)) return { ...named, isRead: false }
  try {
    const isRead = (await archiveIdIn(path, open)) === row.id
    if (isRead) await reader.run('ATTACH DATABASE ? AS archive', [path])
    return { ...named, isRead }
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    return { ...named, isRead: false, fault }
  }
}

async function archiveIdIn(path: string, open: typeof openDatabase): Promise<string | undefined> {
  const file = await open(path, { readOnly: true })
  const [found] = await file
    .all<{ value: string }>("SELECT value FROM meta WHERE name = 'id'")
    .finally(() => file.close())
  return found?.value
}

function archivePath(written: string, given = written): string {
  const isFolder = statSync(given, { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder ? join(given, basename(written)) : given
}

/** A deferred transaction takes a database's snapshot at its first read of it. */
async function takeSnapshots(reader: Database, files: readonly BookFile[]): Promise<void> {
  await reader.exec('BEGIN')
  for (const { schema } of files) await reader.all(`SELECT count(*) FROM ${schema}.sqlite_schema`)
}

/** The query for each pool; a query without `:pool` once. */
export const inEachPool = (sql: string, { pools }: Pick<Books, 'pools'>): readonly string[] =>
  sql.includes(':pool') ? pools.map((pool) => sql.replaceAll(':pool', pool)) : [sql]

/** A page is read as one JSON text, in a quarter of the driver's time for the same rows. */
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
