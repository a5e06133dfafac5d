/**
 * Answers the questions that come over the delivery desk.
 *
 * Owns: reading questions, writing answers, their bounds. Does not own: the stream (webhook/desk),
 * queries (webhook/views), redrives (webhook/redrive).
 *
 * C1. A question that makes no sense here, or meets a fault, is answered as a fault: silence would
 *     keep somebody waiting.
 */
import type { DeliveryRecord } from '../../protos/types/causeway/v1/DeliveryRecord.js'
import type { DeskAnswer } from '../../protos/types/causeway/v1/DeskAnswer.js'
import type { DeskEvent__Output as DeskEvent } from '../../protos/types/causeway/v1/DeskEvent.js'
import type { DeskQuestion__Output as DeskQuestion } from '../../protos/types/causeway/v1/DeskQuestion.js'
import type { FindDeliveries__Output as FindDeliveries } from '../../protos/types/causeway/v1/FindDeliveries.js'
import type { FoundDeliveries } from '../../protos/types/causeway/v1/FoundDeliveries.js'
import type { PoolStatus } from '../../protos/types/causeway/v1/PoolStatus.js'
import type { RedriveDeliveries__Output as RedriveDeliveries } from '../../protos/types/causeway/v1/RedriveDeliveries.js'
import type { Redriven } from '../../protos/types/causeway/v1/Redriven.js'
import type { ResendDeliveries__Output as ResendDeliveries } from '../../protos/types/causeway/v1/ResendDeliveries.js'
import type { Resent } from '../../protos/types/causeway/v1/Resent.js'
import { DESK_PAGE_BYTES, LIST_LIMIT_MAX, REDRIVE_MAX } from '../../src/base/bounds.js'
import { instant, type Clock } from '../../src/base/clock.js'
import type { EndpointId, EventId, TenantId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { WebhookPool } from './pool.js'
import type { Redriver } from './redrive.js'
import type { EventRow } from './rows.js'
import type { AttemptView, DeliveryView, Views } from './views.js'

export interface ClerkOptions {
  readonly views: Views
  readonly redriver: Redriver
  readonly pool: Pick<WebhookPool, 'state' | 'failing'>
  readonly clock: Clock
  readonly log: Logger
}

/** Never rejects. */
export type Clerk = (question: DeskQuestion) => Promise<DeskAnswer>

export function createClerk(options: ClerkOptions): Clerk {
  const { views, redriver, pool, clock, log } = options

  const answer = async (question: DeskQuestion): Promise<DeskAnswer> => {
    switch (question.question) {
      case 'deliveries':
        return { deliveries: await find(question.deliveries!) }
      case 'redrive':
        return { redrive: await redrive(question.redrive!) }
      case 'resend':
        return { resend: await resend(question.resend!) }
      case 'status':
        return { status: await status() }
      case 'poison':
        return { poison: { messages: (await views.poison(pageOf(question.poison!))).map(wired) } }
      default:
        return { fault: 'invalid_request' } // of a newer processor
    }
  }

  const find = async (asked: FindDeliveries): Promise<FoundDeliveries> => {
    const { endpoint_id, dead_only, below_event: eventId, below_endpoint: endpointId } = asked
    const limit = pageOf(asked)
    const rows =
      endpoint_id === ''
        ? await views.dead({ eventId, endpointId }, limit + 1)
        : await views.ofEndpoint(endpoint_id, eventId, dead_only, limit + 1)
    const deliveries: DeliveryRecord[] = []
    let bytes = 0
    for (const row of rows.slice(0, limit)) {
      if (bytes > DESK_PAGE_BYTES) break
      const attempts = await views.attempts(row.id)
      for (const { reply } of attempts) bytes += Buffer.byteLength(reply)
      deliveries.push(recordOf(row, attempts))
    }
    return { deliveries, more: deliveries.length < rows.length }
  }

  const redrive = async (asked: RedriveDeliveries): Promise<Redriven> => {
    if (asked.delivery_id !== '') {
      const done = await redriver.one(asked.delivery_id)
      return { redriven: done?.redriven ?? 0, known: done !== undefined }
    }
    const limit = Math.min(asked.limit, REDRIVE_MAX)
    const since = instant(Number(asked.since))
    return redriver.failed(idOrNone(asked.endpoint_id), since, limit)
  }

  const resend = async ({ event, endpoint_id, take }: ResendDeliveries): Promise<Resent> => {
    const found = await redriver.resend({
      event: eventOf(event!),
      settled: event!.settled,
      endpointId: idOrNone(endpoint_id),
      take,
    })
    return {
      known: found !== undefined,
      deliveries: (found ?? []).map((row) => recordOf(row, [])),
    }
  }

  const eventOf = (event: DeskEvent): EventRow => ({
    id: event.id as EventId,
    tenant: event.tenant as TenantId,
    type: event.type,
    sequence: Number(event.sequence),
    createdAt: instant(Number(event.created_at)),
    receivedAt: clock.now(),
    body: event.body,
  })

  const status = async (): Promise<PoolStatus> => {
    const health = new Map((await views.counts()).map((counts) => [counts.endpointId, counts]))
    const failing = new Map(pool.failing().map((each) => [each.endpointId, each]))
    const ids = new Set([...health.keys(), ...failing.keys()])
    return {
      in_flight: pool.state().inFlight,
      poison: await views.poisonCount(),
      oldest_open_at: (await views.oldestOpen()) ?? 0,
      endpoints: [...ids].map((id) => ({
        endpoint_id: id,
        open: health.get(id)?.open ?? 0,
        dead: health.get(id)?.dead ?? 0,
        breaker_open: failing.get(id)?.breakerOpen ?? false,
        failing_since: failing.get(id)?.since ?? 0,
      })),
    }
  }

  return async (question) => {
    const { number } = question
    try {
      return { ...(await answer(question)), number }
    } catch (error) {
      log.error({ err: error, question: question.question }, 'a question met a bug')
      return { fault: 'internal_error', number }
    }
  }
}

const pageOf = ({ limit }: { readonly limit: number }): number => Math.min(limit, LIST_LIMIT_MAX)

const idOrNone = (id: string): EndpointId | undefined =>
  id === '' ? undefined : (id as EndpointId)

const recordOf = (row: DeliveryView, attempts: readonly AttemptView[]): DeliveryRecord => ({
  id: row.id,
  tenant: row.tenant,
  event_id: row.eventId,
  event_type: row.eventType,
  endpoint_id: row.endpointId,
  state: row.state,
  due_at: row.context.dueAt ?? 0,
  ended_at: row.context.endedAt ?? 0,
  reason: row.context.reason,
  attempts: attempts.map(({ number, at, status, reason, latencyMs: latency_ms, reply }) => ({
    ...(status === null ? {} : { status }),
    ...{ number, at, reason, latency_ms, reply },
  })),
})

const wired = (row: Awaited<ReturnType<Views['poison']>>[number]) => ({
  digest: row.digest,
  subject: row.subject,
  reason: row.reason,
  first_seen: row.firstSeen,
  last_seen: row.lastSeen,
  times: row.times,
  payload_base64: row.payloadBase64,
})
