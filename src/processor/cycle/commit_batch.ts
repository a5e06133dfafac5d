/**
 * One commit under construction: everything a run of commands changed, and everything that may
 * leave once it is on disk.
 *
 * Owns: gathering. Does not own: when it is committed or released (pipeline).
 *
 * - Rows, replies, orders and events of one command are in one batch.
 * - Of a keyed row only the last form is kept: memory already decided on it.
 */
import { FINGERPRINT_BYTES, writeFingerprint, type Fingerprint } from '../../auth/fingerprint.js'
import type { Instant } from '../../base/clock.js'
import type { RailInstruction } from '../../rails/rail.js'
import type { CommitRows, StoredEvent } from '../../store/store.js'
import type { Answer, Reply } from './answer.js'
import { packedFingerprints, type Fingerprint64 } from '../cache/idempotency_index.js'
import { TABLE_NAMES, type Row, type TableName } from '../../store/tables.js'

/** One intent among those of its user. */
export interface IntentLink {
  readonly number: number
  readonly id: string
  readonly fingerprint: Fingerprint64
  /** The number of the same user's intent before it; 0: there is none. */
  readonly before: number
}

type Rows = { readonly [N in TableName]: Map<string, Row<N>> }

/** What a commit may delete: see CommitRows. */
export interface Forgetting {
  readonly before: Instant
  readonly after: number
}

export interface CommitBatch {
  readonly number: number
  /**
   * Counts changes, so that a command that failed half-way is told from one that changed nothing.
   */
  changes: number
  readonly events: StoredEvent[]
  readonly instructions: RailInstruction[]
  /** Tenants and partners whose directory entry changed. */
  readonly changedPartners: Set<string>
  readonly changedEndpoints: Set<string>
  readonly settledEvents: string[]
  stage<N extends TableName>(name: N, key: string, row: Row<N>): void
  addNonce(fingerprint: Fingerprint): void
  /** Of a key that was bound; called in the order of their sequences. */
  addKeyFingerprint(fingerprint: Fingerprint64): void
  /** Of an intent that was created; called in the order of their numbers. */
  addIntentLink(intent: IntentLink): void
  addReply(reply: Reply, answer: Answer): void
  /** True when there is something to write. */
  hasRows(): boolean
  hasReplies(): boolean
  toCommit(now: Instant, forget: Forgetting | null): CommitRows
  sendReplies(): void
}

export function createCommitBatch(number: number): CommitBatch {
  const rows = Object.fromEntries(TABLE_NAMES.map((name) => [name, new Map()])) as unknown as Rows
  const replies: Reply[] = []
  const answers: Answer[] = []
  const fingerprints: Fingerprint[] = []
  const settledEvents: string[] = []
  const keyFingerprints: Fingerprint64[] = []
  const userFingerprints: Fingerprint64[] = []
  const userLinks: (readonly [id: string, before: number])[] = []
  let userFirst = 0
  let staged = 0

  const batch: CommitBatch = {
    number,
    changes: 0,
    events: [],
    instructions: [],
    changedPartners: new Set(),
    changedEndpoints: new Set(),
    settledEvents,
    stage: (name, key, row) => {
      ;(rows[name] as Map<string, Row<typeof name>>).set(key, row)
      staged += 1
      batch.changes += 1
    },
    addNonce: ({ high, low }) => {
      fingerprints.push({ high, low })
    },
    addKeyFingerprint: (fingerprint) => {
      keyFingerprints.push(fingerprint)
    },
    addIntentLink: ({ number, id, fingerprint, before }) => {
      if (userFingerprints.length === 0) userFirst = number
      userLinks.push([id, before])
      userFingerprints.push(fingerprint)
    },
    addReply: (reply, given) => {
      replies.push(reply)
      answers.push(given)
    },
    hasRows: () => staged > 0 || fingerprints.length > 0 || settledEvents.length > 0,
    hasReplies: () => replies.length > 0,
    toCommit: (now, forget) => ({
      rows: Object.fromEntries(
        TABLE_NAMES.map((name) => [name, rows[name].values()]),
      ) as unknown as CommitRows['rows'],
      settledEvents,
      settledAt: now,
      nonces: fingerprints.length === 0 ? null : packed(fingerprints),
      noncesSeenAt: now,
      forgetBefore: forget?.before ?? null,
      forgetAfter: forget?.after ?? Number.POSITIVE_INFINITY,
      keyFingerprints: keyFingerprints.length === 0 ? null : packedFingerprints(keyFingerprints),
      keyFingerprintsFirst: firstSequence(rows.idempotency.values()),
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

/** Staged in the order of their sequences (idempotency). */
function firstSequence(bound: Iterable<Row<'idempotency'>>): number {
  for (const { sequence } of bound) return sequence
  return 0
}
