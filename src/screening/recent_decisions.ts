/**
 * The latest decisions of a screening service: a question that is asked again has the same one.
 *
 * - Only decisions are kept. A question without an answer is asked again.
 * - In memory and bounded: later, after a restart or at another processor the service is asked
 *   again, with the same id, and keeps its decision itself (protos/screening.proto).
 */
import { isDecision, type Decision, type Screening } from './screening.js'

/** Some 2 MB. */
const DECISIONS_KEPT = 10_000

export function withRecentDecisions(service: Screening, kept = DECISIONS_KEPT): Screening {
  /** By question id, least recently used first. */
  const decisions = new Map<string, Decision>()

  const keep = (id: string, decision: Decision): void => {
    decisions.delete(id)
    decisions.set(id, decision)
    if (decisions.size > kept) decisions.delete(decisions.keys().next().value!)
  }

  return {
    ask: async (request) => {
      const { id = '' } = request
      const outcome = decisions.get(id) ?? (await service.ask(request))
      if (isDecision(outcome)) keep(id, outcome)
      return outcome
    },
  }
}
