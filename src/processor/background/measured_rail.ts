/** A link to a rail whose instructions and reports are counted. */
import { SECOND } from '../../base/clock.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { RailLink } from './rail_link.js'

/** A rail that has not described itself has no name yet. */
const UNNAMED = 'unknown'

export function measuredRail(metrics: Metrics, rail: RailLink): RailLink {
  const name = (): string => rail.describe().name || UNNAMED
  const instructions = metrics.counter('causeway_rail_instructions_total')
  const reported = metrics.counter('causeway_rail_reports_total')
  metrics.readAll('causeway_rail_up', () => [[Number(rail.up()), name()]])
  metrics.readAll('causeway_rail_down_seconds', () => [[rail.downForMs() / SECOND, name()]])
  return {
    ...rail,
    send: (sent) => {
      const to = name()
      for (const { kind } of sent) instructions.inc(to, kind)
      rail.send(sent)
    },
    onReport: (handler) =>
      rail.onReport((reports) => {
        const from = name()
        for (const { status } of reports) reported.inc(from, status)
        handler(reports)
      }),
  }
}
