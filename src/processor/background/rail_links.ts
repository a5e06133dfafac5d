/**
 * The links to the rails, by name: one each, with its own health, back-off and reports.
 *
 * - A payment on a rail that the file no longer names waits: its rail counts as down.
 */
import type { Clock, Instant } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { ConnectedRail } from '../../rails/client.js'
import type {
  MovementPeriod,
  RailInstruction,
  RailReport,
  SummaryAnswer,
} from '../../rails/rail.js'
import { mergedSummaries } from '../../rails/summaries.js'
import type { RailStates } from '../cycle/command.js'
import { createRailLink, type RailLink } from './rail_link.js'

export interface RailLinks extends RailStates {
  readonly names: readonly string[]
  send(instructions: readonly RailInstruction[], rail: string): void
  onReport(
    handler: (reports: readonly RailReport[], rail: string, finalityWindowMs: number) => void,
  ): void
  /** Why each link is down, for operators. Null if it is up. */
  faults(): ReadonlyMap<string, string | null>
  /** What the statements of all rails have. Never rejects. */
  summarize(period: MovementPeriod): Promise<SummaryAnswer>
  close(): Promise<void>
}

/** @param stoppedSince null if submissions are not stopped */
export function createRailLinks(
  connections: ReadonlyMap<string, ConnectedRail>,
  clock: Clock,
  stoppedSince: () => Instant | null,
  log: Logger,
): RailLinks {
  const links = new Map<string, RailLink>()
  for (const [name, rail] of connections) {
    links.set(name, createRailLink(rail, clock, stoppedSince))
  }
  return {
    names: [...links.keys()],
    up: (rail) => links.get(rail)?.up() ?? false,
    downForMs: (rail) => links.get(rail)?.downForMs() ?? Number.MAX_SAFE_INTEGER,
    send: (instructions, rail) => {
      const link = links.get(rail)
      if (link !== undefined) return link.send(instructions)
      log.error({ rail, dropped: instructions.length }, 'RAILS_FILE does not name the rail')
    },
    onReport: (handler) => {
      for (const [name, link] of links) {
        link.onReport((reports) => handler(reports, name, link.describe().finalityWindowMs))
      }
    },
    faults: () => new Map([...connections].map(([name, rail]) => [name, rail.fault()])),
    summarize: async (period) => {
      const answers = [...connections].map(async ([name, rail]) => {
        const answer = await rail.summarize(period)
        if (answer.kind === 'summary' || connections.size === 1) return answer
        return { ...answer, reason: `${name}: ${answer.reason}` }
      })
      return mergedSummaries(await Promise.all(answers))
    },
    close: async () => void (await Promise.all([...links.values()].map((link) => link.close()))),
  }
}
