/**
 * The delivery desk, where the webhook pools attend and are asked.
 *
 * Owns: the pools' streams, questions under way, gathering answers. Does not own: what is asked
 * (queries/), the pools' side (actors/webhook/desk).
 *
 * K1. Nobody's queue or commit waits for a pool: only the one who asked does, and not for long.
 * K2. An answer of all is the answer of every pool that attended when it was asked for. One that
 *     stays away or leaves makes it none: a list with a hole would lie.
 * K3. Questions under way are bounded; beyond that the next one is refused at once.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { DeliveryDeskHandlers } from '../../../protos/types/causeway/v1/DeliveryDesk.js'
import type { DeskAnswer__Output as DeskAnswer } from '../../../protos/types/causeway/v1/DeskAnswer.js'
import type { DeskQuestion } from '../../../protos/types/causeway/v1/DeskQuestion.js'
import { DESK_ANSWER_WITHIN_MS, DESK_QUESTIONS_MAX } from '../../base/bounds.js'
import { accepted, isErrorCode, refused, type ErrorCode, type Outcome } from '../../base/errors.js'
import type { Answered, Question, Subject, WebhookPools } from '../queries/webhook_pools.js'
import { admitsStream, type Guard } from './guard.js'

export interface DeliveryDeskService extends WebhookPools {
  readonly handlers: DeliveryDeskHandlers
}

/** Told when a pool connects: which one, and the event it received last, null for none. */
export type PoolConnected = (pool: number, newestEvent: string | null) => void

type Stream = ServerDuplexStream<DeskAnswer, DeskQuestion>

interface Waiting {
  readonly stream: Stream
  settle(outcome: Outcome<DeskAnswer>): void
}

export function deliveryDeskService(
  guard: Guard,
  onPool: PoolConnected = () => undefined,
  answerWithinMs = DESK_ANSWER_WITHIN_MS,
): DeliveryDeskService {
  const pools = new Set<Stream>()
  const waiting = new Map<number, Waiting>()
  let lastNumber = 0

  const attend = (stream: Stream): void => {
    if (!admitsStream(guard, stream)) return
    pools.add(stream)
    stream.on('data', (answer: DeskAnswer) => take(stream, answer))
    stream.on('error', () => leave(stream))
    stream.on('cancelled', () => leave(stream))
    stream.on('end', () => {
      leave(stream)
      stream.end()
    })
  }

  const take = (stream: Stream, answer: DeskAnswer): void => {
    if (answer.greeting) {
      return onPool(answer.greeting.pool, answer.greeting.newest_event || null)
    }
    const asked = waiting.get(answer.number)
    if (asked?.stream !== stream) return // too late
    asked.settle(answer.fault === '' ? accepted(answer) : refused(faultOf(answer.fault)))
  }

  const leave = (stream: Stream): void => {
    pools.delete(stream)
    for (const asked of waiting.values()) {
      if (asked.stream === stream) asked.settle(refused('configuration_error'))
    }
  }

  const ask = <S extends Subject>(
    stream: Stream,
    subject: S,
    question: Question<S>,
  ): Promise<Outcome<Answered<S>>> =>
    new Promise((resolve) => {
      const number = (lastNumber = lastNumber === NUMBER_MAX ? 1 : lastNumber + 1)
      const settle = (outcome: Outcome<DeskAnswer>): void => {
        clearTimeout(timer)
        waiting.delete(number)
        if (!outcome.ok) return resolve(outcome)
        const answer = outcome.value[subject] as Answered<S> | null | undefined
        resolve(answer ? accepted(answer) : refused('internal_error'))
      }
      const timer = setTimeout(() => settle(refused('timeout')), answerWithinMs)
      waiting.set(number, { stream, settle })
      stream.write({ number, [subject]: question })
    })

  const mayAsk = (count: number): Outcome<undefined> => {
    if (count === 0 || waiting.size + count > DESK_QUESTIONS_MAX) {
      return refused('configuration_error')
    }
    return accepted(undefined)
  }

  return {
    handlers: { Attend: attend },
    get attending() {
      return pools.size
    },
    askAll: async (subject, question) => {
      const may = mayAsk(pools.size)
      if (!may.ok) return may
      const answers = await Promise.all([...pools].map((stream) => ask(stream, subject, question)))
      const values: Answered<typeof subject>[] = []
      for (const answer of answers) {
        if (!answer.ok) return answer
        values.push(answer.value)
      }
      return accepted(values)
    },
    askOne: async (subject, question) => {
      const [stream] = pools
      const may = mayAsk(stream === undefined ? 0 : 1)
      if (!may.ok || stream === undefined) return refused('configuration_error')
      // Pools take turns.
      pools.delete(stream)
      pools.add(stream)
      return ask(stream, subject, question)
    },
  }
}

const NUMBER_MAX = 2 ** 32 - 1

const faultOf = (text: string): ErrorCode => (isErrorCode(text) ? text : 'internal_error')
