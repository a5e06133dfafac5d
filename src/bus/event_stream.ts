/**
 * The stream of events on the bus, and its durable consumer.
 *
 * - In a NATS cluster the stream has three replicas; one of a single server becomes replicated.
 * - Limits retention, because work-queue retention loses its deduplication window when the server
 *   restarts.
 * - The stream is bounded in bytes, far below what a server stores by default: 75 % of the free
 *   disk, after which it refuses events. The oldest messages leave; an event of them that is still
 *   open is published again from the outbox (processor/background/relay).
 * - Its description names the installation that uses it: with a shared stream the webhook pools of
 *   one take the events of the other. A description and not the stream's metadata, because
 *   servers before 2.10 keep none.
 */
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  nanos,
  NatsError,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type NatsConnection,
  type StreamInfo,
} from 'nats'
import { DAY, MINUTE, SECOND } from '../base/clock.js'
import type { EventId, TenantId } from '../base/ids.js'
import { EVENT_STREAM, EVENT_SUBJECTS, eventSubject, WEBHOOK_CONSUMER } from '../base/subjects.js'
import { ACK_PENDING_MAX } from './consumer.js'
import { fromMessage } from './event_message.js'

const STREAM_MAX_AGE_MS = 7 * DAY
/**
 * The first of these that the server has the storage for. A server reserves these bytes, and drops
 * a stream at its restart when its limit has become lower than that.
 */
const STREAM_MAX_BYTES = [2 * 1024 ** 3, 256 * 1024 ** 2]
const UNBOUNDED = -1
const DUPLICATE_WINDOW_MS = 2 * MINUTE
/** Longer than a reader needs to commit a batch; short enough for redelivery after its crash. */
const ACK_WAIT_MS = 5 * SECOND
const CLUSTER_REPLICAS = 3
const ANY_TENANT = 'any_sandbox' as TenantId
const DESCRIPTION = 'Events of the Causeway installation '
/** JetStream's codes for too little storage: of an account, of each server, of this one. */
const SHORT_OF_STORAGE = [10002, 10005, 10023, 10047]

export interface NewestEvent {
  readonly id: EventId
  readonly tenant: TenantId
}

export interface EventStream {
  /** Its creation time; a different time is a new, empty stream. */
  readonly created: string
  /** The installation that uses it. Undefined means none, or one of an earlier version. */
  readonly installation: string | undefined
}

/** A server of a NATS cluster keeps what one of three servers may lose. */
export const replicasAt = ({ info }: NatsConnection): number =>
  info?.cluster === undefined ? 1 : CLUSTER_REPLICAS

/** @param installation that uses a new stream; undefined when it is not known */
export async function ensureStream(
  manager: JetStreamManager,
  replicas: number,
  installation: string | undefined,
): Promise<EventStream> {
  try {
    const { created, config } = await manager.streams.info(EVENT_STREAM)
    if (!config.subjects.some(takesEvents))
      throw new Error(`the stream ${EVENT_STREAM} does not take ${EVENT_SUBJECTS}`)
    if (config.no_ack) throw new Error(`the stream ${EVENT_STREAM} acknowledges nothing (no_ack)`)
    if (config.num_replicas < replicas) {
      await manager.streams.update(EVENT_STREAM, { num_replicas: replicas })
    }
    if (config.max_bytes === UNBOUNDED && config.discard === DiscardPolicy.Old) {
      await withinStorage((bytes) => manager.streams.update(EVENT_STREAM, { max_bytes: bytes }))
    }
    return { created, installation: installationIn(config.description ?? '') }
  } catch (fault) {
    if (!isNotFound(fault)) throw fault
  }
  const made = await withinStorage((bytes) =>
    manager.streams.add({
      name: EVENT_STREAM,
      subjects: [EVENT_SUBJECTS],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: replicas,
      discard: DiscardPolicy.Old,
      max_age: nanos(STREAM_MAX_AGE_MS),
      max_bytes: bytes,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
      ...(installation === undefined ? {} : { description: DESCRIPTION + installation }),
    }),
  )
  return { created: made.created, installation }
}

const installationIn = (description: string): string | undefined =>
  description.startsWith(DESCRIPTION) ? description.slice(DESCRIPTION.length) : undefined

/**
 * Whether another installation uses the stream.
 *
 * @param own the ids of this installation, the present one first; none when its processor is of an
 *   earlier version
 */
export const isOfAnother = ({ installation }: EventStream, own: readonly string[]): boolean =>
  installation !== undefined && own.length > 0 && !own.includes(installation)

/** @throws Error when another installation uses the stream */
export async function claimStream(
  manager: JetStreamManager,
  stream: EventStream,
  own: readonly string[],
): Promise<void> {
  if (isOfAnother(stream, own)) {
    throw new Error(
      `another installation uses the stream ${EVENT_STREAM}: ` +
        'each needs a nats-server or an account of its own',
    )
  }
  const [present] = own
  if (present === undefined || stream.installation === present) return
  await manager.streams.update(EVENT_STREAM, { description: DESCRIPTION + present })
}

/** Makes a stream with the largest bound for which the server has the storage, or with none. */
async function withinStorage(make: (bytes: number) => Promise<StreamInfo>): Promise<StreamInfo> {
  for (const bytes of STREAM_MAX_BYTES) {
    try {
      return await make(bytes)
    } catch (fault) {
      if (!isShortOfStorage(fault)) throw fault
    }
  }
  return make(UNBOUNDED)
}

const isShortOfStorage = (fault: unknown): boolean =>
  fault instanceof NatsError && SHORT_OF_STORAGE.includes(fault.api_error?.err_code ?? 0)

/** Whether a stream with this subject, which can have wildcards, takes the events of a tenant. */
function takesEvents(subject: string): boolean {
  const [tokens, event] = [subject.split('.'), eventSubject(ANY_TENANT).split('.')]
  if (tokens.at(-1) === '>' ? tokens.length > event.length : tokens.length !== event.length)
    return false
  return tokens.every((token, at) => token === '>' || token === '*' || token === event[at])
}

export async function newestEvent(manager: JetStreamManager): Promise<NewestEvent | null> {
  try {
    const { state } = await manager.streams.info(EVENT_STREAM)
    if (state.messages === 0) return null
    const last = await manager.streams.getMessage(EVENT_STREAM, { seq: state.last_seq })
    const read = fromMessage({
      subject: last.subject,
      payload: last.data,
      header: (name) => last.header.get(name),
    })
    return read.ok ? (read.events.at(-1) ?? null) : null
  } catch (fault) {
    if (isNotFound(fault)) return null
    throw fault
  }
}

/** Redelivery is unlimited: the pool counts attempts. */
export async function ensureConsumer(
  manager: JetStreamManager,
  ackWaitMs = ACK_WAIT_MS,
): Promise<void> {
  await manager.consumers.add(EVENT_STREAM, {
    durable_name: WEBHOOK_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: ACK_PENDING_MAX,
    max_deliver: -1,
  })
}

const isNotFound = (fault: unknown): boolean =>
  fault instanceof Error && 'code' in fault && fault.code === '404'
