/**
 * Names shared between processes: NATS subjects and stream, and files in the data folder. They are
 * a contract; a name is never reused for another meaning.
 */
import type { TenantId } from './ids.js'

/** One JetStream stream for all events: transport only, the events table is authoritative. */
export const EVENT_STREAM = 'CAUSEWAY_EVENTS'
export const EVENT_SUBJECTS = 'causeway.events.>'
const EVENT_SUBJECT_PREFIX = 'causeway.events.'
/** The subject of a message with events of this tenant. */
export const eventSubject = (tenant: TenantId): string => `${EVENT_SUBJECT_PREFIX}${tenant}`
/** The tenant in a subject, unchecked. */
export const tenantIn = (subject: string): string => subject.slice(EVENT_SUBJECT_PREFIX.length)
/** Few, because the driver encodes and decodes each one separately. */
export const EVENT_HEADERS = {
  /** JetStream's deduplication key. */
  id: 'Nats-Msg-Id',
  /** The sequence of each event, separated by spaces; bodies do not contain it. */
  sequences: 'Causeway-Sequences',
  /** The request id of each event or `-`, separated by spaces. Absent if no event has one. */
  requests: 'Causeway-Request-Ids',
  /** The `traceparent` of each event or `-`, separated by spaces. Absent if none is traced. */
  traces: 'Causeway-Traceparents',
  /** Present: its events may have been published before, in another message. */
  repeated: 'Causeway-Repeated',
} as const
export const WEBHOOK_CONSUMER = 'webhook_pool'

/** In the data folder. */
export const FILES = {
  processorDatabase: 'processor.db',
  webhookDatabase: 'webhooks.db',
  railDatabase: 'rail.db',
  /** The key of the accounts in the rail's database. */
  railKey: 'rail.key',
  /** What the ISO 20022 adapter remembers beside its journal. */
  railRecord: 'iso20022.db',
  /** The payments of the switch for trials, and its messages as they were on the wire. */
  switchLog: 'switch.jsonl',
  switchMessages: 'switch_messages.log',
  masterKey: 'master.key',
  internalToken: 'internal.token',
  operatorToken: 'operator.token',
  highWater: 'high_water.json',
  sandbox: 'sandbox.json',
  /** The URL of the PostgreSQL server that the stack runs. */
  storeUrl: 'store_url',
  natsStore: 'nats',
  /** The newest timeline of the PostgreSQL server that the processor has used. */
  timeline: 'timeline.json',
  /** Identifies this data directory to the other machines of a cluster. */
  folderId: 'place.id',
  /** Shards of a cluster whose books the processor could not load. */
  failedLoads: 'failed_loads.json',
  /** Which backup was restored here; until the books are in recovery mode. */
  restored: 'restored.json',
  /** The newest backup. */
  lastBackup: 'backup.json',
} as const

/** The high-water mark of one shard of a cluster: a processor can serve several in turn. */
export const highWaterOf = (shard: string): string => `high_water_${shard}.json`

/** Maximum number of webhook databases; the audit reads all of them. */
export const WEBHOOK_POOLS_MAX = 8

/** The database of a webhook pool; pools count from 1. */
export const webhookDatabase = (pool: number): string =>
  pool === 1 ? FILES.webhookDatabase : `webhooks-${pool}.db`

/** The schema of a webhook pool in PostgreSQL. */
export const webhookSchema = (prefix: string, pool: number): string => `${prefix}_${pool}`
