/** Boundary times: one millisecond before, at and after each expiry. */
import fc from 'fast-check'
import { DUPLICATE_WINDOW, nextMidnight, QUOTE_TTL, REFUNDABLE_FOR } from './contract_rules.js'
import { boundQuote, submitDeadlineOf, type Model, type ModelIntent } from './model.js'

const EDGES = {
  quote: (intent: ModelIntent) => boundQuote(intent)?.expiresAt,
  intent: (intent: ModelIntent) => intent.expiresAt,
  submit: (intent: ModelIntent) => intent.confirmation && submitDeadlineOf(intent),
  duplicate: (intent: ModelIntent) =>
    intent.confirmation && intent.confirmation.at + DUPLICATE_WINDOW,
  timer: (intent: ModelIntent) => intent.wakeAt,
  refund: (intent: ModelIntent) =>
    intent.enteredAt.captured === undefined ? null : intent.enteredAt.captured + REFUNDABLE_FOR,
} as const satisfies Record<string, (intent: ModelIntent) => number | null | undefined>

const EDGE_NAMES = Object.keys(EDGES) as (keyof typeof EDGES)[]

export type BoundaryTime =
  | { readonly after: number }
  | { readonly edge: keyof typeof EDGES; readonly age: number; readonly off: number }
  | { readonly midnight: 'day' | 'month'; readonly off: number }

const off = fc.constantFrom(0, -1, 1)

export const boundaryTimes: fc.Arbitrary<BoundaryTime> = fc.oneof(
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
export function instantOf(boundary: BoundaryTime, model: Model): number | null {
  const at = edgeOf(boundary, model)
  return at !== null && at > model.now ? at : null
}

function edgeOf(boundary: BoundaryTime, model: Model): number | null {
  if ('after' in boundary) return model.now + boundary.after
  if ('midnight' in boundary)
    return nextMidnight(model.now, boundary.midnight === 'month') + boundary.off
  const intent = model.intents.at(-1 - (boundary.age % Math.max(model.intents.length, 1)))
  const edge = intent === undefined ? null : EDGES[boundary.edge](intent)
  return edge === null || edge === undefined ? null : edge + boundary.off
}
