/**
 * Copies a segment of the older idempotency keys to the store's index (background/key_index_moves).
 *
 * - Repeated after a crash, it writes the same rows.
 */
import { asInteger } from '../../cache/idempotency_index.js'
import { SEGMENTS } from '../../cache/key_index.js'
import { answer } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

/** @param through the last key of the move, which ends with the last segment */
export function indexOlderKeys(segment: number, through: number): Command {
  return {
    name: 'index_older_keys',
    needs: () => undefined,
    decide: ({ memory, batch, now }) => {
      for (const { sequence, ...fingerprint } of memory.keyIndex.entriesIn(segment, through)) {
        const row = { fingerprint: asInteger(fingerprint), sequence }
        batch.stage('keyIndex', String(sequence), row)
      }
      if (segment === SEGMENTS - 1) {
        batch.stage('keyIndexMoves', String(through), { through, at: now })
      }
      return answer({})
    },
  }
}
