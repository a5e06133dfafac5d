/**
 * Names that are seen outside of a process: NATS subjects, the stream, files under DATA_DIR,
 * sockets. They are a contract between processes; a name is never reused for another meaning.
 */
import type { TenantId } from './ids.js'

/** One JetStream stream holds every event; it is transport, the events table is the truth. */
export const EVENT_STREAM = 'CAUSEWAY_EVENTS'
export const EVENT_SUBJECTS = 'causeway.events.>'
const EVENT_SUBJECT_PREFIX = 'causeway.events.'
/** The payload is the webhook body, byte for byte, which names the event. */
export const eventSubject = (tenant: TenantId, type: string): string =>
  `${EVENT_SUBJECT_PREFIX}${tenant}.${type}`
/** What `eventSubject` was made of, unchecked. */
export function partsOfEventSubject(subject: string): { tenant: string; type: string } {
  const [tenant = '', ...type] = subject.slice(EVENT_SUBJECT_PREFIX.length).split('.')
  return { tenant, type: type.join('.') }
}
/** Few: the driver writes and reads each one by itself. */
export const EVENT_HEADERS = {
  /** JetStream deduplicates by it: the event's id, or one made from it. */
  id: 'Nats-Msg-Id',
  /** The one fact about an event that is not in its body. */
  sequence: 'Causeway-Sequence',
} as const
export const WEBHOOK_CONSUMER = 'webhook_pool'

/** Under DATA_DIR. */
export const FILES = {
  processorDatabase: 'processor.db',
  webhookDatabase: 'webhooks.db',
  railDatabase: 'rail.db',
  masterKey: 'master.key',
  internalToken: 'internal.token',
  sandbox: 'sandbox.json',
  natsStore: 'nats',
} as const

export const WEBHOOK_POOLS_MAX = 8

/** Each webhook pool has a file of its own; pools count from 1. */
export const webhookDatabase = (pool: number): string =>
  pool === 1 ? FILES.webhookDatabase : `webhooks-${pool}.db`
