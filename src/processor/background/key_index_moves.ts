/**
 * Moves older idempotency keys from memory to the store's index, so that memory stays bounded.
 *
 * Does not own: the two indexes (cache/key_index), the rows (commands/idempotency).
 *
 * - A move begins when twice `newest` keys are in memory, and takes the oldest half. Of more keys,
 *   after an upgrade, each move takes `newest`, so that no commit is large.
 * - It goes segment by segment, each in a commit of its own and after a pause, because payments use
 *   the same commits. In the order of the fingerprints a commit touches few pages of the index.
 * - A crash repeats the move: its end is recorded in the commit of the last segment.
 */
import { SECOND } from '../../base/clock.js'
import { indexOlderKeys } from '../commands/idempotency/older_keys_index.js'
import { SEGMENTS, type KeyIndex } from '../cache/key_index.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'

export interface KeyIndexMoves {
  start(): void
  stop(): void
}

export interface KeyIndexMovesDependencies {
  readonly memory: { readonly keyIndex: KeyIndex; readonly lastKeySequence: number }
  readonly pipeline: Pick<Pipeline, 'submit'>
  /** Keys of a move, and as many stay in memory. */
  readonly newest?: number
  readonly pauseMs?: number
}

/** 16 to 24 MB, and twice that before a move. */
const NEWEST_KEYS = 2 ** 20
/** A move of NEWEST_KEYS takes 20 seconds, in which fewer keys are created. */
const PAUSE_MS = 20

export function createKeyIndexMoves(dependencies: KeyIndexMovesDependencies): KeyIndexMoves {
  const { memory, pipeline, newest = NEWEST_KEYS, pauseMs = PAUSE_MS } = dependencies
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const after = (ms: number, step: () => void): void => {
    if (!isStopped) timer = setTimeout(step, ms)
  }

  const beginWhenDue = (): void => {
    if (memory.keyIndex.size < 2 * newest) return after(SECOND, beginWhenDue)
    const moved = memory.lastKeySequence - memory.keyIndex.size
    move(0, moved + newest)
  }

  const move = (segment: number, through: number): void => {
    if (segment === SEGMENTS) return after(pauseMs, beginWhenDue)
    pipeline.submit(
      internalWork(indexOlderKeys(segment, through), 'service', ({ ok }) => {
        // Refused while the books are read-only.
        if (!ok) return after(SECOND, () => move(segment, through))
        memory.keyIndex.indexed(segment, through)
        after(pauseMs, () => move(segment + 1, through))
      }),
    )
  }

  return {
    start: () => after(SECOND, beginWhenDue),
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
