/**
 * One commit under construction: everything a run of commands changed, and everything that may
 * leave once it is on disk.
 *
 * Owns: gathering. Does not own: when it is committed or released (pipeline).
 *
 * G1. Rows, replies, orders and events of one command are in one group.
 * G2. Of a keyed row only the last form is kept: memory already decided on it.
 */
import { FINGERPRINT_BYTES, writeFingerprint, type Fingerprint } from '../../auth/fingerprint.js'
import type { Instant } from '../../base/clock.js'
import type { RailOrder } from '../../rails/rail.js'
import type { GroupRows, StoredEvent } from '../../store/store.js'
import type { Answer, Reply } from './answer.js'
import { packedKeyPrints, type KeyPrint } from '../memory/key_index.js'
import { TABLE_NAMES, type Row, type TableName } from '../../store/tables.js'

/** One intent among those of its user. */
export interface IntentLink {
  readonly number: number
  readonly id: string
  readonly print: KeyPrint
  /** The number of the same user's intent before it; 0: there is none. */
  readonly before: number
}

type Rows = { readonly [N in TableName]: Map<string, Row<N>> }

/** What a commit may delete: see GroupRows. */
export interface Forgetting {
  readonly before: Instant
  readonly after: number
}

export interface Group {
  readonly number: number
  /**
   * Counts changes, so that a command that failed half-way is told from one that changed nothing.
   */
  changes: number
  readonly events: StoredEvent[]
  readonly orders: RailOrder[]
  /** Tenants and partners whose directory entry changed. */
  readonly changedPartners: Set<string>
  readonly changedEndpoints: Set<string>
  readonly settledEvents: string[]
  stage<N extends TableName>(name: N, key: string, row: Row<N>): void
  addNonce(print: Fingerprint): void
  /** Of a key that was bound; called in the order of their sequences. */
  addKeyPrint(print: KeyPrint): void
  /** Of an intent that was created; called in the order of their numbers. */
  addIntentLink(intent: IntentLink): void
  addReply(reply: Reply, answer: Answer): void
  /** True when there is something to write. */
  hasRows(): boolean
  hasReplies(): boolean
  toCommit(now: Instant, forget: Forgetting | null): GroupRows
  sendReplies(): void
}

export function createGroup(number: number): Group {
  const rows = Object.fromEntries(TABLE_NAMES.map((name) => [name, new Map()])) as unknown as Rows
  const replies: Reply[] = []
  const answers: Answer[] = []
  const prints: Fingerprint[] = []
  const settledEvents: string[] = []
  const keyPrints: KeyPrint[] = []
  const userPrints: KeyPrint[] = []
  const userLinks: (readonly [id: string, before: number])[] = []
  let userFirst = 0
  let staged = 0

  const group: Group = {
    number,
    changes: 0,
    events: [],
    orders: [],
    changedPartners: new Set(),
    changedEndpoints: new Set(),
    settledEvents,
    stage: (name, key, row) => {
      ;(rows[name] as Map<string, Row<typeof name>>).set(key, row)
      staged += 1
      group.changes += 1
    },
    addNonce: ({ high, low }) => {
      prints.push({ high, low })
    },
    addKeyPrint: (print) => {
      keyPrints.push(print)
    },
    addIntentLink: ({ number, id, print, before }) => {
      if (userPrints.length === 0) userFirst = number
      userLinks.push([id, before])
      userPrints.push(print)
    },
    addReply: (reply, given) => {
      replies.push(reply)
      answers.push(given)
    },
    hasRows: () => staged > 0 || prints.length > 0 || settledEvents.length > 0,
    hasReplies: () => replies.length > 0,
    toCommit: (now, forget) => ({
      rows: Object.fromEntries(
        TABLE_NAMES.map((name) => [name, rows[name].values()]),
      ) as unknown as GroupRows['rows'],
      settledEvents,
      settledAt: now,
      nonces: prints.length === 0 ? null : packed(prints),
      noncesSeenAt: now,
      forgetBefore: forget?.before ?? null,
      forgetAfter: forget?.after ?? Number.POSITIVE_INFINITY,
      keyPrints: keyPrints.length === 0 ? null : packedKeyPrints(keyPrints),
      keyPrintsFirst: firstSequence(rows.idempotency.values()),
      userPrints: userPrints.length === 0 ? null : packedKeyPrints(userPrints),
      userLinks: JSON.stringify(userLinks),
      userFirst,
    }),
    sendReplies: () => {
      for (let i = 0; i < replies.length; i++) replies[i]!(answers[i]!)
    },
  }
  return group
}

function packed(prints: readonly Fingerprint[]): Buffer {
  const bytes = Buffer.allocUnsafe(prints.length * FINGERPRINT_BYTES)
  for (const [i, print] of prints.entries()) writeFingerprint(print, bytes, i * FINGERPRINT_BYTES)
  return bytes
}

/** Staged in the order of their sequences (idempotency, K2). */
function firstSequence(bound: Iterable<Row<'idempotency'>>): number {
  for (const { sequence } of bound) return sequence
  return 0
}
