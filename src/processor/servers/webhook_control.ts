/**
 * The control stream, where the webhook pools attend and are asked.
 *
 * Owns: the pools' streams, questions under way, gathering answers. Does not own: what is asked
 * (queries/), the pools' side (actors/webhook/control/control_stream).
 *
 * - Nobody's queue or commit waits for a pool: only the one who asked does, and not for long.
 * - An answer of all is the answer of every pool that attended when it was asked for. One that
 *   stays away or leaves makes it none: a list with a hole would lie.
 * - Questions under way are bounded; beyond that the next one is refused at once.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { WebhookControlHandlers } from '../../../protos/types/causeway/v1/WebhookControl.js'
import type { ControlResponse__Output as ControlResponse } from '../../../protos/types/causeway/v1/ControlResponse.js'
import type { ControlRequest } from '../../../protos/types/causeway/v1/ControlRequest.js'
import { CONTROL_RESPONSE_WITHIN_MS, CONTROL_REQUESTS_MAX } from '../../base/constants.js'
import { accepted, isErrorCode, refused, type ErrorCode, type Outcome } from '../../base/errors.js'
import type { Answered, PoolRequest, Subject, WebhookPools } from '../queries/webhook_pools.js'
import { admitsStream, type AuthInterceptor } from './auth_interceptor.js'

export interface WebhookControlService extends WebhookPools {
  readonly handlers: WebhookControlHandlers
}

/** Told when a pool connects: which one, and the event it received last, null for none. */
export type PoolConnected = (pool: number, newestEvent: string | null) => void

type Stream = ServerDuplexStream<ControlResponse, ControlRequest>

interface Waiting {
  readonly stream: Stream
  settle(outcome: Outcome<ControlResponse>): void
}

export function webhookControlService(
  auth: AuthInterceptor,
  onPool: PoolConnected = () => undefined,
  answerWithinMs = CONTROL_RESPONSE_WITHIN_MS,
): WebhookControlService {
  const pools = new Set<Stream>()
  const waiting = new Map<number, Waiting>()
  let lastNumber = 0

  const attend = (stream: Stream): void => {
    if (!admitsStream(auth, stream)) return
    pools.add(stream)
    stream.on('data', (answer: ControlResponse) => take(stream, answer))
    stream.on('error', () => leave(stream))
    stream.on('cancelled', () => leave(stream))
    stream.on('end', () => {
      leave(stream)
      stream.end()
    })
  }

  const take = (stream: Stream, answer: ControlResponse): void => {
    if (answer.greeting) {
      return onPool(answer.greeting.pool, answer.greeting.newest_event || null)
    }
    const request = waiting.get(answer.number)
    if (request?.stream !== stream) return // too late
    request.settle(answer.fault === '' ? accepted(answer) : refused(faultOf(answer.fault)))
  }

  const leave = (stream: Stream): void => {
    pools.delete(stream)
    for (const request of waiting.values()) {
      if (request.stream === stream) request.settle(refused('configuration_error'))
    }
  }

  const ask = <S extends Subject>(
    stream: Stream,
    subject: S,
    request: PoolRequest<S>,
  ): Promise<Outcome<Answered<S>>> =>
    new Promise((resolve) => {
      const number = (lastNumber = lastNumber === NUMBER_MAX ? 1 : lastNumber + 1)
      const settle = (outcome: Outcome<ControlResponse>): void => {
        clearTimeout(timer)
        waiting.delete(number)
        if (!outcome.ok) return resolve(outcome)
        const answer = outcome.value[subject] as Answered<S> | null | undefined
        resolve(answer ? accepted(answer) : refused('internal_error'))
      }
      const timer = setTimeout(() => settle(refused('timeout')), answerWithinMs)
      waiting.set(number, { stream, settle })
      stream.write({ number, [subject]: request })
    })

  const canRequest = (count: number): Outcome<undefined> => {
    if (count === 0 || waiting.size + count > CONTROL_REQUESTS_MAX) {
      return refused('configuration_error')
    }
    return accepted(undefined)
  }

  return {
    handlers: { Connect: attend },
    get connectedPools() {
      return pools.size
    },
    requestAll: async (subject, request) => {
      const may = canRequest(pools.size)
      if (!may.ok) return may
      const answers = await Promise.all([...pools].map((stream) => ask(stream, subject, request)))
      const values: Answered<typeof subject>[] = []
      for (const answer of answers) {
        if (!answer.ok) return answer
        values.push(answer.value)
      }
      return accepted(values)
    },
    requestOne: async (subject, request) => {
      const [stream] = pools
      const may = canRequest(stream === undefined ? 0 : 1)
      if (!may.ok || stream === undefined) return refused('configuration_error')
      // Pools take turns.
      pools.delete(stream)
      pools.add(stream)
      return ask(stream, subject, request)
    },
  }
}

const NUMBER_MAX = 2 ** 32 - 1

const faultOf = (text: string): ErrorCode => (isErrorCode(text) ? text : 'internal_error')
