/**
 * The control stream, over which the processor sends requests to the connected webhook pools.
 *
 * Owns: the pools' streams, requests in flight, gathering responses. Does not own: the requests
 * (queries/), the pools' side (actors/webhook/control/control_stream).
 *
 * - Only the query waits for a pool, up to a timeout; queues and commits never do.
 * - A request to all pools fails when any pool that was connected at the time fails to respond: a
 *   partial list would be misleading.
 * - The pools that should be connected are those of WEBHOOK_POOLS and those that have connected
 *   since the start of this process.
 * - Requests in flight are bounded, each tenant's and the operators' by what they leave free;
 *   further ones are refused at once.
 * - A claim is complete when every pool has answered it. A pool that left is awaited for a while,
 *   because its process restarts or another one takes over; then it is complete without the pool.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { WebhookControlHandlers } from '../../../protos/types/causeway/internal/v1/WebhookControl.js'
import type { ControlResponse__Output as ControlResponse } from '../../../protos/types/causeway/internal/v1/ControlResponse.js'
import type { ClaimedEvents } from '../../../protos/types/causeway/internal/v1/ClaimedEvents.js'
import type { ClaimEvents__Output as ClaimEvents } from '../../../protos/types/causeway/internal/v1/ClaimEvents.js'
import type { PoolGreeting__Output as PoolGreeting } from '../../../protos/types/causeway/internal/v1/PoolGreeting.js'
import type { ControlRequest } from '../../../protos/types/causeway/internal/v1/ControlRequest.js'
import { SECOND } from '../../base/clock.js'
import { CONTROL_RESPONSE_WITHIN_MS, CONTROL_REQUESTS_MAX } from '../../base/constants.js'
import { createFairShare } from '../../base/fair_share.js'
import { accepted, isErrorCode, refused, type ErrorCode, type Outcome } from '../../base/errors.js'
import type { TenantId } from '../../base/ids.js'
import { WEBHOOK_POOLS_MAX } from '../../base/subjects.js'
import type { QueueKey } from '../cycle/command.js'
import type { PoolRequest, PoolResponse, Subject, WebhookPools } from '../queries/webhook_pools.js'

/** Enough for a restart of a pool, or for another process to take its schema over. */
const AWAIT_POOL_MS = 30 * SECOND

export interface WebhookControlService extends WebhookPools {
  readonly handlers: WebhookControlHandlers
  /** Sends no more requests and ends each stream once its requests are answered. */
  close(): void
}

/** The newest event that a pool has received. */
export interface NewestEvent {
  readonly id: string
  /** Undefined means that a pool of an older version does not report it. */
  readonly tenant: TenantId | undefined
}

/** Called when a pool connects. Null if it has no event. */
export type PoolConnected = (pool: number, newest: NewestEvent | null) => void

type PoolStream = ServerDuplexStream<ControlResponse, ControlRequest>

interface PendingRequest {
  readonly stream: PoolStream
  settle(outcome: Outcome<ControlResponse>): void
}

