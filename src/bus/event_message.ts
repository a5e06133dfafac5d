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
import { EVENT_HEADERS, eventSubject, partsOfEventSubject } from '../base/subjects.js'

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
      [EVENT_HEADERS.sequence, String(event.sequence)],
    ],
    payload: event.body,
  }
}

/** A message as it comes from the bus. */
export interface ReceivedMessage {
  readonly subject: string
  readonly payload: Uint8Array
  /** Empty when it is not there. */
  header(name: string): string
}

export type ReadEvent =
  | { readonly ok: true; readonly event: BusEvent & { readonly id: EventId } }
  | { readonly ok: false; readonly reason: string }

const WHOLE_NUMBER = /^[0-9]{1,15}$/
const TENANT = /^[a-z0-9-]{2,32}_(sandbox|production)$/
const EVENT_TYPE = /^[a-z_]{1,64}(\.[a-z_]{1,64})+$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** A byte order mark is a byte of the body like any other, so it is not taken off. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function fromMessage(message: ReceivedMessage): ReadEvent {
  const { tenant, type } = partsOfEventSubject(message.subject)
  const sequence = message.header(EVENT_HEADERS.sequence)
  if (!TENANT.test(tenant)) return poison('the subject names no tenant')
  if (!EVENT_TYPE.test(type)) return poison('the subject names no type of event')
  if (!WHOLE_NUMBER.test(sequence)) return poison('sequence missing or malformed')
  const body = readBody(message.payload)
  if (body === undefined) return poison('payload is not a JSON object in UTF-8')
  const { id } = body
  const createdAt = momentOf(body.createdAt)
  if (typeof id !== 'string' || !isIdOf('event', id)) return poison('event id missing or malformed')
  if (createdAt === undefined) return poison('creation time missing or malformed')
  if (body.type !== type) return poison('payload and subject differ')
  return {
    ok: true,
    event: {
      id: id as EventId,
      tenant: tenant as TenantId,
      type,
      sequence: Number(sequence),
      createdAt,
      body: body.text,
    },
  }
}

const poison = (reason: string): ReadEvent => ({ ok: false, reason })

interface Body {
  readonly text: string
  readonly id: unknown
  readonly type: unknown
  readonly createdAt: unknown
}

function readBody(payload: Uint8Array): Body | undefined {
  try {
    const text = UTF8.decode(payload)
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
    const { id, type, created_at: createdAt } = body as Readonly<Record<string, unknown>>
    return { text, id, type, createdAt }
  } catch {
    return undefined
  }
}

function momentOf(text: unknown): Instant | undefined {
  const at = typeof text === 'string' && MOMENT.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? undefined : instant(at)
}
