/**
 * Reports settled events, and endpoints to disable, to the processor of their tenant until it
 * confirms them.
 *
 * Does not own: when an event is settled (the store counts open deliveries).
 *
 * - A processor that cannot be reached delays only the outcomes of its own tenants.
 * - An outcome stays unreported on disk until the processor has confirmed it, so a restart of
 *   either side loses none.
 * - A request to disable an endpoint is in memory only; after a restart the endpoint's next failure
 *   creates it again.
 */
import type { EventOutcomesClient } from '../../../protos/types/causeway/internal/v1/EventOutcomes.js'
import { plus, SECOND, type Clock } from '../../../src/base/clock.js'
import type { EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import { bearer } from '../../../src/base/bearer.js'
import type { Logger } from '../../../src/base/log.js'
import type { DisableReason } from '../endpoint/endpoint_health.js'
import type { TenantEvent, WebhookStore } from '../store/store.js'

const BATCH_MAX = 1_000
/** Events that are looked through for those whose processor can be reached. */
const SCANNED_MAX = 50_000
/** Outcomes are not urgent, so they are batched. */
const GATHER_MS = 50
const RETRY_AFTER_MS = SECOND
const ANSWER_WITHIN_MS = 5 * SECOND

export interface DeliveryOutcomeReporterOptions {
  /** Of the processor of the tenant; undefined: it is not connected. */
  readonly clientOf: (tenant: TenantId) => EventOutcomesClient | undefined
  /** Likewise, by an endpoint of the tenant. */
  readonly clientOfEndpoint: (id: EndpointId) => EventOutcomesClient | undefined
  readonly token: string
  readonly store: Pick<WebhookStore, 'commit' | 'unreported'>
  readonly clock: Clock
  readonly log: Logger
}

export interface DeliveryOutcomeReporter {
  /** Events may have been settled: report them soon. */
  schedule(): void
  disable(endpointId: EndpointId, reason: DisableReason): void
  stop(): Promise<void>
}

export function createDeliveryOutcomeReporter({
  clientOf,
  clientOfEndpoint,
  token,
  store,
  clock,
  log,
}: DeliveryOutcomeReporterOptions): DeliveryOutcomeReporter {
  const toDisable = new Map<EndpointId, DisableReason>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = false

  const schedule = (): void => reportIn(GATHER_MS)

  const reportIn = (milliseconds: number): void => {
    again = true
    if (stopped || timer !== undefined || running !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      running = reportAll()
    }, milliseconds)
  }

  const reportAll = async (): Promise<void> => {
    again = false
    const isDisabled = await reportDisabled()
    const reported = (await reportSettled()) && isDisabled
    running = undefined
    if (!reported) reportIn(RETRY_AFTER_MS)
    else if (again) reportIn(GATHER_MS)
  }

  const reportSettled = async (): Promise<boolean> => {
    /** Clients of processors that did not answer. */
    const failed = new Set<EventOutcomesClient>()
    for (let limit = BATCH_MAX; ;) {
      const events = await store.unreported(limit)
      let waiting = 0
      for (const [client, ids] of byClient(events)) {
        if (stopped) return false
        if (client !== undefined && !failed.has(client) && (await record(client, ids))) {
          await store.commit({ reported: ids })
          continue
        }
        if (client !== undefined) failed.add(client)
        waiting += ids.length
      }
      if (events.length < limit) return waiting === 0
      limit = waiting + BATCH_MAX
      if (limit > SCANNED_MAX) return false
    }
  }

  /** Groups of at most BATCH_MAX. */
  const byClient = (
    events: readonly TenantEvent[],
  ): readonly (readonly [EventOutcomesClient | undefined, readonly EventId[]])[] => {
    const groups = new Map<EventOutcomesClient | undefined, EventId[]>()
    for (const { id, tenant } of events) {
      const client = clientOf(tenant)
      const ids = groups.get(client)
      if (ids === undefined) groups.set(client, [id])
      else ids.push(id)
    }
    return [...groups].flatMap(([client, ids]) =>
      Array.from(
        { length: Math.ceil(ids.length / BATCH_MAX) },
        (_, part) => [client, ids.slice(part * BATCH_MAX, (part + 1) * BATCH_MAX)] as const,
      ),
    )
  }

  const record = (client: EventOutcomesClient, ids: readonly EventId[]): Promise<boolean> =>
    new Promise((resolve) => {
      const outcomes = ids.map((event_id) => ({ event_id, outcome: 'settled' }))
      client.Record({ outcomes }, bearer(token), options(), (fault) => resolve(isDone(fault)))
    })

  const reportDisabled = async (): Promise<boolean> => {
    for (const [endpointId, reason] of toDisable) {
      const client = clientOfEndpoint(endpointId)
      const done = await new Promise<boolean>((resolve) => {
        if (client === undefined) return resolve(false)
        const request = { endpoint_id: endpointId, reason }
        client.DisableEndpoint(request, bearer(token), options(), (fault) => resolve(isDone(fault)))
      })
      if (done) toDisable.delete(endpointId)
    }
    return toDisable.size === 0
  }

  const options = () => ({ deadline: plus(clock.now(), ANSWER_WITHIN_MS) })

  const isDone = (fault: Error | null): boolean => {
    if (fault !== null && !stopped) log.debug({ reason: fault.message }, 'outcomes not reported')
    return fault === null
  }

  return {
    schedule,
    disable: (endpointId, reason) => {
      toDisable.set(endpointId, reason)
      schedule()
    },
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
