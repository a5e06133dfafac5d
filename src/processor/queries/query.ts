/**
 * A query: a page of a list, read beside the cycle.
 *
 * Owns: how queries run, how many. Does not own: the SQL (store/lists), whose page is read next
 * (store/reading_line), what a caller may see (queries/).
 *
 * Q1. A query sees what is committed, and nothing of what is under way. What was acknowledged
 *     before it began is in it.
 * Q2. Queries wait for one another, never commits for queries, and tenants wait for one another by
 *     turns.
 * Q3. Beyond a bound the next one is refused at once. Whoever has none under way is taken even so:
 *     the others' number is no reason to refuse the first page.
 * Q4. A page that nobody awaits any more is not read.
 * Q5. A corrupt row takes no list with it: partners' lists omit it, operators' lists name it.
 */
import { createCorruptRows, type CorruptRows } from '../../base/corrupt_row.js'
import type { Logger } from '../../base/log.js'
import type { Lists } from '../../store/lists.js'
import { NotAwaited } from '../../store/reading_line.js'
import { refuse, type Answer } from '../cycle/answer.js'
import type { Lane } from '../cycle/command.js'
import type { Vault } from '../keys/vault.js'
import { createKnownPages, type KnownPages } from './known_pages.js'

/** All that a query may look at. */
export interface Reading {
  readonly lists: Lists
  readonly vault: Vault
  readonly brand: string
  readonly knownPages: KnownPages
  /** Counts and names, once, a row that could not be read. */
  reportCorrupt(entity: string, error: unknown): void
}

/** What a reader is made of. */
export interface ReaderDependencies extends Omit<Reading, 'knownPages' | 'reportCorrupt'> {
  /** Those the cycle has met as well. */
  readonly corruptRows?: CorruptRows
}

export interface Query {
  /** For logs. */
  readonly name: string
  readonly lane: Lane
  run(reading: Reading): Promise<Answer>
}

export interface Reader {
  /** Never rejects. Asks whether the answer is awaited still when the query's turn comes. */
  run(query: Query, isAwaited?: () => boolean): Promise<Answer>
}

/** At some half a millisecond a page, the last one waits two seconds: less than its caller does. */
const UNDER_WAY_MAX = 4_000
const UNDER_WAY_OF_A_LANE_MAX = 1_000

export function createReader(
  { corruptRows = createCorruptRows(), ...given }: ReaderDependencies,
  log: Logger,
): Reader {
  const reading: Reading = {
    ...given,
    knownPages: createKnownPages(),
    reportCorrupt: (entity, error) => {
      if (corruptRows.add(entity))
        log.error({ err: error, entity }, 'the row is corrupt; lists omit it')
    },
  }
  const underWay = new Map<Lane, number>()
  let total = 0

  const hasRoomFor = (lane: Lane): boolean => {
    const ofLane = underWay.get(lane) ?? 0
    return ofLane === 0 || (ofLane < UNDER_WAY_OF_A_LANE_MAX && total < UNDER_WAY_MAX)
  }
  const count = (lane: Lane, change: 1 | -1): void => {
    const ofLane = (underWay.get(lane) ?? 0) + change
    if (ofLane === 0) underWay.delete(lane)
    else underWay.set(lane, ofLane)
    total += change
  }

  return {
    run: async (query, isAwaited = () => true) => {
      const { lane } = query
      if (!hasRoomFor(lane)) return refuse('configuration_error')
      count(lane, 1)
      try {
        return await query.run({ ...reading, lists: reading.lists.inLine({ lane, isAwaited }) })
      } catch (error) {
        if (error instanceof NotAwaited) return refuse('timeout')
        log.error({ err: error, query: query.name }, 'a query failed')
        return refuse('internal_error')
      } finally {
        count(lane, -1)
      }
    },
  }
}
