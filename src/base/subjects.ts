/**
 * Names that are seen outside of a process: NATS subjects, the stream, files under DATA_DIR,
 * sockets. They are a contract between processes; a name is never reused for another meaning.
 */
import type { TenantId } from './ids.js'

/** One JetStream stream holds every event; it is transport, the events table is the truth. */
export const EVENT_STREAM = 'CAUSEWAY_EVENTS'
export const EVENT_SUBJECTS = 'causeway.events.>'
/**
 * The payload is the webhook body, byte for byte; what the pool needs beside it is in these
 * headers.
 */
export const eventSubject = (tenant: TenantId, type: string): string =>
  `causeway.events.${tenant}.${type}`
export const EVENT_HEADERS = {
  /** JetStream deduplicates by it; the event's id. */
  id: 'Nats-Msg-Id',
  eventId: 'Causeway-Event-Id',
  tenant: 'Causeway-Tenant',
  type: 'Causeway-Type',
  sequence: 'Causeway-Sequence',
  createdAt: 'Causeway-Created-At',
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
