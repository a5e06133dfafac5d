/**
 * Idempotency keys: looking up a bound key, and binding a new one.
 *
 * Owns: the rows in memory and in the batch. Does not own: the answer of a replay (each command).
 *
 * - A key is bound in the commit of the entity it stands for. Refusals bind nothing.
 * - Sequences follow the order of commits, so the fingerprints of a batch are of consecutive rows.
 */
import { assert } from '../../base/assert.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from './command.js'
import { fingerprintOf } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'

export interface Bound {
  /** Hash of the request that bound the key. */
  readonly requestHash: string
  readonly entity: string
  /** The first answer as JSON; null when it is derived from the entity. */
  readonly response: string | null
}

/** The row of a key; null when the key is free. The key must be among the command's needs. */
export function boundRow(memory: Memory, rowKey: string): Row<'idempotency'> | null {
  const held = memory.idempotency.get(rowKey)
  if (held !== undefined) return held
  const fingerprint = fingerprintOf(rowKey)
  const isFree =
    memory.keyIndex.candidates(fingerprint).length === 0 &&
    !memory.keyIndex.mayBeIndexed(fingerprint)
  assert(isFree, 'the row of a bound key is loaded')
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
  batch.addKeyFingerprint(fingerprint, sequence)
}
