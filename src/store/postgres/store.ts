/**
 * The processor's store on PostgreSQL.
 *
 * Does not own: the port (store/store), the commit function (postgres/commit), who owns the books
 * (postgres/lease).
 *
 * - The process owns the books from `openPostgresStore` until `close`; boot reads after that, on
 *   the same server.
 * - One connection commits; prefetches, lists and background reads have connections of their own.
 * - A commit that fails has an unknown outcome, also one that the server reports as done with a
 *   warning: a cancelled wait for the standby means that only one server has it.
 */
import type { Logger } from '../../base/log.js'
import { createLists } from '../lists.js'
import { progressQueries, readProgress, type Progress } from '../progress.js'
import { load, readBootState, readDue, readKeyRows, readOpenEvents } from '../reads.js'
import { Deposed, type Store } from '../store.js'
import { COMMIT_STATEMENT, commitValues, FENCED } from './commit.js'
import { connectToPrimary, parseStoreUrl } from './connection.js'
import { acquireLease, beat, checkOwnership, DEPOSED, HEARTBEAT_MS, release } from './lease.js'
import { migrate } from './migrate.js'

export interface PostgresStoreOptions {
  readonly url: string
  /** The schema of the books. */
  readonly shard: string
  /** Names this process; the same after a restart. */
  readonly holder: string
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

/** The class of warnings; a commit succeeds without one. */
const WARNING = '01000'
const IN_RECOVERY = 'SELECT 1 FROM recoveries WHERE released_at IS NULL'
const RAISE_EPOCH = `UPDATE owner SET epoch = greatest(epoch, ?::bigint) + 1 WHERE epoch = ?
  RETURNING epoch`

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, shard, elapsed, log } = options
  const writer = await connectToPrimary(parseStoreUrl(url), shard, 'commits')
  const [reader, background, listing] = await Promise.all(
    ['prefetch', 'background', 'lists'].map((name) =>
      connectToPrimary([writer.target], shard, name),
    ),
  )
  if (reader === undefined || background === undefined || listing === undefined)
    throw new Error('unreachable')
  const all = [writer, reader, background, listing]
  await migrate(writer, shard)
  await writer.exec('SET plan_cache_mode = force_generic_plan')
  const ownership = await acquireLease({ ...options, connection: writer, background })
  let progress: Progress = await readProgress(background)
  log.info({ shard, epoch: ownership.epoch, batch: ownership.lastBatch }, 'owner of the books')

  const warnings: string[] = []
  writer.onNotice((code, message) => {
    if (code === WARNING) warnings.push(message)
  })
  let report: (error: Error) => void = () => undefined
  for (const connection of all) connection.onLost((error) => report(error))

  let lastCommitAt = elapsed()
  const heartbeat = setInterval(() => {
    if (elapsed() - lastCommitAt < HEARTBEAT_MS) return
    beat(writer, progress.epoch).catch((error: unknown) => report(error as Error))
  }, HEARTBEAT_MS)

  return {
    keyRows: () => readKeyRows(background),
    boot: async (recentSince) => {
      const { epoch, lastBatch } = progress
      return { ...(await readBootState(background, recentSince)), epoch, lastBatch }
    },
    load: (wanted) => load(reader, wanted),
    commit: async (batch) => {
      const { epoch, lastBatch } = progress
      warnings.length = 0
      try {
        await writer.run(COMMIT_STATEMENT, commitValues(batch, epoch, lastBatch + 1))
      } catch (error) {
        throw (error as { code?: string }).code === FENCED ? new Deposed(DEPOSED) : error
      }
      const [warning] = warnings
      if (warning !== undefined) throw new Error(`the server committed with a warning: ${warning}`)
      progress = { ...progress, lastBatch: lastBatch + 1 }
      lastCommitAt = elapsed()
    },
    barrier: () => checkOwnership(writer, progress.epoch),
    due: (kind, now, limit) => readDue(background, kind, now, limit),
    openEvents: (after, limit) => readOpenEvents(background, after, limit),
    lists: createLists(listing),
    marks: progressQueries(background, () => progress),
    onFailure: (handler) => (report = handler),
    isInRecovery: async () => (await background.all(IN_RECOVERY)).length > 0,
    raiseEpoch: async (above) => {
      const [raised] = await writer.all<{ epoch: number }>(RAISE_EPOCH, [above, progress.epoch])
      if (raised === undefined) throw new Deposed(DEPOSED)
      progress = { ...progress, epoch: raised.epoch }
    },
    close: async () => {
      clearInterval(heartbeat)
      await release(writer, progress.epoch).catch(() => undefined)
      await Promise.all(all.map((connection) => connection.close()))
    },
  }
}
