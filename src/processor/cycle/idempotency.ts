/**
 * Idempotency keys: what was bound to one, and binding a new one.
 *
 * Owns: the rows' place in memory and in the batch. Does not own: what a replay answers (each
 * command).
 *
 * - A key is bound in the commit of what it stands for, or not at all: refusals bind nothing.
 * - Sequences follow the order of commits, so the fingerprints of a batch are of consecutive rows.
 */
import { assert } from '../../base/assert.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from './command.js'
import { fingerprintOf } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'

export interface Bound {
  /** Of the request that bound it. */
  readonly requestHash: string
  readonly entity: string
  /** The first answer as JSON; null when it is derived from the entity. */
  readonly response: string | null
}

/** What the key stands for; null when it is free. It must have been among the needs. */
export function boundTo(memory: Memory, rowKey: string): Row<'idempotency'> | null {
  const held = memory.idempotency.get(rowKey)
  if (held !== undefined) return held
  const isFree = memory.keyIndex.candidates(fingerprintOf(rowKey)).length === 0
  assert(isFree, 'the row of a bound key was loaded')
  return null
}

export function bindKey(
  { memory, batch }: CommandContext,
  rowKey: string,
  { requestHash, entity, response }: Bound,
): void {
  memory.lastKeySequence += 1
  const sequence = memory.lastKeySequence
  const fingerprint = fingerprintOf(rowKey)
  const row = { sequence, key: rowKey, request_hash: requestHash, entity, response }
  memory.keyIndex.add(fingerprint, sequence)
  memory.idempotency.set(rowKey, row, batch.number)
  batch.stage('idempotency', rowKey, row)
  batch.addKeyFingerprint(fingerprint)
}
