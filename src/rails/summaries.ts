/**
 * The summaries of several rails as one: a statement of all of them is compared with it.
 *
 * - When one rail cannot tell, nothing is known of all.
 */
import { mergedFigures } from '../base/movements.js'
import type { MovementSummary, NewestMovement, SummaryAnswer } from './rail.js'

export function mergedSummaries(answers: readonly SummaryAnswer[]): SummaryAnswer {
  const unknown = answers.find((answer) => answer.kind === 'unknown')
  if (unknown !== undefined) return unknown
  const summaries = answers.flatMap((answer) => (answer.kind === 'summary' ? [answer.summary] : []))
  const accepted = summaries.map(({ accepted: figures }) => figures)
  return {
    kind: 'summary',
    summary: {
      ...mergedFigures(summaries),
      accepted: accepted.every((figures) => figures !== null) ? mergedFigures(accepted) : null,
      newest: newestOf(summaries),
    },
  }
}

const newestOf = (summaries: readonly MovementSummary[]): NewestMovement | null =>
  summaries.reduce<NewestMovement | null>(
    (last, { newest }) => (newest !== null && newest.at >= (last?.at ?? 0) ? newest : last),
    null,
  )
