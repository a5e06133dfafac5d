/**
 * The processor's store on PostgreSQL.
 *
 * Does not own: the port (store/store), the commit function (postgres/commit), connections
 * (postgres/owned_schema), ownership (postgres/ownership).
 */
import { join } from 'node:path'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { projectRoot } from '../../base/project_root.js'
import { acceptUntil, countBegunReleases, readUnfinishedRelease } from '../begun_releases.js'
import { readCopiedAt } from '../copied_books.js'
import { createDamageWatch } from '../damage_watch.js'
import { createLists } from '../lists.js'
import { progressQueries, readAcceptedEpoch, readProgress, type Progress } from '../progress.js'
import {
  load,
  readBootState,
  readDue,
  readKeyRows,
  readOpenEvents,
  readStoppedByRecovery,
} from '../reads.js'
import type { Store } from '../store.js'
import { fingerprintRows, readLastFingerprints } from '../stored_fingerprints.js'
import { COMMIT_FUNCTION, commitValues } from './commit.js'
import type { OwnedSchemaDefinition } from './migrate.js'
import { openOwnedSchema, type SchemaOptions } from './owned_schema.js'
import { watchServerFigures } from './server_figures.js'

export const BOOKS: OwnedSchemaDefinition = {
  migrations: join(projectRoot(), 'src/store/postgres/schema'),
  commitFunction: COMMIT_FUNCTION,
}

export async function openPostgresStore(options: SchemaOptions): Promise<Store> {
  const schema = await openOwnedSchema(
    options,
    BOOKS,
    { background: 'by index', prefetch: 'by index', lists: 'by cost' },
    { prefetch: ANSWER_WITHIN_MS }, // every command waits for it
  )
  const damage = createDamageWatch()
  const { readers } = schema
  const background = damage.watched(readers.background)
  const prefetch = damage.watched(readers.prefetch)
  const lists = damage.watched(readers.lists)
  const { booksId } = await readProgress(background)
  const figures = watchServerFigures(lists, options.pause)
  let acceptedEpoch = await readAcceptedEpoch(background)
  let { lastBatch: lastBatchBefore } = schema.ownership()
  const progress = (): Progress => {
    const { epoch, lastBatch } = schema.ownership()
    return { booksId, epoch, lastBatch, acceptedEpoch, lastBatchBefore }
  }
  return {
    keyRows: () => readKeyRows(background),
    boot: async (recentSince) => {
      const { epoch, lastBatch } = schema.ownership()
      return { ...(await readBootState(background, recentSince)), epoch, lastBatch }
    },
    load: (wanted) => load(prefetch, wanted),
    lastFingerprints: () => readLastFingerprints(background),
    fingerprintsAfter: (last) => fingerprintRows(background, last),
    commit: (batch) => schema.commit((epoch, number) => commitValues(batch, epoch, number)),
    barrier: schema.barrier,
    due: (...query) => readDue(background, ...query),
    openEvents: (after, limit) => readOpenEvents(background, after, limit),
    lists: createLists(lists),
    marks: progressQueries(background, progress),
    onFailure: schema.onFailure,
    damage: damage.found,
    synchrony: schema.synchrony,
    clockOffsetMs: schema.clockOffsetMs,
    serverFigures: figures.latest,
    stoppedByRecovery: () => readStoppedByRecovery(background),
    copiedAt: () => readCopiedAt(background),
    raiseEpoch: async (above) => {
      await schema.raiseEpoch(above)
      const { epoch, lastBatch } = schema.ownership()
      acceptedEpoch = epoch
      lastBatchBefore = lastBatch
      await countBegunReleases(schema.writer)
    },
    releaseAcceptsUntil: (epoch) => acceptUntil(schema.writer, epoch),
    unfinishedRelease: () => readUnfinishedRelease(schema.writer),
    close: async () => {
      figures.stop()
      await schema.close()
    },
  }
}
