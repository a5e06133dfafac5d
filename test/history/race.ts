/**
 * A race: clients that call one object of the API at once, and the check of their history.
 *
 * - A call with a key is repeated until an answer, and is one operation.
 * - Another call without an answer, or with a 5xx, may have taken effect.
 * - An answer that no race explains is noted, and is a fault.
 */
import type { HttpAnswer, Partner } from '../support/partner.js'
import { retryUntilFinal } from '../support/payments.js'
import type { Operation } from './history.js'
import { checkHistory, type Model } from './linearizability.js'

export interface Race {
  /** Resolves when this client has made its calls. @param client from 0 */
  run(client: number): Promise<void>
  /** Histories that no order of their operations explains, one per line. */
  faults(): readonly string[]
  /** Whether the calls have met: what each outcome says was seen. */
  hasEveryOutcome(): boolean
}

export interface Racers {
  /** One a client, with connections of its own, which the kernel spreads over the gateways. */
  readonly partners: readonly [Partner, ...Partner[]]
  readonly rounds: number
  /** Begins the names of its objects. Default: there is only one race of its kind. */
  readonly name?: string
  /** Answers that no race explains. */
  readonly surprises: string[]
}

export const codeOf = ({ body }: HttpAnswer): unknown =>
  (body as { error?: { code?: unknown } }).error?.code

export type OutputOf<Output> = (answer: HttpAnswer) => Output | 'unexpected'

/** The outcome of one attempt; undefined if it may have taken effect. */
export async function once<Output>(
  { surprises }: Racers,
  call: () => Promise<HttpAnswer>,
  outputOf: OutputOf<Output>,
): Promise<Output | undefined> {
  const answer = await call()
  return answer.status >= 500 ? undefined : noting(surprises, answer, outputOf)
}

/** The outcome of a call that has a key. */
export async function untilAnswered<Output>(
  { surprises }: Racers,
  call: () => Promise<HttpAnswer>,
  outputOf: OutputOf<Output>,
): Promise<Output | undefined> {
  return noting(surprises, await retryUntilFinal(call), outputOf)
}

function noting<Output>(
  surprises: string[],
  answer: HttpAnswer,
  outputOf: OutputOf<Output>,
): Output | undefined {
  const output = outputOf(answer)
  if (output !== 'unexpected') return output
  surprises.push(`${answer.status} ${answer.text}`)
  return undefined
}

/** @returns why no order of the operations explains a history. Empty means that one does */
export function faultsOf<State, Input, Output>(
  name: string,
  model: Model<State, Input, Output>,
  history: readonly Operation<Input, Output>[],
): readonly string[] {
  const verdict = checkHistory(model, history)
  if (verdict.kind === 'linearizable') return []
  if (verdict.kind === 'undecided') return [`${name}: no verdict after ${verdict.steps} steps`]
  const { explained, unexplained } = verdict
  return [`${name} is not linearizable: ${print(unexplained)} after ${print(explained)}`]
}

const print = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item))
