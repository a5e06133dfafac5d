/**
 * Reports the dead deliveries of each endpoint to the processor of its partner.
 *
 * Does not own: when a delivery is dead (delivery/machine), who is told (the processor).
 *
 * - The numbers are read from the store, so they cannot drift; a redrive, a recovery and the end of
 *   the retention lower them.
 * - A report has all endpoints with dead deliveries and replaces the last one. It is sent after
 *   each connection, when deliveries died or were redriven, and each minute. The processor keeps it
 *   in memory only.
 * - After a read the reporter pauses for a multiple of the read's duration, so many dead deliveries
 *   do not load the store.
 */
import type { EventOutcomesClient } from '../../../protos/types/causeway/internal/v1/EventOutcomes.js'
import type { EndpointDeadDeliveries } from '../../../protos/types/causeway/internal/v1/EndpointDeadDeliveries.js'
import { bearer } from '../../../src/grpc/bearer.js'
import { MINUTE, plus, SECOND, type Clock } from '../../../src/base/clock.js'
import type { EndpointId } from '../../../src/base/ids.js'
import type { Logger } from '../../../src/base/log.js'
import type { AdminQueries, DeadCounts } from '../store/admin_queries.js'

const GATHER_MS = 200
const PAUSE_MIN_MS = SECOND
const PAUSE_PER_READ = 20
const ANSWER_WITHIN_MS = 5 * SECOND

export interface DeadDeliveryReporterOptions {
  readonly pool: number
  /** The clients of all connected processors. */
  readonly clients: () => readonly EventOutcomesClient[]
  /** The client of its processor. Undefined if that is away, or the endpoint is deleted. */
  readonly clientOfEndpoint: (id: EndpointId) => EventOutcomesClient | undefined
  readonly token: string
  readonly adminQueries: Pick<AdminQueries, 'deadCounts'>
  readonly clock: Clock
  readonly elapsed: () => number
  /** Called with a fault of ours; the process must exit. */
  readonly failed: (fault: unknown) => void
  readonly log: Logger
}

export interface DeadDeliveryReporter {
  /** The numbers may have changed, or a processor is connected: report them soon. */
  schedule(): void
  stop(): Promise<void>
}

export function createDeadDeliveryReporter({
  pool,
  clients,
  clientOfEndpoint,
  token,
  adminQueries,
  clock,
  elapsed,
  failed,
  log,
}: DeadDeliveryReporterOptions): DeadDeliveryReporter {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  /** When, by `elapsed`, the next read may start. */
  let notBefore = 0

  const schedule = (): void => {
    again = true
    if (stopped || timer !== undefined || running !== undefined) return
    const wait = Math.max(GATHER_MS, notBefore - elapsed())
    timer = setTimeout(() => {
      timer = undefined
      running = report().catch(failed)
    }, wait)
  }

  const report = async (): Promise<void> => {
    again = false
    const start = elapsed()
    const counts = await adminQueries.deadCounts()
    notBefore = elapsed() + Math.max(PAUSE_MIN_MS, PAUSE_PER_READ * (elapsed() - start))
    const endpoints = byClient(counts)
    const sent = clients().map((client) => record(client, endpoints.get(client) ?? []))
    const isRecorded = (await Promise.all(sent)).every(Boolean)
    running = undefined
    if (again || !isRecorded) schedule()
  }

  const byClient = (
    counts: readonly DeadCounts[],
  ): ReadonlyMap<EventOutcomesClient, readonly EndpointDeadDeliveries[]> => {
    const groups = new Map<EventOutcomesClient, EndpointDeadDeliveries[]>()
    for (const row of counts) {
      const client = clientOfEndpoint(row.endpointId)
      if (client === undefined) continue
      const group = groups.get(client) ?? []
      groups.set(client, group)
      group.push(messageOf(row))
    }
    return groups
  }

  const record = (
    client: EventOutcomesClient,
    endpoints: readonly EndpointDeadDeliveries[],
  ): Promise<boolean> =>
    new Promise((resolve) => {
      const done = (fault: Error | null): void => {
        if (fault !== null && !stopped)
          log.debug({ reason: fault.message }, 'dead deliveries not reported')
        resolve(fault === null)
      }
      const deadline = plus(clock.now(), ANSWER_WITHIN_MS)
      try {
        const request = { pool, endpoints: [...endpoints] }
        client.RecordDead(request, bearer(token), { deadline }, done)
      } catch (error) {
        done(error as Error) // A client that was closed meanwhile throws.
      }
    })

  const everyMinute = setInterval(schedule, MINUTE)

  return {
    schedule,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      clearInterval(everyMinute)
      await running
    },
  }
}

const messageOf = (row: DeadCounts): EndpointDeadDeliveries => ({
  endpoint_id: row.endpointId,
  count: row.count,
  newest_at: row.newestAt,
  ...(row.newestEventId === null
    ? {}
    : {
        alerting: {
          count: row.alerting,
          newest_at: row.alertingAt,
          newest_event_id: row.newestEventId,
        },
      }),
})
