/**
 * Deliveries as stored, and the rows among them that cannot be attempted: corrupt rows.
 *
 * - A row is corrupt when its context is not what the machine writes, its state is unknown, its
 *   event is missing or is another one, or it has made fewer tries than it has stored attempts.
 * - A corrupt row is left as it is and does not affect others.
 * - Lists show it as dead with the reason `corrupt`, and a redrive resets it.
 */
import type { Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import type { Traceparent } from '../../../src/base/traceparent.js'
import type { DeliveryContext, DeliveryState } from '../delivery/machine.js'

/** A delivery with its event. */
export interface Delivery {
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly endpointId: EndpointId
  readonly eventType: string
  readonly eventCreatedAt: Instant
  readonly tenant: TenantId
  readonly requestId: string | null
  readonly traceparent: Traceparent | null
  readonly body: string
  readonly state: DeliveryState
  readonly context: DeliveryContext
}

/** What a row states about the delivery itself. */
export interface StoredState {
  readonly state: string
  readonly dueAt: number | null
  /** JSON text. */
  readonly context: string
  /** The number of its newest stored attempt. */
  readonly lastNumber: number | null
}

/** The members of a missing event are null. */
export type StoredDelivery = Omit<Delivery, 'state' | 'context' | 'body'> &
  StoredState & { readonly body: string | null }

export type ReadRow<Row> =
  { readonly ok: true; readonly row: Row } | { readonly ok: false; readonly why: string }

const STATES: ReadonlySet<string> = new Set(['pending', 'waiting', 'delivered', 'dead'])
const CORRUPT_REASON = 'corrupt'
export const WRONG_BODY = 'the stored body is not that of the event'

export function readDelivery(stored: StoredDelivery): ReadRow<Delivery> {
  const { dueAt, lastNumber, ...columns } = stored
  const { body } = columns
  if (body === null) return corrupt('its event is missing')
  if (!isBodyOf(columns.eventId, columns.eventType, body)) {
    return corrupt(WRONG_BODY)
  }
  const read = readState({ dueAt, lastNumber, state: columns.state, context: columns.context })
  return read.ok ? { ok: true, row: { ...columns, body, ...read.row } } : read
}

function readState(stored: StoredState): ReadRow<Pick<Delivery, 'state' | 'context'>> {
  const { state, dueAt, lastNumber } = stored
  if (!STATES.has(state)) return corrupt('its state is unknown')
  const context = objectIn(stored.context)
  if (context === undefined) return corrupt('its context is not JSON')
  const { attempts, tries, endedAt, probing, reason } = context
  const isWhole =
    isCount(attempts) &&
    isCount(tries) &&
    (endedAt === null || isCount(endedAt)) &&
    typeof probing === 'boolean' &&
    typeof reason === 'string'
  if (!isWhole) return corrupt('a member of its context is missing or malformed')
  if (context['dueAt'] !== dueAt || (dueAt === null) !== hasEnded(state)) {
    return corrupt('its context, its state and its due time differ')
  }
  if (tries < (lastNumber ?? 0)) return corrupt('it has more attempts than tries')
  const row = { state: state as DeliveryState, context: context as unknown as DeliveryContext }
  return { ok: true, row }
}

/** For lists: a corrupt row is shown as ended, so that a redrive can reset it. */
export function shownState(stored: StoredState): Pick<Delivery, 'state' | 'context'> {
  const read = readState(stored)
  if (read.ok) return read.row
  const state = stored.state === 'delivered' ? 'delivered' : 'dead'
  const tries = stored.lastNumber ?? 0
  const context = { attempts: tries, tries, dueAt: null, probing: false, endedAt: null }
  return { state, context: { ...context, reason: CORRUPT_REASON } }
}

/** Whether a stored body is the one that was published for the event. */
export function isBodyOf(id: string, type: string, body: string): boolean {
  const event = objectIn(body)
  return event?.['id'] === id && event['type'] === type
}

const corrupt = (why: string): { readonly ok: false; readonly why: string } => ({ ok: false, why })

const hasEnded = (state: string): boolean => state === 'delivered' || state === 'dead'

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}
