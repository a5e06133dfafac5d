/**
 * The newest commit of each shard whose replies this gateway has received.
 *
 * Does not own: the comparison with the books (processor/recovery).
 *
 * - A mark is a lower bound: the processor sends it after the commit, with the replies of it.
 * - It is shown to every processor when its stream opens, so to the next owner of a shard before
 *   that gets any command of this gateway.
 */
import type {
  ProgressMark,
  ProgressMark__Output,
} from '../../protos/types/causeway/internal/v1/ProgressMark.js'

export interface ProgressMarks {
  received(mark: ProgressMark__Output): void
  /** One for each shard. */
  all(): ProgressMark[]
}

interface KnownMark {
  readonly wire: ProgressMark__Output
  readonly epoch: number
  readonly batch: number
}

export function createProgressMarks(): ProgressMarks {
  const marks = new Map<string, KnownMark>()
  return {
    received: (wire) => {
      const next = { wire, epoch: Number(wire.epoch), batch: Number(wire.batch) }
      const known = marks.get(wire.shard)
      if (known === undefined || isNewer(next, known)) marks.set(wire.shard, next)
    },
    all: () => [...marks.values()].map(({ wire }) => wire),
  }
}

const isNewer = (next: KnownMark, known: KnownMark): boolean =>
  next.epoch > known.epoch || (next.epoch === known.epoch && next.batch > known.batch)
