/**
 * Whether each release of recovery mode has begun its epoch. It does so at the end of the process
 * that served it, so one that was killed right after the release leaves that to the next one.
 *
 * - The number of releases that have is a row of `meta`. Books of earlier versions get it at their
 *   first start, and all of their releases count.
 * - Another row has the epoch up to which the release accepts marks as lost. What it begins is
 *   above that, so a mark of a later time tells that these books are an older copy.
 */
import type { Database } from './database.js'

const RELEASES = `INSERT INTO meta (name, value)
  SELECT 'begun_releases', CAST(count(*) AS text) FROM recoveries WHERE released_at IS NOT NULL
  ON CONFLICT (name)`
const FIRST_COUNT = `${RELEASES} DO NOTHING`
const COUNT = `${RELEASES} DO UPDATE SET value = excluded.value`
const ACCEPTS_UNTIL = `INSERT INTO meta (name, value) VALUES ('release_accepts_until', ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`
const UNFINISHED = `SELECT
    (SELECT value FROM meta WHERE name = 'release_accepts_until') AS "acceptsUntil"
  FROM meta WHERE name = 'begun_releases' AND CAST(value AS bigint) <
    (SELECT count(*) FROM recoveries WHERE released_at IS NOT NULL)`

type Books = Pick<Database, 'run' | 'all'>

export interface UnfinishedRelease {
  /** The highest epoch whose marks it accepts as lost. 0 means none. */
  readonly acceptsUntil: number
}

export async function readUnfinishedRelease(books: Books): Promise<UnfinishedRelease | null> {
  await books.run(FIRST_COUNT)
  const [row] = await books.all<{ acceptsUntil: string | null }>(UNFINISHED)
  return row === undefined ? null : { acceptsUntil: Number(row.acceptsUntil ?? 0) }
}

/** Before the release. */
export async function acceptUntil(books: Books, epoch: number): Promise<void> {
  await books.run(ACCEPTS_UNTIL, [String(epoch)])
}

/** After the epoch: a crash between them begins another one. */
export async function countBegunReleases(books: Books): Promise<void> {
  await books.run(COUNT)
}
