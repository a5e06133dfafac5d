/**
 * Encodes events as a bus message (subject, headers, payload), and decodes and checks it.
 *
 * Does not own: subject and header names (base/subjects), bundling (bus/publisher).
 *
 * - The payload is the webhook bodies, byte for byte, one per line (our JSON has no line breaks).
 *   No component on the way parses and rewrites a body.
 * - A message that does not decode exactly is poison, with a reason.
 */
import { instant, type Instant } from '../base/clock.js'
import { isIdOf, type EventId, type TenantId } from '../base/ids.js'
import { readTraceparent, type Traceparent } from '../base/traceparent.js'
import { EVENT_HEADERS, eventSubject, tenantIn } from '../base/subjects.js'

export interface BusEvent {
  readonly id: string
  readonly tenant: TenantId
  readonly type: string
  /** Without gaps within a tenant. */
  readonly sequence: number
  readonly createdAt: Instant
  /** The webhook body. */
  readonly body: string
  /** The request that caused it. Null if there is none. */
  readonly requestId: string | null
  /** The span that it was published in. Null if it is not traced. */
  readonly traceparent: Traceparent | null
}

export interface EventMessage {
  readonly subject: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly payload: string
}

/**
 * @param messageId what JetStream deduplicates by
 * @param isRepeated whether events of it may have been published before
 */
export function toMessage(
  tenant: TenantId,
  events: readonly BusEvent[],
  messageId: string,
  isRepeated = false,
): EventMessage {
  return {
    subject: eventSubject(tenant),
    headers: [
      [EVENT_HEADERS.id, messageId],
      [EVENT_HEADERS.sequences, events.map(({ sequence }) => sequence).join(' ')],
      ...(events.some(({ requestId }) => requestId !== null)
        ? [[EVENT_HEADERS.requests, requestIdsOf(events)] as const]
        : []),
      ...(events.some(({ traceparent }) => traceparent !== null)
        ? [[EVENT_HEADERS.traces, tracesOf(events)] as const]
        : []),
      ...(isRepeated ? [[EVENT_HEADERS.repeated, '1'] as const] : []),
    ],
    payload: events.map(({ body }) => body).join('\n'),
  }
}

const NO_REQUEST = '-'
const NO_TRACE = '-'

const tracesOf = (events: readonly BusEvent[]): string =>
  events.map(({ traceparent }) => traceparent ?? NO_TRACE).join(' ')

const requestIdsOf = (events: readonly BusEvent[]): string =>
  events.map(({ requestId }) => requestId ?? NO_REQUEST).join(' ')

/** A message received from the bus. */
export interface ReceivedMessage {
  readonly subject: string
  readonly payload: Uint8Array
  /** Empty when the header is missing. */
  header(name: string): string
}

export type ReceivedEvent = BusEvent & { readonly id: EventId }

export type ReadEvents =
  | { readonly ok: true; readonly events: readonly ReceivedEvent[] }
  | { readonly ok: false; readonly reason: string }

const TENANT = /^[a-z0-9-]{2,32}_(sandbox|production)$/
export const isTenant = (text: string): text is TenantId => TENANT.test(text)

const SEQUENCES = /^[0-9]{1,15}( [0-9]{1,15})*$/
/** Empty means that the header is missing. */
const REQUESTS = /^$|^(-|req_[0-9A-HJKMNP-TV-Z]{26})( (-|req_[0-9A-HJKMNP-TV-Z]{26}))*$/
const EVENT_TYPE = /^[a-z_]{1,64}(\.[a-z_]{1,64})+$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const LINE_FEED = 0x0a
/** A byte order mark is part of the body and is kept. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function fromMessage(message: ReceivedMessage): ReadEvents {
  const tenant = tenantIn(message.subject)
  if (!isTenant(tenant)) return poison('the subject names no tenant')
  const sequences = message.header(EVENT_HEADERS.sequences)
  if (!SEQUENCES.test(sequences)) return poison('sequences missing or malformed')
  const numbers = sequences.split(' ')
  const lines = linesOf(message.payload)
  if (lines.length !== numbers.length) return poison('bodies and sequences differ in number')
  const requests = message.header(EVENT_HEADERS.requests)
  if (!REQUESTS.test(requests)) return poison('request ids malformed')
  const requestIds = requests === '' ? [] : requests.split(' ')
  if (requestIds.length > 0 && requestIds.length !== numbers.length) {
    return poison('request ids and sequences differ in number')
  }
  const traces = tracesIn(message.header(EVENT_HEADERS.traces), numbers.length)
  const events: ReceivedEvent[] = []
  for (const [index, line] of lines.entries()) {
    const event = eventOf(tenant, Number(numbers[index]), line)
    if (typeof event === 'string') return poison(event)
    const requestId = requestIds[index] ?? NO_REQUEST
    events.push({
      ...event,
      requestId: requestId === NO_REQUEST ? null : requestId,
      traceparent: traces[index] ?? null,
    })
  }
  return { ok: true, events }
}

const poison = (reason: string): ReadEvents => ({ ok: false, reason })

/** Traces that are not valid count as none: they must not stop an event. */
function tracesIn(header: string, count: number): readonly (Traceparent | null)[] {
  const traces = header === '' ? [] : header.split(' ')
  return traces.length === count ? traces.map((text) => readTraceparent(text) ?? null) : []
}

/** Splits bytes, not text: a substring would keep the whole payload in memory. */
function linesOf(payload: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  let start = 0
  for (let end = payload.indexOf(LINE_FEED); end >= 0; end = payload.indexOf(LINE_FEED, start)) {
    lines.push(payload.subarray(start, end))
    start = end + 1
  }
  lines.push(payload.subarray(start))
  return lines
}

/** The event, or the reason why the line is invalid. */
function eventOf(
  tenant: TenantId,
  sequence: number,
  line: Uint8Array,
): Omit<ReceivedEvent, 'requestId' | 'traceparent'> | string {
  const body = textOf(line)
  if (body === undefined) return 'a body is not UTF-8'
  const { id, type, created_at: moment } = membersOf(body)
  if (typeof id !== 'string' || !isIdOf('event', id)) return 'event id missing or malformed'
  if (typeof type !== 'string' || !EVENT_TYPE.test(type)) return 'event type missing or malformed'
  const createdAt = typeof moment === 'string' && MOMENT.test(moment) ? Date.parse(moment) : NaN
  if (Number.isNaN(createdAt)) return 'creation time missing or malformed'
  return { id: id as EventId, tenant, type, sequence, createdAt: instant(createdAt), body }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Empty when the body is not a JSON object. */
function membersOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}
