/**
 * Idempotency keys: what was bound to one, and binding a new one.
 *
 * Owns: the rows' place in memory and in the group. Does not own: what a replay answers (each
 * command).
 *
 * K1. A key is bound in the commit of what it stands for, or not at all: refusals bind nothing.
 * K2. Sequences follow the order of commits, so the prints of a group are of consecutive rows.
 */
import { assert } from '../../base/assert.js'
import type { Row } from '../../store/tables.js'
import type { Desk } from './command.js'
import { printOf } from '../memory/key_index.js'
import type { Memory } from '../memory/memory.js'

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
  const isFree = memory.keyIndex.candidates(printOf(rowKey)).length === 0
  assert(isFree, 'the row of a bound key was loaded')
  return null
}

export function bindKey(
  { memory, group }: Desk,
  rowKey: string,
  { requestHash, entity, response }: Bound,
): void {
  memory.lastKeySequence += 1
  const sequence = memory.lastKeySequence
  const print = printOf(rowKey)
  const row = { sequence, key: rowKey, request_hash: requestHash, entity, response }
  memory.keyIndex.add(print, sequence)
  memory.idempotency.put(rowKey, row, group.number)
  group.stage('idempotency', rowKey, row)
  group.addKeyPrint(print)
}
