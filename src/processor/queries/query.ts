/**
 * A query: a page of a list, read beside the cycle.
 *
 * Owns: how queries run. Does not own: the SQL (store/lists), what a caller may see (queries/).
 *
 * Q1. A query sees what is committed, and nothing of what is under way. What was acknowledged
 *     before it began is in it.
 * Q2. Queries wait for one another, never commits for queries. Beyond a bound the next one is
 *     refused at once.
 */
import type { Logger } from '../../base/log.js'
import type { Lists } from '../../store/lists.js'
import { refuse, type Answer } from '../cycle/group.js'
import type { Vault } from '../keys/vault.js'

/** All that a query may look at. */
export interface Reading {
  readonly lists: Lists
  readonly vault: Vault
  readonly brand: string
}

export interface Query {
  /** For logs. */
  readonly name: string
  run(reading: Reading): Promise<Answer>
}

export interface Reader {
  /** Never rejects. */
  run(query: Query): Promise<Answer>
}

/** At some two milliseconds a page, the last one waits two seconds: less than its caller does. */
const UNDER_WAY_MAX = 1_000

export function createReader(reading: Reading, log: Logger): Reader {
  let underWay = 0
  return {
    run: async (query) => {
      if (underWay >= UNDER_WAY_MAX) return refuse('configuration_error')
      underWay += 1
      try {
        return await query.run(reading)
      } catch (error) {
        log.error({ err: error, query: query.name }, 'a query failed')
        return refuse('internal_error')
      } finally {
        underWay -= 1
      }
    },
  }
}
