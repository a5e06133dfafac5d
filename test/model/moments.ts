/**
 * Boundary times: one millisecond before, at and after each expiry.
 */
import fc from 'fast-check'
import { DUPLICATE_WINDOW, nextMidnight, QUOTE_TTL, REFUNDABLE_FOR } from './observations.js'
import { boundQuote, mustLeaveBy, type Model, type ModelIntent } from './model.js'

const EDGES = {
  quote: (intent: ModelIntent) => boundQuote(intent)?.expiresAt,
  intent: (intent: ModelIntent) => intent.expiresAt,
  submit: (intent: ModelIntent) => intent.confirmation && mustLeaveBy(intent),
  duplicate: (intent: ModelIntent) =>
    intent.confirmation && intent.confirmation.at + DUPLICATE_WINDOW,
  timer: (intent: ModelIntent) => intent.wakeAt,
  refund: (intent: ModelIntent) =>
    intent.moments.captured === undefined ? null : intent.moments.captured + REFUNDABLE_FOR,
} as const satisfies Record<string, (intent: ModelIntent) => number | null | undefined>

const EDGE_NAMES = Object.keys(EDGES) as (keyof typeof EDGES)[]

export type ModelMoment =
  | { readonly after: number }
  | { readonly edge: keyof typeof EDGES; readonly age: number; readonly off: number }
  | { readonly midnight: 'day' | 'month'; readonly off: number }

const off = fc.constantFrom(0, -1, 1)

export const moments: fc.Arbitrary<ModelMoment> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ after: fc.constantFrom(1, 500, 5_000, 30_000, QUOTE_TTL) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ edge: fc.constantFrom(...EDGE_NAMES), age: fc.nat(2), off }),
  },
  { weight: 1, arbitrary: fc.record({ midnight: fc.constantFrom('day', 'month'), off }) },
)

/** The instant of a boundary in the current state; null when there is none ahead. */
export function instantOf(moment: ModelMoment, model: Model): number | null {
  const at = edgeOf(moment, model)
  return at !== null && at > model.now ? at : null
}

function edgeOf(moment: ModelMoment, model: Model): number | null {
  if ('after' in moment) return model.now + moment.after
  if ('midnight' in moment) return nextMidnight(model.now, moment.midnight === 'month') + moment.off
  const intent = model.intents.at(-1 - (moment.age % Math.max(model.intents.length, 1)))
  const edge = intent === undefined ? null : EDGES[moment.edge](intent)
  return edge === null || edge === undefined ? null : edge + moment.off
}
