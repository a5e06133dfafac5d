/**
 * Several scenarios as one, in fixed proportions.
 *
 * - The proportions hold over every stretch of journeys: parts take turns by their weights, and
 *   nothing is drawn.
 */
import type { Scenario } from './scenario.js'

export interface Part {
  readonly weight: number
  readonly scenario: Scenario
}

export function createWorkloadMix(connections: number, parts: readonly Part[]): Scenario {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const turns = createTurns(parts)
  const current: (Scenario | undefined)[] = Array.from({ length: connections }, () => undefined)
  const scenarioOf = (connection: number): Scenario => {
    const scenario = current[connection]
    if (scenario === undefined) throw new Error(`nothing is under way on connection ${connection}`)
    return scenario
  }

  return {
    prepare: (journeys) => {
      for (const { weight, scenario } of parts) {
        scenario.prepare(Math.ceil((journeys * weight) / total) + 1)
      }
    },
    last: () => {
      for (const { scenario } of parts) scenario.last()
    },
    begin: (connection) => {
      const scenario = turns()
      current[connection] = scenario
      return scenario.begin(connection)
    },
    proceed: (connection, answer) => scenarioOf(connection).proceed(connection, answer),
    hear: (entity) => {
      for (const { scenario } of parts) {
        const connection = scenario.hear(entity)
        if (connection !== undefined) return connection
      }
      return undefined
    },
    abandon: (connection) => scenarioOf(connection).abandon(connection),
    acknowledged: () => {
      const all = parts.map(({ scenario }) => scenario.acknowledged())
      return {
        intents: all.reduce((sum, { intents }) => sum + intents, 0),
        payouts: all.reduce((sum, { payouts }) => sum + payouts, 0),
        samples: all.flatMap(({ samples }) => samples),
      }
    },
  }
}

/** Whoever is furthest behind its share is next. */
function createTurns(parts: readonly Part[]): () => Scenario {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const credits = parts.map(() => 0)
  return () => {
    let best = 0
    for (const [index, { weight }] of parts.entries()) {
      credits[index] = (credits[index] ?? 0) + weight
      if ((credits[index] ?? 0) > (credits[best] ?? 0)) best = index
    }
    credits[best] = (credits[best] ?? 0) - total
    const chosen = parts[best]
    if (chosen === undefined) throw new Error('a mixture has parts')
    return chosen.scenario
  }
}
