/**
 * Names that are seen outside of a process: NATS subjects, the stream, and the files under DATA_DIR
 * that others than their owner know. They are a contract; a name is never reused for another
 * meaning.
 */
import type { TenantId } from './ids.js'

/** One JetStream stream holds every event; it is transport, the events table is the truth. */
export const EVENT_STREAM = 'CAUSEWAY_EVENTS'
export const EVENT_SUBJECTS = 'causeway.events.>'
const EVENT_SUBJECT_PREFIX = 'causeway.events.'
/** Of a message with some of a tenant's events. */
export const eventSubject = (tenant: TenantId): string => `${EVENT_SUBJECT_PREFIX}${tenant}`
/** What `eventSubject` was made of, unchecked. */
export const tenantIn = (subject: string): string => subject.slice(EVENT_SUBJECT_PREFIX.length)
/** Few: the driver writes and reads each one by itself. */
export const EVENT_HEADERS = {
  /** JetStream deduplicates by it. */
  id: 'Nats-Msg-Id',
  /** Of each event, with blanks between: what its body does not say. */
  sequences: 'Causeway-Sequences',
} as const
export const WEBHOOK_CONSUMER = 'webhook_pool'

/** Under DATA_DIR. */
export const FILES = {
  processorDatabase: 'processor.db',
  webhookDatabase: 'webhooks.db',
  railDatabase: 'rail.db',
  masterKey: 'master.key',
  internalToken: 'internal.token',
  highWater: 'high_water.json',
  sandbox: 'sandbox.json',
  natsStore: 'nats',
} as const

/** So many of these files there can be; the audit looks for all of them. */
export const WEBHOOK_POOLS_MAX = 8

/** Each webhook pool has a file of its own; pools count from 1. */
export const webhookDatabase = (pool: number): string =>
  pool === 1 ? FILES.webhookDatabase : `webhooks-${pool}.db`
