/**
 * The processor's store on SQLite.
 *
 * - The writer connection only commits; prefetches, lists and background reads use connections of
 *   their own.
 */
import { join } from 'node:path'
import { projectRoot } from '../../base/project_root.js'
import { acceptUntil, countBegunReleases, readUnfinishedRelease } from '../begun_releases.js'
import { readCopiedAt } from '../copied_books.js'
import { createDamageWatch } from '../damage_watch.js'
import { createLists } from '../lists.js'
import { progressQueries, readProgress, type Progress } from '../progress.js'
import {
  load,
  readBootState,
  readDue,
  readKeyRows,
  readOpenEvents,
  readStoppedByRecovery,
} from '../reads.js'
import { expiredAsJson } from '../retention.js'
import type { CommitRows, Store } from '../store.js'
import { fingerprintRows, readLastFingerprints } from '../stored_fingerprints.js'
import {
  COMMIT_VIEWS,
  createLargeTexts,
  toJson,
  viewFor,
  type CommitParameter,
  type LargeTexts,
} from './commit_view.js'
import { openDatabase } from './database.js'

export const PROCESSOR_SCHEMA = join(projectRoot(), 'src/store/sqlite/schema')
const NEW_NONCE_SALT = `INSERT OR IGNORE INTO meta (name, value)
  VALUES ('nonce_salt', hex(randomblob(32)))`
const RAISE_EPOCH = 'UPDATE owner SET epoch = ?'
const TRUNCATE = 'PRAGMA wal_checkpoint(TRUNCATE)'

/** @param open another driver, of a simulation */
export async function openStore(file: string, open = openDatabase): Promise<Store> {
  const writer = await open(file, { migrations: PROCESSOR_SCHEMA, sole: true })
  await writer.exec(COMMIT_VIEWS)
  await writer.run(NEW_NONCE_SALT)
  const damage = createDamageWatch()
  const openReader = async () => damage.watched(await open(file, { readOnly: true }))
  const reader = await openReader()
  const background = await openReader()
  const listing = await openReader()
  let progress: Progress = await readProgress(background)

  return {
    keyRows: () => readKeyRows(background),
    boot: async (recentSince) => {
      const { epoch, lastBatch } = progress
      return { ...(await readBootState(background, recentSince)), epoch, lastBatch }
    },
    load: (wanted) => load(reader, wanted),
    lastFingerprints: () => readLastFingerprints(reader),
    fingerprintsAfter: (last) => fingerprintRows(reader, last),
    commit: async (batch) => {
      const next = { ...progress, lastBatch: progress.lastBatch + 1 }
      const texts = createLargeTexts()
      const { statement, parameters } = viewFor(batch)
      await writer.run(
        statement,
        parameters.map((name) => parameter(batch, next, name, texts)),
      )
      progress = next
    },
    // The lock of the file excludes a second owner.
    barrier: () => Promise.resolve(),
    due: (...query) => readDue(background, ...query),
    openEvents: (after, limit) => readOpenEvents(background, after, limit),
    lists: createLists(listing),
    marks: progressQueries(background, () => progress),
    onFailure: () => undefined,
    damage: damage.found,
    checkpoints: () => writer.checkpoints?.() ?? 0,
    stoppedByRecovery: () => readStoppedByRecovery(background),
    copiedAt: () => readCopiedAt(background),
    raiseEpoch: async (above) => {
      const epoch = Math.max(above, progress.epoch) + 1
      await writer.run(RAISE_EPOCH, [epoch])
      progress = { ...progress, epoch }
      await countBegunReleases(writer)
    },
    releaseAcceptsUntil: (epoch) => acceptUntil(writer, epoch),
    unfinishedRelease: () => readUnfinishedRelease(writer),
    close: async () => {
      await listing.close()
      await reader.close()
      await background.close()
      await writer.exec(TRUNCATE)
      await writer.close()
    },
  }
}

function parameter(
  batch: CommitRows,
  { epoch, lastBatch }: Progress,
  name: CommitParameter,
  texts: LargeTexts,
): string | number | Buffer | null {
  switch (name) {
    case 'largeTexts':
      return texts.bytes()
    case 'epoch':
      return epoch
    case 'batch':
      return lastBatch
    case 'settledEvents':
      return batch.settledEvents.length === 0 ? null : JSON.stringify(batch.settledEvents)
    case 'settledAt':
      return batch.settledAt
    case 'nonces':
      return batch.nonces
    case 'noncesSeenAt':
      return batch.noncesSeenAt
    case 'forgetBefore':
      return batch.forgetBefore
    case 'forgetAfter':
      return batch.forgetAfter
    case 'expired':
      return batch.expired === null ? null : expiredAsJson(batch.expired)
    case 'keyFingerprints':
      return batch.keyFingerprints
    case 'keyFingerprintsFirst':
      return batch.keyFingerprintsFirst
    case 'userFingerprints':
      return batch.userFingerprints
    case 'userLinks':
      return batch.userLinks
    case 'userFirst':
      return batch.userFirst
    default:
      return toJson(name, batch.rows[name], texts)
  }
}
