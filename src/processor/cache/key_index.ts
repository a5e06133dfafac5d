/**
 * Finds the row of an idempotency key, among all keys ever used, in bounded memory.
 *
 * Owns: which keys are in memory. Does not own: rows and the index on disk (store), moving keys
 * there (background/key_index_moves), comparing the full key (cycle/needs).
 *
 * - The newest keys are in memory, 16 to 24 bytes each. Older keys are in the store's index, and a
 *   filter of fixed size says for almost every new key that it is not among them.
 * - No false negatives: a key is in memory until its row of the store's index is committed, then it
 *   is in the filter.
 * - A segment leaves memory only between batches, so what a prefetch found holds for the decision.
 */
import { assert } from '../../base/assert.js'
import {
  createIdempotencyIndex,
  SEGMENTS,
  type Fingerprint64,
  type IndexEntry,
} from './idempotency_index.js'
import { createKeyFilter, type KeyFilter } from './key_filter.js'

export interface KeyIndex {
  add(fingerprint: Fingerprint64, sequence: number): void
  /** Adds a key that is in the store's index; used at startup. */
  addIndexed(fingerprint: Fingerprint64): void
  /** Sequences of the rows in memory that can belong to this key; nearly always none or one. */
  candidates(fingerprint: Fingerprint64): readonly number[]
  /** Whether the store's index can have rows of this key. */
  mayBeIndexed(fingerprint: Fingerprint64): boolean
  /** Entries of a segment with sequences up to `through`. */
  entriesIn(segment: number, through: number): readonly IndexEntry[]
  /** These entries are in the store's index: `settle` removes them from memory. */
  indexed(segment: number, through: number): void
  /** Call only between batches. */
  settle(): void
  /** These keys are not in the books any more. Call only between batches. */
  remove(entries: readonly IndexEntry[]): void
  /** Keys in memory. */
  readonly size: number
  readonly bytes: number
}

export { SEGMENTS }

export function createKeyIndex(newFilter: () => KeyFilter = createKeyFilter): KeyIndex {
  const newest = createIdempotencyIndex()
  /** Small books need none. */
  let filter: KeyFilter | null = null
  let settled: { readonly segment: number; readonly through: number } | null = null

  const addIndexed = (fingerprint: Fingerprint64): void => {
    filter ??= newFilter()
    filter.add(fingerprint)
  }

  return {
    add: newest.add,
    addIndexed,
    candidates: newest.candidates,
    mayBeIndexed: (fingerprint) => filter?.mayHave(fingerprint) ?? false,
    entriesIn: newest.entriesIn,
    indexed: (segment, through) => {
      assert(settled === null, 'one segment at a time')
      settled = { segment, through }
    },
    settle: () => {
      if (settled === null) return
      const { segment, through } = settled
      settled = null
      for (const entry of newest.entriesIn(segment, through)) addIndexed(entry)
      newest.removeFrom(segment, through)
    },
    remove: newest.removeEach,
    get size() {
      return newest.size
    },
    get bytes() {
      return newest.bytes + (filter?.bytes ?? 0)
    },
  }
}
