/**
 * The processor's store: a port, with implementations on SQLite (sqlite/store), PostgreSQL
 * (postgres/store) and in simulations.
 *
 * Does not own: when to load or commit (processor/cycle/pipeline), row shapes (tables).
 *
 * - `commit` resolves when the batch is on disk. A rejected commit has an unknown outcome (a failed
 *   fsync may have stored the batch): the caller stops and recovers from disk.
 */
import type { Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import type { Traceparent } from '../base/traceparent.js'
import type { UnfinishedRelease } from './begun_releases.js'
import type { Lists } from './lists.js'
import type { ProgressQueries } from './progress.js'
import type { ExpiredRows } from './retention.js'
import type { AllFingerprints, LastFingerprints } from './stored_fingerprints.js'
import type { ActorRow, Row, TableName } from './tables.js'

/** A table without rows can be absent. */
export type RowsByTable = { readonly [N in TableName]?: Iterable<Row<N>> }

/** The changes of one batch of commands. Keyed tables hold the last row of each key. */
export interface CommitRows {
  readonly rows: RowsByTable
  readonly settledEvents: readonly string[]
  readonly settledAt: Instant
  /** Fingerprints, 8 bytes each. */
  readonly nonces: Buffer | null
  readonly noncesSeenAt: Instant
  /** Deletes nonces and FX quotes older than this, up to a limit. Null if none are deleted now. */
  readonly forgetBefore: Instant | null
  /** Deletes nonces with a later time as well: the clock was wrong. */
  readonly forgetAfter: number
  /** Rows whose retention has ended, to be deleted. Null means none. */
  readonly expired: ExpiredRows | null
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

/** The rows that memory loads at startup. Fingerprints are read once. */
export interface BootState extends AllFingerprints {
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
  /** Those that have not ended, the oldest first. */
  readonly userErasures: readonly Row<'userErasures'>[]
  /** Where ended payments of these books are moved to. Null means that none was moved. */
  readonly archive: Row<'archives'> | null
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
  /** When the newest posting was made, as epoch ms. Null if there is none. */
  readonly newestPostingAt: number | null
  readonly lastPosition: number
  /** When the newest event was committed, as epoch ms. Null if there is none. */
  readonly newestEventAt: number | null
  /** The newest sequence of an idempotency key. 0 means that none is stored. */
  readonly lastKey: number
  /** Keys up to this sequence are in the index of older keys. 0 means none. */
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

/** What the operators of a PostgreSQL server watch. */
export interface ServerFigures {
  /** To all databases of the server. */
  readonly connections: number
  readonly connectionsMax: number
  readonly databaseBytes: number
  /** 0 means that there is none. */
  readonly oldestTransactionSeconds: number
  readonly deadlocks: number
  readonly checkpoints: { readonly timed: number; readonly requested: number }
  /** The replay of each standby that has a lag. */
  readonly standbys: readonly { readonly name: string; readonly lagSeconds: number }[]
}

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
  lastFingerprints(): Promise<LastFingerprints>
  fingerprintsAfter(last: LastFingerprints): AllFingerprints
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
  /** The release of this recovery mode accepts marks of lost commits up to this epoch. */
  releaseAcceptsUntil(epoch: number): Promise<void>
  /**
   * The release of recovery mode whose process ended before it began its epoch. Null if there is
   * none.
   */
  unfinishedRelease(): Promise<UnfinishedRelease | null>
  /** Called once when the store can no longer commit, with a Deposed or another error. */
  onFailure(report: (error: Error) => void): void
  /** The first damage that a read has met since the start. Null if there is none. */
  damage(): string | null
  /** Checkpoints since the start. Absent means that the database does them by itself. */
  checkpoints?(): number
  /** Whether a server's commits are synchronous. Absent or null for a file, or if not read. */
  synchrony?(): Synchrony | null
  /**
   * Milliseconds by which this machine's clock is ahead of the server's, some seconds ago at most.
   * Absent, or null: there is no server, or it is not read.
   */
  clockOffsetMs?(): number | null
  /** As of some seconds ago. Absent for a file. Null means not read yet, or not readable. */
  serverFigures?(): ServerFigures | null
  /** What a recovery stops until an operator releases it. Null outside a recovery. */
  stoppedByRecovery(): Promise<RecoveryStop | null>
  /** RFC 3339, of the backup whose books these are, until a recovery is released. Else null. */
  copiedAt(): Promise<string | null>
  close(): Promise<void>
}
