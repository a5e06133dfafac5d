/** The rails of the last reading of the metrics, as the processors see them. */
import { SECOND } from '../../base/clock.js'
import type { ProcessValues } from './metrics_text.js'

export interface RailState {
  readonly name: string
  /** The longest time that a link of a processor has been down. 0 means that all are up. */
  readonly downMs: number
  /** Messages to it since the processors started. */
  readonly instructions: number
  /** Reports of it since then. */
  readonly reports: number
}

/** By name. */
export function railsOn(
  scraped: readonly ReadonlyMap<string, ProcessValues>[],
): readonly RailState[] {
  const rails = new Map<string, RailState>()
  const change = (name: string, by: (state: RailState) => Partial<RailState>): void => {
    const known = rails.get(name) ?? { name, downMs: 0, instructions: 0, reports: 0 }
    rails.set(name, { ...known, ...by(known) })
  }
  for (const values of scraped.flatMap((found) => [...found.values()])) {
    for (const [name, seconds] of values.get('causeway_rail_down_seconds') ?? []) {
      change(name, ({ downMs }) => ({ downMs: Math.max(downMs, seconds * SECOND) }))
    }
    for (const [name, count] of values.get('causeway_rail_instructions_total') ?? []) {
      change(name, ({ instructions }) => ({ instructions: instructions + count }))
    }
    for (const [name, count] of values.get('causeway_rail_reports_total') ?? []) {
      change(name, ({ reports }) => ({ reports: reports + count }))
    }
  }
  return [...rails.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
