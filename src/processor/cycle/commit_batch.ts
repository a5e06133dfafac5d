/**
 * A commit under construction: the changes of a series of commands, and the replies, events and
 * rail instructions that are released once the changes are on disk.
 *
 * Owns: collecting. Does not own: when the batch is committed and released (cycle/pipeline).
 *
 * - The rows, replies, instructions and events of one command are in one batch.
 * - Of a row that changes more than once only the last version is kept; memory already has it.
 */
import { FINGERPRINT_BYTES, writeFingerprint, type Fingerprint } from '../../auth/fingerprint.js'
import type { Instant } from '../../base/clock.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import type { RailInstruction } from '../../rails/rail.js'
import { NOTHING_EXPIRED, type ExpiredRows } from '../../store/retention.js'
import type { CommitRows, RowsByTable, StoredEvent } from '../../store/store.js'
import type { TenantId } from '../../base/ids.js'
import type { Answer, Reply } from './answer.js'
import type { OpenSpan } from './open_span.js'
import type { Origin } from './origin.js'
import { packedFingerprints, type Fingerprint64 } from '../cache/idempotency_index.js'
import type { Row, TableName } from '../../store/tables.js'

/** A new intent in the chain of its user's intents (changes/user_intent_links). */
export interface IntentLink {
  readonly number: number
  readonly id: string
  readonly fingerprint: Fingerprint64
  /** The number of the same user's previous intent. 0 means none. */
  readonly before: number
}

/** A change of state, for the log and the metrics. */
export interface Transition {
  readonly entity: string
  /** Null means that it is new. */
  readonly from: string | null
  readonly to: string
  readonly tenant: TenantId
  readonly origin: Origin
  /** Why it failed. Null if it did not. */
  readonly failure: string | null
  /** As the transition left it. */
  readonly payment: IntentContext | PayoutContext
}

/** An operator's action, for the log: without its reason and evidence, which are free text. */
export interface LoggedAction {
  readonly actor: { readonly name: string }
  readonly action: string
  readonly subject: string
  readonly origin: Origin
}

/** By table, then by key; only tables with rows. */
type Staged = Map<TableName, Map<string, Row<TableName>>>

export interface CommittedEvent extends StoredEvent {
  /** Its own commit settles it, because no endpoint subscribed to it. */
  readonly isSettled?: true
}

/** The nonce rows that a commit may delete: see CommitRows. */
export interface NonceCleanup {
  readonly before: Instant
  readonly after: number
}

export interface CommitBatch {
  readonly number: number
  /**
   * Row changes: they bound the batch, and distinguish a command that failed half-way from one that
   * changed nothing.
   */
  changes: number
  readonly events: CommittedEvent[]
  /** By rail. */
  readonly instructions: ReadonlyMap<string, readonly RailInstruction[]>
  readonly transitions: Transition[]
  readonly actions: LoggedAction[]
  /** The spans of its traced commands. */
  readonly spans: OpenSpan[]
  /** Partners whose directory entry changed. */
  readonly changedPartners: Set<string>
  readonly changedEndpoints: Set<string>
  readonly settledEvents: string[]
  stage<N extends TableName>(name: N, key: string, row: Row<N>): void
  addNonce(fingerprint: Fingerprint): void
  /** A bound key; called in the order of the sequences. */
  addKeyFingerprint(fingerprint: Fingerprint64, sequence: number): void
  /** A created intent; called in the order of the numbers. */
  addIntentLink(intent: IntentLink): void
  addInstruction(rail: string, instruction: RailInstruction): void
  /** Deletes or replaces them in this commit. */
  expire(rows: Partial<ExpiredRows>): void
  addReply(reply: Reply, answer: Answer): void
  hasRows(): boolean
  hasReplies(): boolean
  /** The commands that it answers. */
  replyCount(): number
  toCommit(now: Instant, cleanup: NonceCleanup | null): CommitRows
  sendReplies(): void
}

