/**
 * The processor's store: a port, and its implementation on SQLite.
 *
 * Owns: the port, which simulated stores implement too. Does not own: when to load or commit
 * (processor/cycle/pipeline), row shapes (store/tables).
 *
 * - The writer connection only commits; prefetches, lists and background reads use connections of
 *   their own.
 * - `commit` resolves when the batch is on disk. A rejected commit has an unknown outcome (a failed
 *   fsync may have stored the batch): the caller stops and recovers from disk.
 */
import { join } from 'node:path'
import type { Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import type { Traceparent } from '../base/traceparent.js'
import { projectRoot } from '../base/project_root.js'
import {
  COMMIT_PARAMETERS,
  COMMIT_STATEMENT,
  COMMIT_VIEW,
  createLargeTexts,
  toJson,
  type CommitParameter,
  type LargeTexts,
} from './commit_view.js'
import { openDatabase } from './database.js'
import { createLists, type Lists } from './lists.js'
import { progressQueries, readProgress, type Progress, type ProgressQueries } from './progress.js'
import {
  load,
  readBootState,
  readDue,
  readKeyRows,
  readOpenEvents,
  readStoppedByRecovery,
} from './reads.js'
import type { StoredFingerprints, StoredNonces } from './stored_fingerprints.js'
import type { ActorRow, Row, TableName } from './tables.js'

/** The changes of one batch of commands. Keyed tables hold the last row of each key. */
export interface CommitRows {
  readonly rows: { readonly [N in TableName]: Iterable<Row<N>> }
  readonly settledEvents: readonly string[]
  readonly settledAt: Instant
  /** Fingerprints, 8 bytes each. */
  readonly nonces: Buffer | null
  readonly noncesSeenAt: Instant
  /** Deletes nonces and FX quotes older than this, up to a limit. Null if none are deleted now. */
  readonly forgetBefore: Instant | null
  /** Deletes nonces with a later time as well: the clock was wrong. */
  readonly forgetAfter: number
  /** Fingerprints of new idempotency keys, 8 bytes each, with consecutive sequences. */
  readonly keyFingerprints: Buffer | null
  readonly keyFingerprintsFirst: number
  /** User fingerprints of new intents, 8 bytes each, with consecutive numbers. */
  readonly userFingerprints: Buffer | null
  /** JSON: each new intent's id and the number of its user's previous intent, or 0. */
  readonly userLinks: string
  readonly userFirst: number
}

/** Keys of the rows that a batch of commands needs and the cache does not hold. */
export interface Wanted {
  readonly intents: readonly string[]
  readonly payouts: readonly string[]
  readonly beneficiaries: readonly string[]
  /** Sequences. */
  readonly idempotency: readonly number[]
  /** Fingerprints, as signed integers, of keys that are only in the index of older keys. */
  readonly indexedKeys: readonly bigint[]
  readonly usage: readonly string[]
  readonly fxQuotes: readonly string[]
  readonly discrepancies: readonly string[]
  readonly deposits: readonly string[]
}

export interface Found {
  readonly intents: readonly ActorRow[]
  readonly payouts: readonly ActorRow[]
  readonly beneficiaries: readonly Row<'beneficiaries'>[]
  readonly idempotency: readonly Row<'idempotency'>[]
  readonly usage: readonly { readonly key: string; readonly used: string }[]
  readonly fxQuotes: readonly Row<'fxQuotes'>[]
  readonly discrepancies: readonly Row<'discrepancies'>[]
  readonly deposits: readonly DepositEntry[]
}

/** An entry of a deposit or of its correction on the prefund. */
export interface DepositEntry {
  readonly deposit: string
  readonly account: string
  /** Minor units: negative for a correction. */
  readonly amount: string
}

/** A committed event. */
export interface StoredEvent {
  /** Increases in commit order. */
  readonly position: number
  readonly id: string
  readonly tenant: TenantId
  readonly type: string
  readonly sequence: number
  readonly createdAt: Instant
  readonly body: string
  /** The request that caused it. Null if there is none. */
  readonly requestId: string | null
  /** The span that it was published in. Null if it is not traced. */
  readonly traceparent: Traceparent | null
}

/** Rows needed before any secret can be decrypted. */
export interface KeyRows {
  readonly masterKeys: readonly Row<'masterKeys'>[]
  readonly lastingKeys: readonly Row<'lastingKeys'>[]
}

/** Money that one operator moved without a second one. */
export interface SingleHandedAction {
  readonly actor: string
  readonly at: number
  readonly tenant: TenantId
  readonly currency: string
  /** Minor units. */
  readonly amount: string
}

/** The rows that memory loads at startup. */
export interface BootState {
  readonly masterKeys: readonly Row<'masterKeys'>[]
  readonly partners: readonly Row<'partners'>[]
  readonly signingKeys: readonly Row<'signingKeys'>[]
  /** Permanent and secret: stored fingerprints depend on it. */
  readonly nonceSalt: Buffer
  readonly endpoints: readonly Row<'endpoints'>[]
  readonly rates: readonly Row<'rates'>[]
  readonly sandboxRates: readonly Row<'sandboxRates'>[]
  readonly routes: readonly Row<'routes'>[]
  readonly submissionPauses: readonly Row<'submissionPauses'>[]
  readonly railRoutes: readonly Row<'railRoutes'>[]
  readonly callers: readonly Row<'callers'>[]
  readonly approvalRequests: readonly Row<'approvalRequests'>[]
  /** Actions by which one operator moved money, of the day of the boot and the one before. */
  readonly singleHanded: readonly SingleHandedAction[]
  readonly balanceAlerts: readonly Row<'balanceAlerts'>[]
  readonly discrepancies: readonly { readonly id: string }[]
  readonly accounts: readonly { readonly id: string; readonly balance: string }[]
  /** The last event of each tenant. */
  readonly sequences: readonly {
    readonly tenant: TenantId
    readonly sequence: number
    readonly position: number
  }[]
  readonly recoveries: readonly Row<'recoveries'>[]
  readonly orphans: readonly Row<'orphans'>[]
  /** The version of the newest setting for all shards that these books have applied, or 0. */
  readonly settingsVersion: number
  /** The newest moment that the books contain. */
  readonly newestMoment: Instant
  readonly lastPosting: number
  readonly lastPosition: number
  /** Read while they are iterated over, once. */
  readonly keyFingerprints: AsyncIterable<StoredFingerprints>
  readonly userFingerprints: AsyncIterable<StoredFingerprints>
  readonly nonces: AsyncIterable<StoredNonces>
  /** Keys up to this sequence are in the index of older keys; 0: none. */
  readonly indexedKeysThrough: number
  readonly recentlyConfirmed: readonly ActorRow[]
  readonly epoch: number
  readonly lastBatch: number
}

export type TimerKind = 'intents' | 'payouts'

export interface DueTimer {
  /** The actor's id. */
  readonly id: string
  readonly dueAt: Instant
}

/** Another process owns the books: nothing of this one may be answered any more. */
export class Deposed extends Error {
  override name = 'Deposed'
}

/** Writes: all of them. Submissions: nothing is submitted to the rail. */
export type RecoveryStop = 'writes' | 'submissions'

/** Whether the commits of a server wait for a standby. */
export interface Synchrony {
  /** Why commits are on one server only, without a full stop. Null if they wait for a standby. */
  readonly fault: string | null
  /** Connected synchronous standbys. Null if the role may not see them. */
  readonly standbys: number | null
}

export interface Store {
  keyRows(): Promise<KeyRows>
  boot(recentSince: Instant): Promise<BootState>
  load(wanted: Wanted): Promise<Found>
  /** @throws Deposed when another process owns the books */
  commit(batch: CommitRows): Promise<void>
  /**
   * Resolves when this process still owned the books after the call: answers of a batch without
   * rows wait for it. @throws Deposed
   */
  barrier(): Promise<void>
  /** Due timers, earliest first; of those that are due at once, by id. */
  due(kind: TimerKind, now: Instant, limit: number, after?: DueTimer): Promise<readonly DueTimer[]>
  openEvents(afterPosition: number, limit: number): Promise<readonly StoredEvent[]>
  readonly lists: Lists
  readonly marks: ProgressQueries
  /** Starts an epoch higher than `above` and the current one. Do not call during a commit. */
  raiseEpoch(above: number): Promise<void>
  /** Called once when the store can no longer commit, with a Deposed or another error. */
  onFailure(report: (error: Error) => void): void
  /** Checkpoints since the start. Absent: the database does them by itself. */
  checkpoints?(): number
  /** Whether a server's commits are synchronous. Absent or null for a file, or if not read. */
  synchrony?(): Synchrony | null
  /**
   * Milliseconds by which this machine's clock is ahead of the server's, some seconds ago at most.
   * Absent, or null: there is no server, or it is not read.
   */
  clockOffsetMs?(): number | null
  /** What a recovery stops until an operator releases it. Null outside a recovery. */
  stoppedByRecovery(): Promise<RecoveryStop | null>
  close(): Promise<void>
}

export const PROCESSOR_SCHEMA = join(projectRoot(), 'src/store/schema')
const NEW_NONCE_SALT = `INSERT OR IGNORE INTO meta (name, value)
  VALUES ('nonce_salt', hex(randomblob(32)))`
const RAISE_EPOCH = 'UPDATE owner SET epoch = ?'
const TRUNCATE = 'PRAGMA wal_checkpoint(TRUNCATE)'

export async function openStore(file: string): Promise<Store> {
  const writer = await openDatabase(file, { migrations: PROCESSOR_SCHEMA, sole: true })
  await writer.exec(COMMIT_VIEW)
  await writer.run(NEW_NONCE_SALT)
  const reader = await openDatabase(file, { readOnly: true })
  const background = await openDatabase(file, { readOnly: true })
  const listing = await openDatabase(file, { readOnly: true })
  let progress: Progress = await readProgress(background)

  return {
    keyRows: () => readKeyRows(background),
    boot: async (recentSince) => {
      const { epoch, lastBatch } = progress
      return { ...(await readBootState(background, recentSince)), epoch, lastBatch }
    },
    load: (wanted) => load(reader, wanted),
    commit: async (batch) => {
      const next = { ...progress, lastBatch: progress.lastBatch + 1 }
      const texts = createLargeTexts()
      await writer.run(
        COMMIT_STATEMENT,
        COMMIT_PARAMETERS.map((name) => parameter(batch, next, name, texts)),
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
    checkpoints: () => writer.checkpoints?.() ?? 0,
    stoppedByRecovery: () => readStoppedByRecovery(background),
    raiseEpoch: async (above) => {
      const epoch = Math.max(above, progress.epoch) + 1
      await writer.run(RAISE_EPOCH, [epoch])
      progress = { ...progress, epoch }
    },
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
