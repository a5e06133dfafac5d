/**
 * Detects restored older copies of the books: compares the books with marks kept outside of them.
 *
 * Owns: the comparison, the reason as text, and the list of marks that the books are behind. Does
 * not own: the sources of marks (high-water file, bus, webhook pools, rail), the reaction
 * (background/recovery).
 *
 * - A mark is a lower bound. It names something that left this process after its commit was on
 *   disk, so books that do not contain it are an older copy or have lost commits.
 * - An event that cannot exist is no mark: its id is malformed or of a time that has not come. It
 *   is refused, so one false word of a pool stops nothing.
 * - A loss that an operator has accepted no longer counts: exactly that event or instruction, and
 *   every event before the release. A source can name another one at its next connection: bus and
 *   pools name the newest event of all shards, a pool has what the bus repeats, and ids of one
 *   millisecond are in no order. What was created after the release is compared as always.
 */
import { isAhead, lastBatchFor } from './high_water.js'
import { instant, MINUTE, plus, toRfc3339, type Clock } from '../../base/clock.js'
import { instantOf, isIdOf } from '../../base/ids.js'
import type { Progress, ProgressQueries } from '../../store/progress.js'

/** Something that the books must contain, and its source. */
export type Mark =
  | { readonly kind: 'high_water'; readonly source: string; readonly progress: Progress }
  /** The newest event in the bus or in a webhook pool. */
  | { readonly kind: 'event'; readonly source: string; readonly id: string }
  /** The newest instruction at a rail. */
  | { readonly kind: 'instruction'; readonly source: string; readonly id: string }

export type MarkResult =
  | { readonly kind: 'contained' }
  /** `reason`: a sentence without its full stop. */
  | { readonly kind: 'behind'; readonly mark: Mark; readonly reason: string }
  /** It is no mark of these books. */
  | { readonly kind: 'refused'; readonly reason: string }

export type Behind = Extract<MarkResult, { kind: 'behind' }>

const CONTAINED: MarkResult = { kind: 'contained' }

/** Clocks of machines differ by less. */
const CLOCK_TOLERANCE_MS = MINUTE

export interface Marks {
  /** Compares the books with a mark, and lists the mark when they are behind it. */
  check(mark: Mark): Promise<MarkResult>
  /** Marks that the books are behind, the latest of each source. */
  behind(): readonly Behind[]
}

export function createMarks(books: ProgressQueries, clock: Clock): Marks {
  const behind = new Map<string, Behind>()
  return {
    check: async (mark) => {
      const fault = mark.kind === 'event' ? faultOf(mark.source, mark.id, clock) : null
      if (fault !== null) return { kind: 'refused', reason: fault }
      const reason = await reasonOf(mark, books)
      if (reason === null) return CONTAINED
      const result = { kind: 'behind', mark, reason } as const
      behind.set(mark.source, result)
      return result
    },
    behind: () => [...behind.values()],
  }
}

/** The operator's next step; follows the reason. */
export const ADVICE =
  'put the newest copy of the books back, or start with RECOVERY=yes and follow "Books that are ' +
  `behind" in the operators' guide`

function reasonOf(mark: Mark, books: ProgressQueries): Promise<string | null> {
  switch (mark.kind) {
    case 'high_water':
      return Promise.resolve(highWaterReason(mark.source, mark.progress, books.progress()))
    case 'event':
      return eventReason(mark.source, mark.id, books)
    case 'instruction':
      return instructionReason(mark.source, mark.id, books)
  }
}

function highWaterReason(source: string, mark: Progress, books: Progress): string | null {
  if (!isAhead(mark, books)) return null
  if (mark.booksId !== books.booksId) {
    return `the books are not those of ${source}, which had come to commit ${mark.lastBatch}`
  }
  if (mark.epoch > books.epoch) {
    return `the books are in epoch ${books.epoch}, behind epoch ${mark.epoch} of ${source}`
  }
  const last = lastBatchFor(mark, books)
  const missing = mark.lastBatch - last
  const commits = missing === 1 ? '1 commit' : `${missing} commits`
  return `the books end ${commits} behind ${source} (${last} < ${mark.lastBatch})`
}

/** Why no books can have the event. Null if some can. */
function faultOf(source: string, id: string, clock: Clock): string | null {
  if (!isIdOf('event', id)) return `${source} names ${JSON.stringify(id)}, which is no event`
  const at = instantOf(id)
  if (at <= plus(clock.now(), CLOCK_TOLERANCE_MS)) return null
  return `${source} names event ${id} of ${toRfc3339(at)}, a time that has not come`
}

async function eventReason(
  source: string,
  id: string,
  books: ProgressQueries,
): Promise<string | null> {
  if (await books.hasEvent(id)) return null
  if (await books.isAcceptedLoss('event', id)) return null
  return `${source} has event ${id}, which the books do not; ${await newestOf(books)}`
}

async function instructionReason(
  source: string,
  id: string,
  books: ProgressQueries,
): Promise<string | null> {
  if (await books.hasInstruction(id)) return null
  if (await books.isAcceptedLoss('instruction', id)) return null
  return `${source} has instruction ${id}, which the books never sent; ${await newestOf(books)}`
}

async function newestOf(books: ProgressQueries): Promise<string> {
  const newest = await books.newestEvent()
  if (newest === null) return 'they have no event yet'
  return `their newest event is of ${toRfc3339(instant(newest.createdAt))}`
}
