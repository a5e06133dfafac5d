/** The links to the rails, whose instructions and reports are counted. */
import { SECOND } from '../../base/clock.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { RailLinks } from './rail_links.js'

export function measuredRails(metrics: Metrics, rails: RailLinks): RailLinks {
  const instructions = metrics.counter('causeway_rail_instructions_total')
  const reported = metrics.counter('causeway_rail_reports_total')
  metrics.readAll('causeway_rail_up', () =>
    rails.names.map((name) => [Number(rails.up(name)), name]),
  )
  metrics.readAll('causeway_rail_down_seconds', () =>
    rails.names.map((name) => [rails.downForMs(name) / SECOND, name]),
  )
  return {
    ...rails,
    send: (sent, rail) => {
      for (const { kind } of sent) instructions.inc(rail, kind)
      rails.send(sent, rail)
    },
    onReport: (handler) =>
      rails.onReport((reports, rail, finalityWindowMs) => {
        for (const { status } of reports) reported.inc(rail, status)
        handler(reports, rail, finalityWindowMs)
      }),
  }
}
