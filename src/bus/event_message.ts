/**
 * An event as a message on the bus, and back.
 *
 * Owns: which part of an event travels where (subject, headers, payload). Does not own: the names
 * themselves (base/subjects), the wire (bus/nats).
 *
 * E1. The payload is the webhook body, byte for byte; nothing on the way parses and writes it
 *     again.
 * E2. A message that is not exactly an event of ours is told apart with a reason, never guessed at.
 */
import { instant, type Instant } from '../base/clock.js'
import { isIdOf, type EventId, type TenantId } from '../base/ids.js'
import { EVENT_HEADERS, eventSubject } from '../base/subjects.js'

export interface BusEvent {
  readonly id: string
  readonly tenant: TenantId
  readonly type: string
  /** Without gaps within a tenant. */
  readonly sequence: number
  readonly createdAt: Instant
  /** The webhook body. */
  readonly body: string
}

export interface EventMessage {
  readonly subject: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly payload: string
}

/**
 * @param messageId what JetStream deduplicates by: the event's id, or one made from it to be stored
 * again
 */
export function toMessage(event: BusEvent, messageId: string): EventMessage {
  return {
    subject: eventSubject(event.tenant, event.type),
    headers: [
      [EVENT_HEADERS.id, messageId],
      [EVENT_HEADERS.eventId, event.id],
      [EVENT_HEADERS.tenant, event.tenant],
      [EVENT_HEADERS.type, event.type],
      [EVENT_HEADERS.sequence, String(event.sequence)],
      [EVENT_HEADERS.createdAt, String(event.createdAt)],
    ],
    payload: event.body,
  }
}

export type ReadEvent =
  | { readonly ok: true; readonly event: BusEvent & { readonly id: EventId } }
  | { readonly ok: false; readonly reason: string }

const WHOLE_NUMBER = /^[0-9]{1,15}$/
const TENANT = /^[a-z0-9-]{2,32}_(sandbox|production)$/
const EVENT_TYPE = /^[a-z_]{1,64}(\.[a-z_]{1,64})+$/
/** A byte order mark is a byte of the body like any other, so it is not taken off. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function fromMessage(header: (name: string) => string, payload: Uint8Array): ReadEvent {
  const id = header(EVENT_HEADERS.eventId)
  const tenant = header(EVENT_HEADERS.tenant)
  const type = header(EVENT_HEADERS.type)
  const sequence = header(EVENT_HEADERS.sequence)
  const createdAt = header(EVENT_HEADERS.createdAt)
  if (!isIdOf('event', id)) return poison('event id missing or malformed')
  if (!TENANT.test(tenant)) return poison('tenant missing or malformed')
  if (!EVENT_TYPE.test(type)) return poison('event type missing or malformed')
  if (!WHOLE_NUMBER.test(sequence)) return poison('sequence missing or malformed')
  if (!WHOLE_NUMBER.test(createdAt)) return poison('creation time missing or malformed')
  const body = readBody(payload)
  if (body === undefined) return poison('payload is not a JSON object in UTF-8')
  if (body.id !== id || body.type !== type) return poison('payload and headers differ')
  return {
    ok: true,
    event: {
      // The header's id is cut from the text of all headers, and would keep it in memory.
      id: body.id as EventId,
      tenant: tenant as TenantId,
      type,
      sequence: Number(sequence),
      createdAt: instant(Number(createdAt)),
      body: body.text,
    },
  }
}

const poison = (reason: string): ReadEvent => ({ ok: false, reason })

function readBody(payload: Uint8Array): { text: string; id: unknown; type: unknown } | undefined {
  try {
    const text = UTF8.decode(payload)
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
    const { id, type } = body as { readonly id?: unknown; readonly type?: unknown }
    return { text, id, type }
  } catch {
    return undefined
  }
}
