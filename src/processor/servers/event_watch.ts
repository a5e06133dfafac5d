/**
 * Streams of a tenant's events: the stored ones after a sequence number, then each new one after
 * its commit.
 *
 * - A stream reads the stored events page by page, so it has no gap and no duplicate under
 *   concurrent commits; a commit only notifies it.
 * - A stream ends when its partner leaves these books.
 * - Each stream holds one page in memory. The next is read when the client has received it.
 */
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Event } from '../../../protos/types/causeway/v1/Event.js'
import type { WatchEventsCall__Output as WatchCall } from '../../../protos/types/causeway/v1/WatchEventsCall.js'
import {
  EVENT_STREAMS_MAX,
  EVENT_STREAMS_PER_TENANT_MAX,
  LIST_LIMIT_MAX,
} from '../../base/constants.js'
import type { ErrorCode } from '../../base/errors.js'
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { StoredEvent } from '../../store/store.js'
import { listEventRecords, type EventRecordPage } from '../queries/event_list.js'
import { drained } from './drained.js'
import { endStream } from './grpc_error.js'
import { tenantIn, type UnaryDependencies } from './unary_handler.js'

type EventStream = ServerWritableStream<WatchCall, Event>

export interface EventWatch {
  watch(stream: EventStream): void
  /** Ends every stream; clients call again with the last number that they received. */
  close(): void
}

/** Notifies the streams of a tenant after each commit with its events. */
export interface CommittedEvents {
  /** Called by the pipeline. */
  committed(events: readonly Pick<StoredEvent, 'tenant'>[]): void
  /** @returns stops listening */
  listen(tenant: TenantId, notify: () => void): () => void
  listening(tenant?: TenantId): number
}

export function createCommittedEvents(): CommittedEvents {
  const listeners = new Map<TenantId, Set<() => void>>()
  let count = 0
  return {
    committed: (events) => {
      if (count === 0) return
      for (const { tenant } of events) {
        for (const notify of listeners.get(tenant) ?? []) notify()
      }
    },
    listen: (tenant, notify) => {
      const ofTenant = listeners.get(tenant) ?? new Set()
      listeners.set(tenant, ofTenant.add(notify))
      count += 1
      return () => {
        count -= 1
        ofTenant.delete(notify)
        if (ofTenant.size === 0) listeners.delete(tenant)
      }
    },
    listening: (tenant) => (tenant === undefined ? count : (listeners.get(tenant)?.size ?? 0)),
  }
}

export function eventWatch(dependencies: UnaryDependencies, events: CommittedEvents): EventWatch {
  const { memory } = dependencies
  const notifiers = new Set<() => void>()
  let isClosing = false

  const serve = async (stream: EventStream): Promise<void> => {
    const tenant = tenantIn(memory, stream.request.tenant)
    if (tenant === null) return endStream(stream, 'invalid_request')
    const isFull =
      events.listening() >= EVENT_STREAMS_MAX ||
      events.listening(tenant) >= EVENT_STREAMS_PER_TENANT_MAX
    if (isFull) return endStream(stream, 'rate_limited')
    const { notify, notified } = createNotification()
    const ignore = events.listen(tenant, notify)
    notifiers.add(notify)
    stream.once('cancelled', notify)
    const { partner } = partsOfTenant(tenant)
    const isWanted = (): boolean => !stream.cancelled && !isClosing && memory.partners.has(partner)
    const fault = await send(dependencies, { stream, tenant, isWanted, notified })
    ignore()
    notifiers.delete(notify)
    if (!stream.cancelled) endStream(stream, fault)
  }

  return {
    watch: (stream) => void serve(stream),
    close: () => {
      isClosing = true
      for (const notify of notifiers) notify()
    },
  }
}

interface Watched {
  readonly stream: EventStream
  readonly tenant: TenantId
  isWanted(): boolean
  notified(): Promise<void>
}

/** @returns why it ended */
async function send(
  { reader }: UnaryDependencies,
  { stream, tenant, isWanted, notified }: Watched,
): Promise<ErrorCode> {
  let { after } = stream.request
  while (isWanted()) {
    const page = listEventRecords(tenant, { after, limit: LIST_LIMIT_MAX })
    const read = await reader.run(page, isWanted)
    if (!read.ok) return read.code
    if (!isWanted()) break
    const { data, next_after: next, has_more: hasMore } = read.view as EventRecordPage
    for (const event of data) {
      if (!isWanted()) break
      if (!stream.write(event)) await drained(stream)
    }
    after = String(next)
    if (!hasMore) await notified()
  }
  return 'configuration_error'
}

/** `notified` resolves once for all notifications since it last did. */
function createNotification(): { readonly notify: () => void; notified(): Promise<void> } {
  let isNotified = false
  let resolve = (): void => undefined
  return {
    notify: () => {
      isNotified = true
      resolve()
    },
    notified: async () => {
      if (!isNotified) await new Promise<void>((notify) => (resolve = notify))
      isNotified = false
    },
  }
}