export function webhookControlService(
  onPool: PoolConnected = () => undefined,
  expectedPools = 0,
  answerWithinMs = CONTROL_RESPONSE_WITHIN_MS,
  awaitPoolMs = AWAIT_POOL_MS,
): WebhookControlService {
  const pools = new Set<PoolStream>()
  /** The numbers of the pools that have reported theirs. */
  const numbers = new Map<PoolStream, number>()
  let highest = expectedPools
  /** Pools that are not connected and may have events that another pool claims. */
  const awaited = new Map<number, NodeJS.Timeout>()
  const inFlight = new Map<number, PendingRequest>()
  const open = createFairShare<QueueKey>(CONTROL_REQUESTS_MAX)
  let lastNumber = 0
  let isClosing = false

  const connect = (stream: PoolStream): void => {
    pools.add(stream)
    stream.on('data', (answer: ControlResponse) => take(stream, answer))
    stream.on('error', () => leave(stream))
    stream.on('cancelled', () => leave(stream))
    stream.on('end', () => {
      leave(stream)
      stream.end()
    })
  }

  const take = (stream: PoolStream, answer: ControlResponse): void => {
    if (answer.greeting) return greet(stream, answer.greeting)
    const request = inFlight.get(answer.number)
    if (request?.stream !== stream) return // timed out
    request.settle(answer.fault === '' ? accepted(answer) : refused(faultOf(answer.fault)))
  }

  const greet = (stream: PoolStream, greeting: PoolGreeting): void => {
    if (pools.has(stream)) {
      numbers.set(stream, greeting.pool)
      clearTimeout(awaited.get(greeting.pool))
      awaited.delete(greeting.pool)
    }
    highest = Math.max(highest, Math.min(greeting.pool, WEBHOOK_POOLS_MAX))
    onPool(greeting.pool, newestIn(greeting))
  }

  /** A pool that has not reported its number yet may be any of them. */
  const missingPools = (): readonly number[] => {
    const known = new Set(numbers.values())
    const expected = Array.from({ length: highest }, (_, index) => index + 1)
    const missing = expected.filter((number) => !known.has(number))
    return pools.size - numbers.size < missing.length ? missing : []
  }

  const awaitPool = (number: number): void => {
    clearTimeout(awaited.get(number))
    awaited.set(number, setTimeout(() => awaited.delete(number), awaitPoolMs).unref())
  }
  for (let number = 1; number <= expectedPools; number++) awaitPool(number)

  const leave = (stream: PoolStream): void => {
    const number = numbers.get(stream)
    pools.delete(stream)
    numbers.delete(stream)
    if (number !== undefined && ![...numbers.values()].includes(number)) awaitPool(number)
    for (const request of inFlight.values()) {
      if (request.stream === stream) request.settle(refused('configuration_error'))
    }
  }

  const send = <S extends Subject>(
    stream: PoolStream,
    subject: S,
    request: PoolRequest<S>,
  ): Promise<Outcome<PoolResponse<S>>> =>
    new Promise((resolve) => {
      const number = (lastNumber = lastNumber === NUMBER_MAX ? 1 : lastNumber + 1)
      const settle = (outcome: Outcome<ControlResponse>): void => {
        clearTimeout(timer)
        inFlight.delete(number)
        if (isClosing) endUnused()
        if (!outcome.ok) return resolve(outcome)
        const answer = outcome.value[subject] as PoolResponse<S> | null | undefined
        resolve(answer ? accepted(answer) : refused('internal_error'))
      }
      const timer = setTimeout(() => settle(refused('timeout')), answerWithinMs)
      inFlight.set(number, { stream, settle })
      stream.write({ number, [subject]: request })
    })

  const claim = async (request: ClaimEvents): Promise<ClaimedEvents> => {
    const others = [...pools].filter((stream) => numbers.get(stream) !== request.pool)
    const answers = await Promise.all(others.map((stream) => send(stream, 'claim', request)))
    const held = answers.flatMap((answer) => (answer.ok ? (answer.value.held_ids ?? []) : []))
    const isAwaited = [...awaited.keys()].some((number) => number !== request.pool)
    return { held_ids: held, complete: !isAwaited && !isClosing && answers.every(hasAnswered) }
  }

  const endUnused = (): void => {
    const used = new Set([...inFlight.values()].map(({ stream }) => stream))
    for (const stream of pools) if (!used.has(stream)) stream.end()
  }

  /** Sends the request to these pools, unless too many are open. */
  const request = async <S extends Subject>(
    streams: readonly PoolStream[],
    subject: S,
    message: PoolRequest<S>,
    of: QueueKey,
  ): Promise<Outcome<readonly PoolResponse<S>[]>> => {
    const count = streams.length
    if (isClosing || count === 0 || !open.mayTake(of, count)) return refused('configuration_error')
    open.take(of, count)
    const answers = await Promise.all(streams.map((stream) => send(stream, subject, message)))
    open.release(of, count)
    const values: PoolResponse<S>[] = []
    for (const answer of answers) {
      if (!answer.ok) return answer
      values.push(answer.value)
    }
    return accepted(values)
  }

  return {
    handlers: {
      Connect: connect,
      Claim: ({ request }, respond) => void claim(request).then((held) => respond(null, held)),
    },
    close: () => {
      isClosing = true
      endUnused()
    },
    get connectedPools() {
      return pools.size
    },
    get missingPools() {
      return missingPools()
    },
    requestAll: (subject, message, of = 'internal') => request([...pools], subject, message, of),
    requestOne: async (subject, message, of = 'internal') => {
      const [stream] = pools
      if (stream !== undefined) {
        // Round robin.
        pools.delete(stream)
        pools.add(stream)
      }
      const answered = await request(stream === undefined ? [] : [stream], subject, message, of)
      return answered.ok ? accepted(answered.value[0]!) : answered
    },
  }
}

const NUMBER_MAX = 2 ** 32 - 1

/** A pool of an older version does not know claims, and has no part in them. */
const hasAnswered = (answer: Outcome<unknown>): boolean =>
  answer.ok || answer.code === 'invalid_request'

function newestIn({ newest_event: id, tenant }: PoolGreeting): NewestEvent | null {
  return id === '' ? null : { id, tenant: tenant === '' ? undefined : (tenant as TenantId) }
}

const faultOf = (text: string): ErrorCode => (isErrorCode(text) ? text : 'internal_error')
