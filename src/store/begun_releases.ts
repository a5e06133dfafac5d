/**
 * Whether each release of recovery mode has begun its epoch. It does so at the end of the process
 * that served it, so one that was killed right after the release leaves that to the next one.
 *
 * - The number of releases that have is a row of `meta`. Books of earlier versions get it at their
 *   first start, and all of their releases count.
 */
import type { Database } from './database.js'

const RELEASES = `INSERT INTO meta (name, value)
  SELECT 'begun_releases', CAST(count(*) AS text) FROM recoveries WHERE released_at IS NOT NULL
  ON CONFLICT (name)`
const FIRST_COUNT = `${RELEASES} DO NOTHING`
const COUNT = `${RELEASES} DO UPDATE SET value = excluded.value`
const UNFINISHED = `SELECT 1 FROM meta WHERE name = 'begun_releases' AND CAST(value AS bigint) <
  (SELECT count(*) FROM recoveries WHERE released_at IS NOT NULL)`

type Books = Pick<Database, 'run' | 'all'>

export async function hasUnfinishedRelease(books: Books): Promise<boolean> {
  await books.run(FIRST_COUNT)
  return (await books.all(UNFINISHED)).length > 0
}

/** After the epoch: a crash between them begins another one. */
export async function countBegunReleases(books: Books): Promise<void> {
  await books.run(COUNT)
}