export function createCommitBatch(number: number): CommitBatch {
  const staged: Staged = new Map()
  const replies: Reply[] = []
  const answers: Answer[] = []
  const fingerprints: Fingerprint[] = []
  const settledEvents: string[] = []
  const instructions = new Map<string, RailInstruction[]>()
  const keyFingerprints: Fingerprint64[] = []
  const userFingerprints: Fingerprint64[] = []
  const userLinks: (readonly [id: string, before: number])[] = []
  let keyFirst = 0
  let userFirst = 0
  let expired: ExpiredRows | null = null

  const batch: CommitBatch = {
    number,
    changes: 0,
    events: [],
    instructions,
    transitions: [],
    actions: [],
    spans: [],
    changedPartners: new Set(),
    changedEndpoints: new Set(),
    settledEvents,
    stage: (name, key, row) => {
      let rows = staged.get(name)
      if (rows === undefined) staged.set(name, (rows = new Map<string, Row<TableName>>()))
      rows.set(key, row)
      batch.changes += 1
    },
    addNonce: ({ high, low }) => {
      fingerprints.push({ high, low })
    },
    addInstruction: (rail, instruction) => {
      const ofRail = instructions.get(rail)
      if (ofRail === undefined) instructions.set(rail, [instruction])
      else ofRail.push(instruction)
    },
    addKeyFingerprint: (fingerprint, sequence) => {
      if (keyFingerprints.length === 0) keyFirst = sequence
      keyFingerprints.push(fingerprint)
    },
    addIntentLink: ({ number, id, fingerprint, before }) => {
      if (userFingerprints.length === 0) userFirst = number
      userLinks.push([id, before])
      userFingerprints.push(fingerprint)
    },
    expire: (rows) => {
      const [before, added] = [expired ?? NOTHING_EXPIRED, { ...NOTHING_EXPIRED, ...rows }]
      expired = {
        events: [...before.events, ...added.events],
        keys: [...before.keys, ...added.keys],
        requests: [...before.requests, ...added.requests],
        usage: [...before.usage, ...added.usage],
        payments: [...before.payments, ...added.payments],
        userFingerprints: [...before.userFingerprints, ...added.userFingerprints],
      }
      batch.changes += Object.values(added).reduce((sum, { length }) => sum + length, 0)
    },
    addReply: (reply, given) => {
      replies.push(reply)
      answers.push(given)
    },
    hasRows: () =>
      staged.size > 0 || fingerprints.length > 0 || settledEvents.length > 0 || expired !== null,
    hasReplies: () => replies.length > 0,
    replyCount: () => replies.length,
    toCommit: (now, cleanup) => ({
      rows: rowsOf(staged),
      settledEvents,
      settledAt: now,
      nonces: fingerprints.length === 0 ? null : packed(fingerprints),
      noncesSeenAt: now,
      forgetBefore: cleanup?.before ?? null,
      forgetAfter: cleanup?.after ?? Number.POSITIVE_INFINITY,
      expired,
      keyFingerprints: keyFingerprints.length === 0 ? null : packedFingerprints(keyFingerprints),
      keyFingerprintsFirst: keyFirst,
      userFingerprints: userFingerprints.length === 0 ? null : packedFingerprints(userFingerprints),
      userLinks: JSON.stringify(userLinks),
      userFirst,
    }),
    sendReplies: () => {
      for (let i = 0; i < replies.length; i++) replies[i]!(answers[i]!)
    },
  }
  return batch
}

function packed(fingerprints: readonly Fingerprint[]): Buffer {
  const bytes = Buffer.allocUnsafe(fingerprints.length * FINGERPRINT_BYTES)
  for (const [i, fingerprint] of fingerprints.entries())
    writeFingerprint(fingerprint, bytes, i * FINGERPRINT_BYTES)
  return bytes
}

const rowsOf = (staged: Staged): RowsByTable =>
  Object.fromEntries(Array.from(staged, ([name, rows]) => [name, rows.values()]))
