/**
 * Asks the rail what became of open orphan executions that it had accepted, and of several rails
 * which one has an execution, also of one that is matched to a payment.
 *
 * Owns: when which of them is asked about. Does not own: the effect of the answer
 * (changes/orphans).
 *
 * - The rail reports an end by itself, until the report is acknowledged. Books that are restored
 *   once more have lost what they acknowledged since their copy; an inquiry brings it back.
 * - Until a rail has reported it, every rail is asked; from then on that one.
 * - One without its environment in the statement is not asked about: an inquiry names it.
 */
import { SECOND } from '../../base/clock.js'
import type { EffectId, Environment } from '../../base/ids.js'
import type { Memory } from '../cache/memory.js'
import type { Orphan } from '../cache/orphan_index.js'
import type { RailLinks } from './rail_links.js'

export interface OrphanInquiries {
  start(): void
  stop(): void
  inquire(): void
}

export interface OrphanInquiriesDependencies {
  readonly memory: Pick<Memory, 'orphans'>
  readonly rails: Pick<RailLinks, 'names' | 'up' | 'send'>
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
    const up = rails.names.filter((name) => rails.up(name))
    if (up.length === 0) return
    const { orphans } = memory
    const unlocated = rails.names.length > 1 ? orphans.unlocated() : []
    const asked = [...new Set([...orphans.accepted(), ...unlocated])].filter(
      ({ environment }) => environment !== null,
    )
    const page = asked.slice(next, next + INQUIRIES_AT_ONCE)
    next = next + INQUIRIES_AT_ONCE < asked.length ? next + INQUIRIES_AT_ONCE : 0
    for (const name of up) {
      const its = page.filter(({ rail }) => rail === null || rail === name)
      if (its.length > 0) rails.send(its.map(queryAbout), name)
    }
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

const queryAbout = ({ instruction, environment }: Orphan) => ({
  kind: 'query' as const,
  id: instruction as EffectId,
  environment: environment as Environment,
})
