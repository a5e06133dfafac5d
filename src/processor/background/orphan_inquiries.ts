/**
 * Asks the rail what became of open orphan executions that it had accepted, and of several rails
 * which one has an execution.
 *
 * Owns: when which of them is asked about. Does not own: the effect of the answer
 * (changes/orphans).
 *
 * - The rail reports an end by itself, until the report is acknowledged. Books that are restored
 *   once more have lost what they acknowledged since their copy; an inquiry brings it back.
 * - The books do not know its rail, so every rail is asked. A payment that the execution is matched
 *   to is on that rail from then on.
 * - One without its environment in the statement is not asked about: an inquiry names it.
 */
import { SECOND } from '../../base/clock.js'
import type { EffectId, Environment } from '../../base/ids.js'
import type { Rail } from '../../rails/rail.js'
import type { Memory } from '../cache/memory.js'

export interface OrphanInquiries {
  start(): void
  stop(): void
  inquire(): void
}

export interface OrphanInquiriesDependencies {
  readonly memory: Pick<Memory, 'orphans'>
  readonly rails: readonly Pick<Rail, 'up' | 'send'>[]
}

const INQUIRE_EVERY_MS = 10 * SECOND
/** The next ones follow the next time. */
export const INQUIRIES_AT_ONCE = 500

export function createOrphanInquiries({
  memory,
  rails,
}: OrphanInquiriesDependencies): OrphanInquiries {
  let timer: NodeJS.Timeout | undefined
  let next = 0

  const inquire = (): void => {
    if (memory.orphans.open === 0 || !rails.some((rail) => rail.up())) return
    const { orphans } = memory
    const unlocated = rails.length > 1 ? orphans.unlocated() : []
    const asked = [...new Set([...orphans.accepted(), ...unlocated])].filter(
      ({ environment }) => environment !== null,
    )
    const page = asked.slice(next, next + INQUIRIES_AT_ONCE)
    next = next + INQUIRIES_AT_ONCE < asked.length ? next + INQUIRIES_AT_ONCE : 0
    if (page.length === 0) return
    const queries = page.map(({ instruction, environment }) => ({
      kind: 'query' as const,
      id: instruction as EffectId,
      environment: environment as Environment,
    }))
    for (const rail of rails) if (rail.up()) rail.send(queries)
  }

  return {
    start: () => {
      inquire()
      timer = setInterval(inquire, INQUIRE_EVERY_MS)
    },
    stop: () => clearInterval(timer),
    inquire,
  }
}
