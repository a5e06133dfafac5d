/**
 * Reports settled events and endpoints to disable to the processor, until it confirms them.
 *
 * Does not own: when an event is settled (the store counts open deliveries).
 *
 * - An outcome stays unreported on disk until the processor has confirmed it, so a restart of
 *   either side loses none.
 * - A request to disable an endpoint is in memory only; after a restart the endpoint's next failure
 *   creates it again.
 */
import type { EventOutcomesClient } from '../../../protos/types/causeway/internal/v1/EventOutcomes.js'
import { plus, SECOND, type Clock } from '../../../src/base/clock.js'
import type { EndpointId, EventId } from '../../../src/base/ids.js'
import { bearer } from '../../../src/base/bearer.js'
import type { Logger } from '../../../src/base/log.js'
import type { DisableReason } from '../endpoint/endpoint_health.js'
import type { WebhookStore } from '../store/store.js'

const BATCH_MAX = 1_000
/** Outcomes are not urgent, so they are batched. */
const GATHER_MS = 50
const RETRY_AFTER_MS = SECOND
const ANSWER_WITHIN_MS = 5 * SECOND

export interface DeliveryOutcomeReporterOptions {
  readonly client: EventOutcomesClient
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
  client,
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
    const reported = (await reportDisabled()) && (await reportSettled())
    running = undefined
    if (!reported) reportIn(RETRY_AFTER_MS)
    else if (again) reportIn(GATHER_MS)
  }

  const reportSettled = async (): Promise<boolean> => {
    for (;;) {
      const ids = await store.unreported(BATCH_MAX)
      if (ids.length === 0) return true
      if (stopped || !(await record(ids))) return false
      await store.commit({ reported: ids })
      if (ids.length < BATCH_MAX) return true
    }
  }

  const record = (ids: readonly EventId[]): Promise<boolean> =>
    new Promise((resolve) => {
      const outcomes = ids.map((event_id) => ({ event_id, outcome: 'settled' }))
      client.Record({ outcomes }, bearer(token), options(), (fault) => resolve(isDone(fault)))
    })

  const reportDisabled = async (): Promise<boolean> => {
    for (const [endpointId, reason] of toDisable) {
      const done = await new Promise<boolean>((resolve) => {
        const request = { endpoint_id: endpointId, reason }
        client.DisableEndpoint(request, bearer(token), options(), (fault) => resolve(isDone(fault)))
      })
      if (!done) return false
      toDisable.delete(endpointId)
    }
    return true
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
