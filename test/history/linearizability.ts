/**
 * Whether a history can be explained: there is an order of its operations, each taking effect at
 * one instant between its call and its answer, in which a sequential object gives these answers.
 *
 * The search of Wing and Gong with the memory of Lowe, as in Porcupine: depth first over the next
 * operation, and no set of operations is tried twice with the same state of the object.
 *
 * - A history is of one object. Objects that do not depend on each other are checked apart.
 * - An operation without an answer may be left out.
 * - Operations whose times touch (one returns in the instant of the other's call) are concurrent.
 */
import type { Operation } from './history.js'

/** A sequential object. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /**
   * The states after an input that gave this output. None means that it cannot give it.
   *
   * @param output undefined if it is not known: the states after every possible output
   */
  step(state: State, input: Input, output: Output | undefined): readonly State[]
  /** Equal for equal states only. */
  keyOf(state: State): string
}

export type Verdict<Input, Output> =
  | { readonly kind: 'linearizable' }
  | {
      readonly kind: 'impossible'
      /** The longest order that explains a part, and the operations that could not follow it. */
      readonly explained: readonly Operation<Input, Output>[]
      readonly unexplained: readonly Operation<Input, Output>[]
    }
  | { readonly kind: 'undecided'; readonly steps: number }

/** More would take minutes; a history of this size has too few answers. */
const STEPS_MAX = 2_000_000

/** An operation in the order of the search, and the states that are left to try before it. */
interface Choice<State> {
  readonly before: State
  /** Steps that can come next and were not tried. */
  readonly untried: { readonly index: number; readonly after: State }[]
  /** The operation that was tried last. */
  taken: number
}

export function checkHistory<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Operation<Input, Output>[],
  stepsMax = STEPS_MAX,
): Verdict<Input, Output> {
  const operations = [...history].sort((a, b) => a.calledAt - b.calledAt)
  const isDone = operations.map(() => false)
  const seen = new Set<string>()
  let steps = 0
  let longest: number[] = []

  const choiceAt = (before: State): Choice<State> => ({
    before,
    untried: nextOf(operations, isDone)
      .reverse()
      .flatMap((index) => {
        const { input, output } = operations[index]!
        return model.step(before, input, output).map((after) => ({ index, after }))
      }),
    taken: -1,
  })
  const order: Choice<State>[] = [choiceAt(model.initial)]

  for (;;) {
    if (operations.every(({ output }, index) => output === undefined || isDone[index])) {
      return { kind: 'linearizable' }
    }
    const choice = order.at(-1)
    if (choice === undefined) break
    if (choice.taken >= 0) isDone[choice.taken] = false
    choice.taken = -1
    const next = choice.untried.pop()
    if (next === undefined) {
      order.pop()
      continue
    }
    steps += 1
    if (steps > stepsMax) return { kind: 'undecided', steps }
    isDone[next.index] = true
    choice.taken = next.index
    const key = `${positionOf(isDone)} ${model.keyOf(next.after)}`
    if (seen.has(key)) continue
    seen.add(key)
    order.push(choiceAt(next.after))
    if (order.length - 1 > longest.length) longest = order.slice(0, -1).map(({ taken }) => taken)
  }
  return {
    kind: 'impossible',
    explained: longest.map((index) => operations[index]!),
    unexplained: operations.filter((_, index) => !longest.includes(index)),
  }
}

/** Operations that no other one must precede: called before the first answer that is left. */
function nextOf<Input, Output>(
  operations: readonly Operation<Input, Output>[],
  isDone: readonly boolean[],
): number[] {
  const next: number[] = []
  let firstAnswer = Number.POSITIVE_INFINITY
  for (const [index, { calledAt, returnedAt }] of operations.entries()) {
    if (calledAt > firstAnswer) break
    if (isDone[index] === true) continue
    next.push(index)
    firstAnswer = Math.min(firstAnswer, returnedAt)
  }
  return next.filter((index) => operations[index]!.calledAt <= firstAnswer)
}

/** The operations done, as the length of the finished beginning and those beyond it. */
function positionOf(isDone: readonly boolean[]): string {
  const start = isDone.indexOf(false)
  if (start === -1) return String(isDone.length)
  const beyond: number[] = []
  for (let index = start + 1; index < isDone.length; index++) {
    if (isDone[index] === true) beyond.push(index)
  }
  return `${start}:${beyond.join(',')}`
}
