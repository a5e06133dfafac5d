/**
 * One intent or payout on a terminal: what is known of it, then all that happened to it.
 */
import type { TimelineEntry__Output as Moment } from '../../protos/types/causeway/v1/TimelineEntry.js'
import { table } from './terminal.js'

/** A name and what is known under it; empty: nothing, and it is left out. */
export type Fact = readonly [name: string, known: string]

export const recordLines = (
  head: string,
  facts: readonly Fact[],
  timeline: readonly Moment[],
): string[] => [
  head,
  table(
    facts.filter(([, known]) => known !== '').map(([name, known]) => [`  ${name}`, known]),
    [],
  ),
  table(
    timeline.map(({ at, kind, text }) => [at, kind, text]),
    [],
  ),
]
