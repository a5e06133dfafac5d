/**
 * Generated values, and the operation that each stands for in the current state.
 *
 * A value names its intent by age and its amount by meaning (the remaining daily limit), so it
 * hits boundaries in any state and stays valid while fast-check shrinks the sequence.
 */
import fc from 'fast-check'
import type { Model, ModelIntent } from './model.js'
import type { ModelOperation } from './operations.js'
import type { OnIntent } from './partner_rules.js'

export interface Generated {
  /** Null means that it is not applicable in this state. */
  resolve(model: Model): ModelOperation | null
  toString(): string
}

export function generate<Values extends object>(
  kind: string,
  values: fc.Arbitrary<Values>,
  resolve: (values: Values, model: Model) => ModelOperation | null,
): fc.Arbitrary<Generated> {
  return values.map((generated) => ({
    resolve: (model) => resolve(generated, model),
    toString: () => `${kind} ${fc.stringify(generated)}`,
  }))
}

/** The index among the youngest intents; 0 is the last one. */
export const pick = fc.nat(2)
export const picked = (
  { intents }: { readonly intents: readonly ModelIntent[] },
  age: number,
): ModelIntent | undefined => intents.at(-1 - (age % Math.max(intents.length, 1)))

/** Not at an end of the range, which fast-check prefers. */
export const seldom = (times: number): fc.Arbitrary<boolean> =>
  fc.nat(times).map((generated) => generated === Math.ceil(times / 2))
export const callers: fc.Arbitrary<OnIntent['by']> = seldom(30).map((is) =>
  is ? 'other tenant' : 'owner',
)
export const keys = fc.option(fc.constantFrom('a', 'b'), { nil: null })

/** An operation on an existing intent, mostly one where it is likely to have an effect. */
export function onIntent<Values extends object>(
  kind: string,
  values: fc.Arbitrary<Values>,
  resolve: (values: Values, intent: ModelIntent, model: Model) => ModelOperation | null,
  isLikely: (intent: ModelIntent) => boolean = () => true,
): fc.Arbitrary<Generated> {
  const all = fc.record({ age: pick, blind: seldom(4), values })
  return generate(kind, all, ({ age, blind, values }, model) => {
    const likely = blind ? [] : model.intents.filter(isLikely)
    const intent = picked(likely.length > 0 ? { intents: likely } : model, age)
    return intent === undefined ? null : resolve(values, intent, model)
  })
}

/** One of an intent's tokens. */
export const tokenOf = ({ jtis }: ModelIntent, token: number): string =>
  jtis[token % jtis.length] ?? ''
