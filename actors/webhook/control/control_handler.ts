/**
 * Handles the processor's requests that arrive over the control stream.
 *
 * Owns: decoding, bounds and responses. Does not own: the stream (control/control_stream), queries
 * (store/admin_queries), redrives (redrive), claims (intake/event_claims).
 *
 * - An unknown or failing request is answered with a fault, because its caller waits.
 */
import type { DeliveryRecord } from '../../../protos/types/causeway/internal/v1/DeliveryRecord.js'
import type { ClaimEvents__Output as ClaimEvents } from '../../../protos/types/causeway/internal/v1/ClaimEvents.js'
import type { ControlResponse } from '../../../protos/types/causeway/internal/v1/ControlResponse.js'
import type { ControlEvent__Output as ControlEvent } from '../../../protos/types/causeway/internal/v1/ControlEvent.js'
import type { ControlRequest__Output as ControlRequest } from '../../../protos/types/causeway/internal/v1/ControlRequest.js'
import type { FindDeliveries__Output as FindDeliveries } from '../../../protos/types/causeway/internal/v1/FindDeliveries.js'
import type { FoundDeliveries } from '../../../protos/types/causeway/internal/v1/FoundDeliveries.js'
import type { PoolStatus } from '../../../protos/types/causeway/internal/v1/PoolStatus.js'
import type { RedriveDeliveries__Output as RedriveDeliveries } from '../../../protos/types/causeway/internal/v1/RedriveDeliveries.js'
import type { Redriven } from '../../../protos/types/causeway/internal/v1/Redriven.js'
import type { ResendDeliveries__Output as ResendDeliveries } from '../../../protos/types/causeway/internal/v1/ResendDeliveries.js'
import type { Resent } from '../../../protos/types/causeway/internal/v1/Resent.js'
import { CONTROL_PAGE_BYTES, LIST_LIMIT_MAX, REDRIVE_MAX } from '../../../src/base/constants.js'
import { instant, type Clock } from '../../../src/base/clock.js'
import type { EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import type { Logger } from '../../../src/base/log.js'
import { readTraceparent } from '../../../src/base/traceparent.js'
import type { EventClaims } from '../intake/event_claims.js'
import type { PoolPort } from './pool_port.js'
import type { Redriver } from './redrive.js'
import type { EventRow } from '../store/schema.js'
import type { AttemptView, DeliveryView, AdminQueries } from '../store/admin_queries.js'
import type { WebhookStore } from '../store/store.js'

export interface ControlHandlerOptions {
  readonly adminQueries: AdminQueries
  readonly redriver: Redriver
  readonly pool: Pick<PoolPort, 'state' | 'failing'>
  readonly store: Pick<WebhookStore, 'corruptRows'>
  readonly claims: Pick<EventClaims, 'answer'>
  readonly clock: Clock
  readonly log: Logger
}

/** Never rejects. */
export type ControlHandler = (request: ControlRequest) => Promise<ControlResponse>

export function createControlHandler(options: ControlHandlerOptions): ControlHandler {
  const { adminQueries, redriver, pool, store, claims, clock, log } = options

  const answer = async (request: ControlRequest): Promise<ControlResponse> => {
    switch (request.request) {
      case 'deliveries':
        return { deliveries: await find(request.deliveries!) }
      case 'redrive':
        return { redrive: await redrive(request.redrive!) }
      case 'resend':
        return { resend: await resend(request.resend!) }
      case 'status':
        return { status: await status() }
      case 'poison':
        return {
          poison: { messages: (await adminQueries.poison(pageOf(request.poison!))).map(wired) },
        }
      case 'claim':
        return { claim: { held_ids: [...(await held(request.claim!))] } }
      default:
        return { fault: 'invalid_request' } // of a newer processor
    }
  }

  const find = async (request: FindDeliveries): Promise<FoundDeliveries> => {
    const { endpoint_id, dead_only, below_event: eventId, below_endpoint: endpointId } = request
    const limit = pageOf(request)
    const rows = isNamed(request)
      ? await named(request, limit + 1)
      : endpoint_id === ''
        ? await adminQueries.dead({ eventId, endpointId }, limit + 1)
        : await adminQueries.ofEndpoint(endpoint_id, eventId, dead_only, limit + 1)
    const deliveries: DeliveryRecord[] = []
    let bytes = 0
    for (const row of rows.slice(0, limit)) {
      if (bytes > CONTROL_PAGE_BYTES) break
      const attempts = await adminQueries.attempts(row.id)
      for (const { reply } of attempts) bytes += Buffer.byteLength(reply)
      deliveries.push(recordOf(row, attempts))
    }
    return { deliveries, more: deliveries.length < rows.length }
  }

  const isNamed = ({ event_ids, delivery_id }: FindDeliveries): boolean =>
    event_ids.length > 0 || delivery_id !== ''

  /** The deliveries that a request names: one of them, or those of several events. */
  const named = async (
    { event_ids, delivery_id }: FindDeliveries,
    limit: number,
  ): Promise<readonly DeliveryView[]> => {
    if (delivery_id !== '') {
      const found = await adminQueries.delivery(delivery_id)
      return found === undefined ? [] : [found]
    }
    const rows: DeliveryView[] = []
    for (const id of event_ids) {
      if (rows.length < limit) rows.push(...(await adminQueries.ofEvent(id)))
    }
    return rows.slice(0, limit)
  }

  const redrive = async (request: RedriveDeliveries): Promise<Redriven> => {
    if (request.delivery_id !== '') {
      const done = await redriver.one(request.delivery_id)
      return { redriven: done?.redriven ?? 0, known: done !== undefined }
    }
    const limit = Math.min(request.limit, REDRIVE_MAX)
    const since = instant(Number(request.since))
    return redriver.failed(idOrNone(request.endpoint_id), since, limit)
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

  const held = ({ pool, event_ids }: ClaimEvents): Promise<readonly EventId[]> =>
    claims.answer(pool, event_ids as EventId[])

  const eventOf = (event: ControlEvent): EventRow => ({
    id: event.id as EventId,
    tenant: event.tenant as TenantId,
    type: event.type,
    sequence: Number(event.sequence),
    createdAt: instant(Number(event.created_at)),
    receivedAt: clock.now(),
    body: event.body,
    requestId: event.request_id === '' ? null : event.request_id,
    traceparent: readTraceparent(event.traceparent) ?? null,
  })

  const status = async (): Promise<PoolStatus> => {
    const health = new Map(
      (await adminQueries.counts()).map((counts) => [counts.endpointId, counts]),
    )
    const failing = new Map(pool.failing().map((each) => [each.endpointId, each]))
    const ids = new Set([...health.keys(), ...failing.keys()])
    return {
      in_flight: pool.state().inFlight,
      poison: await adminQueries.poisonCount(),
      corrupt: store.corruptRows(),
      oldest_open_at: (await adminQueries.oldestOpen()) ?? 0,
      endpoints: [...ids].map((id) => ({
        endpoint_id: id,
        open: health.get(id)?.open ?? 0,
        dead: health.get(id)?.dead ?? 0,
        breaker_open: failing.get(id)?.breakerOpen ?? false,
        failing_since: failing.get(id)?.since ?? 0,
      })),
    }
  }

  return async (request) => {
    const { number } = request
    try {
      return { ...(await answer(request)), number }
    } catch (error) {
      log.error({ error, request: request.request }, 'control request failed')
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
  request_id: row.requestId ?? '',
  attempts: attempts.map(({ number, at, status, reason, latencyMs: latency_ms, reply }) => ({
    ...(status === null ? {} : { status }),
    ...{ number, at, reason, latency_ms, reply },
  })),
})

const wired = (row: Awaited<ReturnType<AdminQueries['poison']>>[number]) => ({
  digest: row.digest,
  subject: row.subject,
  reason: row.reason,
  first_seen: row.firstSeen,
  last_seen: row.lastSeen,
  times: row.times,
  payload_base64: row.payloadBase64,
})
