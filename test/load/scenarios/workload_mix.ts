/**
 * Several scenarios as one, in fixed proportions.
 *
 * - The proportions hold over every run of journeys: parts alternate by weight, nothing is random.
 */
import { acceptedBy, type Scenario } from './scenario.js'

export interface Part {
  readonly weight: number
  readonly scenario: Scenario
}

export function createWorkloadMix(parts: readonly Part[]): Scenario {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const credits = parts.map(() => 0)
  const current = new Map<number, Scenario>()

  /** The part that is furthest behind its share is next. */
  const choose = (): Scenario => {
    for (const [index, { weight }] of parts.entries()) credits[index]! += weight
    const best = credits.indexOf(Math.max(...credits))
    credits[best]! -= total
    return parts[best]!.scenario
  }
  return {
    prepare: (journeys, continues) => {
      for (const { weight, scenario } of parts) {
        scenario.prepare(Math.ceil((journeys * weight) / total) + 1, continues)
      }
    },
    begin: (connection) => {
      const scenario = choose()
      current.set(connection, scenario)
      return scenario.begin(connection)
    },
    proceed: (connection, response) => {
      const scenario = current.get(connection)
      if (scenario === undefined) throw new Error(`connection ${connection} has no journey`)
      return scenario.proceed(connection, response)
    },
    accepted: () => acceptedBy(parts.map(({ scenario }) => scenario.accepted())),
  }
}
