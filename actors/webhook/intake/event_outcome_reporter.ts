/**
 * Reports settled events, and endpoints to disable, to the processor of their tenant until it
 * confirms them.
 *
 * Does not own: when an event is settled (the store counts open deliveries).
 *
 * - A processor that cannot be reached delays the outcomes of other tenants by ANSWER_WITHIN_MS at
 *   most, however many wait for it: once one is away, those of the others are read by tenant.
 * - An outcome stays unreported on disk until the processor has confirmed it, so a restart of
 *   either side loses none.
 * - A request to disable an endpoint is in memory only; after a restart the endpoint's next failure
 *   creates it again. It ends when the endpoint is disabled, deleted or given another URL, by any
 *   request, or when its processor does not know it, as with restored books.
 */
import { status } from '@grpc/grpc-js'
import type { EventOutcomesClient } from '../../../protos/types/causeway/internal/v1/EventOutcomes.js'
import { plus, SECOND, type Clock } from '../../../src/base/clock.js'
import { crashPoint } from '../../../src/base/crash_point.js'
import { grouped } from '../../../src/base/grouped.js'
import type { EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import { bearer } from '../../../src/grpc/bearer.js'
import type { Logger } from '../../../src/base/log.js'
import type { DisableReason } from '../endpoint/endpoint_health.js'
import type { WebhookStore } from '../store/store.js'

const BATCH_MAX = 1_000
/** Outcomes are not urgent, so they are batched. */
const GATHER_MS = 50
const RETRY_AFTER_MS = SECOND
const ANSWER_WITHIN_MS = 5 * SECOND

export interface EventOutcomeReporterOptions {
  /** The client of the tenant's processor. Undefined while it is disconnected. */
  readonly clientOf: (tenant: TenantId) => EventOutcomesClient | undefined
  /** Likewise, by an endpoint of the tenant. */
  readonly clientOfEndpoint: (id: EndpointId) => EventOutcomesClient | undefined
  /** Undefined if it is not enabled. As its processor has told it last. */
  readonly urlOf: (id: EndpointId) => string | undefined
  readonly token: string
  readonly store: Pick<WebhookStore, 'commit' | 'unreported' | 'unreportedTenants'>
  /** Called with a fault of ours; the process must exit. */
  readonly failed: (fault: unknown) => void
  readonly clock: Clock
  readonly log: Logger
}

/** An endpoint to disable. */
export interface FailedEndpoint {
  readonly id: EndpointId
  readonly reason: DisableReason
  /** That of the failed attempt. */
  readonly url: string
}

export interface EventOutcomeReporter {
  /** Events may have been settled: report them soon. */
  schedule(): void
  disable(failed: FailedEndpoint): void
  stop(): Promise<void>
}

export function createEventOutcomeReporter({
  clientOf,
  clientOfEndpoint,
  urlOf,
  token,
  store,
  failed,
  clock,
  log,
}: EventOutcomeReporterOptions): EventOutcomeReporter {
  const toDisable = new Map<EndpointId, FailedEndpoint>()
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
      running = reportAll().catch(failed)
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
    /** Clients of processors that did not answer. Undefined if one of them is not connected. */
    const away = new Set<EventOutcomesClient | undefined>()
    for (;;) {
      const tenants = away.size === 0 ? undefined : await tenantsWithout(away)
      if (tenants?.length === 0) return false
      const events = await store.unreported(BATCH_MAX, tenants)
      if (stopped) return false
      await Promise.all(
        [...grouped(events, ({ tenant }) => clientOf(tenant))].map(async ([client, its]) => {
          const ids = its.map(({ id }) => id)
          const isRecorded = client !== undefined && (await record(client, ids))
          crashPoint('delivery.reported')
          if (isRecorded) await store.commit({ reported: ids })
          else away.add(client)
        }),
      )
      if (events.length < BATCH_MAX) return away.size === 0
    }
  }

  /** Tenants with unreported events whose processor may be reached. */
  const tenantsWithout = async (
    away: ReadonlySet<EventOutcomesClient | undefined>,
  ): Promise<readonly TenantId[]> =>
    (await store.unreportedTenants()).filter((tenant) => {
      const client = clientOf(tenant)
      return client !== undefined && !away.has(client)
    })

  const record = (client: EventOutcomesClient, ids: readonly EventId[]): Promise<boolean> =>
    succeeds((done) => {
      const outcomes = ids.map((event_id) => ({ event_id, outcome: 'settled' }))
      client.Record({ outcomes }, bearer(token), options(), done)
    })

  /** False when the call fails. A client that was closed meanwhile throws. */
  const succeeds = (call: (done: (fault: Error | null) => void) => void): Promise<boolean> =>
    new Promise((resolve) => {
      try {
        call((fault) => resolve(isDone(fault)))
      } catch (error) {
        resolve(isDone(error as Error))
      }
    })

  const reportDisabled = async (): Promise<boolean> => {
    await Promise.all(
      [...toDisable.values()].map(async (failed) => {
        const { id, url } = failed
        const isOver = urlOf(id) !== url || (await isDisabledBy(clientOfEndpoint(id), failed))
        if (isOver && toDisable.get(id) === failed) toDisable.delete(id)
      }),
    )
    return toDisable.size === 0
  }

  const isDisabledBy = async (
    client: EventOutcomesClient | undefined,
    { id, reason, url }: FailedEndpoint,
  ): Promise<boolean> =>
    client !== undefined &&
    succeeds((done) => {
      const request = { endpoint_id: id, reason, url }
      client.DisableEndpoint(request, bearer(token), options(), (fault) =>
        done(fault?.code === status.NOT_FOUND ? null : fault),
      )
    })

  const options = () => ({ deadline: plus(clock.now(), ANSWER_WITHIN_MS) })

  const isDone = (fault: Error | null): boolean => {
    if (fault !== null && !stopped)
      log.debug(
        { reason: fault.message },
        'outcomes of deliveries not reported; they are sent again',
      )
    return fault === null
  }

  return {
    schedule,
    disable: (failed) => {
      toDisable.set(failed.id, failed)
      schedule()
    },
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
