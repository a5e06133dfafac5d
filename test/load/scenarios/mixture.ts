/**
 * Several scenarios as one, in fixed proportions.
 *
 * M1. The proportions hold over every stretch of journeys: parts take turns by their weights, and
 *     nothing is drawn.
 */
import type { Scenario } from './scenario.js'

export interface Part {
  readonly weight: number
  readonly scenario: Scenario
}

export function createMixture(lanes: number, parts: readonly Part[]): Scenario {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const turns = createTurns(parts)
  const current: (Scenario | undefined)[] = Array.from({ length: lanes }, () => undefined)
  const scenarioOf = (lane: number): Scenario => {
    const scenario = current[lane]
    if (scenario === undefined) throw new Error(`nothing is under way on lane ${lane}`)
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
    begin: (lane) => {
      const scenario = turns()
      current[lane] = scenario
      return scenario.begin(lane)
    },
    proceed: (lane, answer) => scenarioOf(lane).proceed(lane, answer),
    hear: (entity) => {
      for (const { scenario } of parts) {
        const lane = scenario.hear(entity)
        if (lane !== undefined) return lane
      }
      return undefined
    },
    abandon: (lane) => scenarioOf(lane).abandon(lane),
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
