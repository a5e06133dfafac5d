/**
 * The webhook pools, as a query asks them.
 *
 * Owns: the port. Does not own: the pools' streams (services/delivery_desk), what is asked.
 */
import type { DeskAnswer__Output as DeskAnswer } from '../../../protos/types/causeway/v1/DeskAnswer.js'
import type { DeskQuestion } from '../../../protos/types/causeway/v1/DeskQuestion.js'
import type { Outcome } from '../../base/errors.js'

/** A question and its answer have the same name. */
export type Subject = Exclude<keyof DeskQuestion & keyof DeskAnswer, 'number'>
export type Question<S extends Subject> = NonNullable<DeskQuestion[S]>
export type Answered<S extends Subject> = NonNullable<DeskAnswer[S]>

export interface WebhookPools {
  /** How many pools attend. */
  readonly attending: number
  /** What each pool answers. */
  askAll<S extends Subject>(
    subject: S,
    question: Question<S>,
  ): Promise<Outcome<readonly Answered<S>[]>>
  /** What one of them answers. */
  askOne<S extends Subject>(subject: S, question: Question<S>): Promise<Outcome<Answered<S>>>
}
