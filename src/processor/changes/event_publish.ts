/**
 * Events: one for each public transition, staged in its commit.
 *
 * - The body is built once, at the transition, and every receiver gets it byte for byte.
 * - Sequences of a tenant have no gaps; positions follow the order of commits.
 * - An event that no endpoint subscribes to is settled by its own commit: it is in the list and the
 *   streams of events, and nothing is to be delivered. An endpoint that comes later gets no event
 *   from before it, so memory at this moment decides.
 */
import { toRfc3339 } from '../../base/clock.js'
import { newId, type EventId, type TenantId } from '../../base/ids.js'
import type { StoredEvent } from '../../store/store.js'
import type { CommandContext } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'

/** The version of event bodies. */
export const API_VERSION = '2026-11-01'

/** @param data the public view under the entity's name, for example `{payout: {…}}` */
export function publishEvent(
  ctx: CommandContext,
  tenant: TenantId,
  entity: string,
  type: string,
  data: object,
): StoredEvent {
  const { memory, batch, now, random } = ctx
  const { requestId, cause, traceparent = null } = ctx.origin
  const id = newId<EventId>('event', now, random)
  const sequence = nextSequence(memory, tenant)
  memory.sequences.set(tenant, sequence)
  memory.lastPosition += 1
  const position = memory.lastPosition
  const body = JSON.stringify({
    id,
    type,
    webhook_event_id: id,
    webhook_event_type: type,
    api_version: API_VERSION,
    created_at: toRfc3339(now),
    data,
  })
  batch.stage('events', String(position), {
    position,
    id,
    tenant,
    sequence,
    type,
    entity,
    created_at: now,
    body,
    request_id: requestId,
    cause,
    traceparent,
  })
  const content = { position, id, tenant, type, sequence, createdAt: now, body }
  const event = { ...content, requestId, traceparent }
  if (memory.endpoints.isSubscribed(tenant, type)) batch.events.push(event)
  else {
    batch.events.push({ ...event, isSettled: true })
    batch.settledEvents.push(id)
  }
  return event
}

/** The sequence of the tenant's next event. */
export const nextSequence = (memory: Memory, tenant: TenantId): number =>
  (memory.sequences.get(tenant) ?? memory.skippedSequences) + 1
