/**
 * The scheduler of deliveries: decides which one is attempted next.
 *
 * Owns: endpoint queues, fair order, slots, loading from disk. Does not own: a single attempt
 * (sending/attempt), endpoint health (endpoint/endpoint_health), new events
 * (intake/event_consumer).
 *
 * - A failing endpoint does not delay others: failing endpoints, and attempts longer than a second,
 *   use the slots of the slow tier.
 * - Tenants take turns (fair queue), and a tenant may use as many slots of a tier as it leaves
 *   free: receivers that answer just in time do not delay those of others.
 * - Memory is bounded by queues and slots; further due deliveries stay on disk.
 * - A delivery leaves memory only after its result is on disk; an attempt whose result was not
 *   committed is repeated.
 * - Other changes to deliveries run in `withPausedQueue` and skip those in memory.
 * - A delivery that is due later than any pause ends was put off while the clock was ahead: it is
 *   due once no other one of its endpoint waits for its time.
 * - A delivery that cannot be attempted is set apart (store/stored_delivery), and the others of its
 *   endpoint go on.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { assert } from '../../src/base/assert.js'
import { instant, SECOND, type Clock, type Instant } from '../../src/base/clock.js'
import { ENDPOINTS_PER_TENANT_MAX } from '../../src/base/constants.js'
import { crashPoint } from '../../src/base/crash_point.js'
import { createFairQueue } from '../../src/base/fair_queue.js'
import { createFairShare } from '../../src/base/fair_share.js'
import type { DeliveryId, EndpointId, TenantId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import {
  abandonDelivery,
  attemptDelivery,
  type AttemptOptions,
  type AttemptResult,
} from './sending/attempt.js'
import { isPutOff, scaled } from './delivery/backoff.js'
import type { DeadLetterLog } from './dead_letter_log.js'
import { CLOSED, isOpen, PROBE_EVERY_MS, PROBE_NEW_EVERY_MS } from './endpoint/circuit_breaker.js'
import type { Endpoint } from './endpoint/endpoint.js'
import {
  clearFailing,
  recordOutcome,
  UNCHANGED,
  type DisableReason,
  type ProbePauses,
} from './endpoint/endpoint_health.js'
import {
  clearDueOnDisk,
  CONNECTIONS_PER_ENDPOINT,
  dueOnDisk,
  ENDPOINT_QUEUE_MAX,
  mayLoad,
  mayStart,
  mayTake,
  newEndpointQueue,
  release,
  spend,
  resetHealth,
  treatAsSlow,
  unload,
  type EndpointQueue,
} from './endpoint/endpoint_queue.js'
import type { FailedEndpoint } from './intake/event_outcome_reporter.js'
import type { Delivery, WebhookStore } from './store/store.js'
import type { FailingEndpoint, PausedQueueWork, PoolPort, PoolState } from './control/pool_port.js'

/** Half of it is for all endpoints of one tenant, each with all of its attempts. */
const SLOTS_MAX = 2 * ENDPOINTS_PER_TENANT_MAX * CONNECTIONS_PER_ENDPOINT
const FAST_WITHIN_MS = SECOND
const TICK_EVERY_MS = 50
const ABANDON_PAGE = 256
/** Time at a clean stop for attempts in flight, and then for reads of the store. */
const STOP_WITHIN_MS = 3 * SECOND
const EVER = instant(Number.MAX_SAFE_INTEGER)
const ON_DISK = Promise.resolve()

type Tier = 'fast' | 'slow'

interface InFlight {
  readonly queue: EndpointQueue
  readonly tenant: TenantId
  readonly url: string
  readonly startedAt: number
  slot: Tier
}

interface WantedRows {
  readonly now: Instant
  readonly until: Instant
  readonly limit: number
}

interface DueRows {
  readonly rows: readonly Delivery[]
  /** When a further one on disk is due. Null if there is none. */
  readonly next: Instant | null
}

export interface PoolOptions extends AttemptOptions {
  readonly store: WebhookStore
  /** Attempts a second to one endpoint. Null means unlimited. */
  readonly ratePerSecond: number | null
  readonly clock: Clock
  readonly log: Logger
  /** While the tenant is paused no attempt starts; attempts in flight complete. */
  readonly isPaused?: (tenant: TenantId) => boolean
  /** Called when an event may be settled. */
  readonly settled: () => void
  readonly disable: (failed: FailedEndpoint) => void
  readonly onAttempt: (result: AttemptResult) => void
  readonly deadLetters?: Omit<DeadLetterLog, 'stop'>
  /** Called when the dead deliveries of an endpoint on disk have changed. */
  readonly deadChanged?: () => void
  /** Called with a fault of ours: memory may differ from the disk, so the process must exit. */
  readonly failed: (fault: unknown) => void
}

export interface WebhookPool extends PoolPort {
  /** Resumes the deliveries on disk. */
  start(): Promise<void>
  /** Applies an update of the directory. */
  applyEndpoint(endpoint: Endpoint): void
  stop(): Promise<void>
}

export function createPool(options: PoolOptions): WebhookPool {
  const { store, clock, log, backoff, failed, isPaused = () => false } = options
  const probes: ProbePauses = {
    everyMs: scaled(PROBE_EVERY_MS, backoff),
    newEveryMs: scaled(PROBE_NEW_EVERY_MS, backoff),
  }
  const queues = new Map<EndpointId, EndpointQueue>()
  const waiting = {
    fast: createFairQueue<TenantId, EndpointQueue>(),
    slow: createFairQueue<TenantId, EndpointQueue>(),
  }
  const slots = {
    fast: createFairShare<TenantId>(SLOTS_MAX),
    slow: createFairShare<TenantId>(SLOTS_MAX),
  }
  /** In all queues. */
  let waitingInMemory = 0
  const requestsInFlight = new Set<InFlight>()
  const gapMs = options.ratePerSecond === null ? 0 : SECOND / options.ratePerSecond
  let ticking: NodeJS.Timeout | undefined
  /** No further attempt starts. */
  let stopping = false
  /** Results are discarded: the stop aborted these attempts. */
  let closed = false
  /** Reads of the store in progress: a stop waits for them, as the store is closed next. */
  const reads = new Set<Promise<void>>()
  let allCompleted: () => void = () => undefined

  const queueOf = (id: EndpointId): EndpointQueue => {
    let queue = queues.get(id)
    if (queue === undefined) queues.set(id, (queue = newEndpointQueue(id, null, gapMs)))
    return queue
  }

  const track = (read: Promise<void>): void => {
    reads.add(read)
    read.catch(failed).finally(() => reads.delete(read))
  }

  const start = async (): Promise<void> => {
    for (const { endpointId, since, failedAt } of await store.failing())
      Object.assign(queueOf(endpointId), { failingSince: since, failedAt })
    const backlog = await store.backlog()
    for (const { endpointId, dueAt } of backlog) dueOnDisk(queueOf(endpointId), dueAt)
    log.info(
      { deliveries: backlog.reduce((sum, { deliveries }) => sum + deliveries, 0) },
      'open deliveries are restored',
    )
    ticking = setInterval(tick, TICK_EVERY_MS)
  }

  const deliver = (deliveries: readonly Delivery[], stored = ON_DISK): void => {
    for (const delivery of deliveries) {
      const queue = queueOf(delivery.endpointId)
      if (mayTake(queue, delivery, waitingInMemory)) enqueue(queue, delivery)
    }
    startAll()
    stored.then(() => recordDue(deliveries)).catch(failed)
  }

  /** Records the due times of deliveries that did not fit in memory, once they are on disk. */
  const recordDue = (deliveries: readonly Delivery[]): void => {
    for (const { id, endpointId, context } of deliveries) {
      const queue = queueOf(endpointId)
      if (queue.held.has(id)) continue
      dueOnDisk(queue, context.dueAt)
      if (queue.endpoint?.status === 'deleted') track(abandonAll(queue))
    }
  }

  const enqueue = (queue: EndpointQueue, delivery: Delivery): void => {
    queue.waiting.push(delivery)
    waitingInMemory += 1
    queue.held.add(delivery.id)
    offer(queue)
  }

  const offer = (queue: EndpointQueue): void => {
    if (queue.endpoint === undefined || queue.isQueued || !mayStartNow(queue)) return
    queue.isQueued = true
    waiting[tierOf(queue)].add(queue.endpoint.tenant, queue)
  }

  const mayStartNow = (queue: EndpointQueue): boolean => {
    if (queue.endpoint === undefined || !mayStart(queue, clock.now())) return false
    return !isPaused(queue.endpoint.tenant)
  }

  const startAll = (): void => {
    startTier('slow')
    startTier('fast')
  }

  const startTier = (slot: Tier): void => {
    const share = slots[slot]
    while (share.held < SLOTS_MAX && !stopping) {
      const queue = waiting[slot].next((tenant) => share.mayTake(tenant))
      if (queue === undefined) return
      queue.isQueued = false
      if (tierOf(queue) === slot && mayStartNow(queue)) startFirst(queue, slot)
      offer(queue)
      if (mayLoad(queue, clock.now())) track(load(queue))
    }
  }

  const startFirst = (queue: EndpointQueue, slot: Tier): void => {
    const delivery = queue.waiting.shift()
    assert(
      delivery !== undefined && queue.endpoint !== undefined,
      'a queue that may start has an endpoint',
    )
    waitingInMemory -= 1
    const now = clock.now()
    const { endpoint } = queue
    const { tenant, url } = endpoint
    const request: InFlight = { queue, tenant, url, startedAt: now, slot }
    requestsInFlight.add(request)
    slots[slot].take(tenant)
    queue.inFlight += 1
    spend(queue, now)
    attemptDelivery(options, delivery, endpoint)
      .then(
        (result) => complete(request, result),
        (fault: unknown) => setApart(request, delivery, fault),
      )
      .catch(failed)
  }

  const setApart = (request: InFlight, delivery: Delivery, fault: unknown): void => {
    end(request)
    if (closed) return
    store.setApart(delivery, String(fault))
    release(request.queue, delivery.id)
    offer(request.queue)
    startAll()
  }

  const end = (request: InFlight): void => {
    requestsInFlight.delete(request)
    slots[request.slot].release(request.tenant)
    request.queue.inFlight -= 1
    if (requestsInFlight.size === 0) allCompleted()
  }

  const complete = async (request: InFlight, result: AttemptResult): Promise<void> => {
    const { queue } = request
    end(request)
    if (closed) return

    const now = clock.now()
    const late = now - request.startedAt > FAST_WITHIN_MS
    const healthChange = countsForHealth(request)
      ? recordOutcome(queue, { ...result.outcome, late }, now, probes)
      : UNCHANGED
    if (healthChange.disable !== null) requestDisable(request, healthChange.disable)
    if (isOpen(queue.breaker)) waitingInMemory -= unload(queue)
    offer(queue)
    startAll()

    const { failing, noLongerFailing } = healthChange
    const { delivery, attempt } = result
    await store.commit({ deliveries: [delivery], attempts: [attempt], failing, noLongerFailing })
    crashPoint('delivery.recorded')
    release(queue, delivery.id)
    dueOnDisk(queue, delivery.context.dueAt)
    if (delivery.context.dueAt === null) options.settled()
    if (delivery.state === 'dead') {
      options.deadLetters?.dead(delivery)
      options.deadChanged?.()
    }
    if (queue.endpoint?.status === 'deleted') track(abandonAll(queue))
    options.onAttempt(result)
  }

  const requestDisable = ({ queue, url }: InFlight, reason: DisableReason): void => {
    log.warn({ endpoint_id: queue.endpointId, reason }, 'requesting that the endpoint be disabled')
    queue.running = false
    waitingInMemory -= unload(queue)
    options.disable({ id: queue.endpointId, reason, url })
  }

  const readDue = async (
    { endpointId, held }: EndpointQueue,
    { now, until, limit }: WantedRows,
  ): Promise<DueRows> => {
    const rows = await store.due(endpointId, until, limit, held)
    if (rows.length === limit) return { rows, next: now }
    const next = await store.nextDue(endpointId, now)
    if (next === null || !isPutOff(next, now)) return { rows, next }
    const read = new Set([...held, ...rows.map(({ id }) => id)])
    const putOff = await store.due(endpointId, EVER, limit - rows.length, read)
    const isAll = putOff.length < limit - rows.length
    return { rows: [...rows, ...putOff.map((row) => dueAt(row, now))], next: isAll ? null : now }
  }

  const load = async (queue: EndpointQueue): Promise<void> => {
    const now = clock.now()
    // An open breaker probes with one delivery: the first that is due.
    const probing = isOpen(queue.breaker)
    const limit = probing ? 1 : ENDPOINT_QUEUE_MAX - queue.waiting.length
    queue.loading = true
    queue.dueOnDisk = null
    const { rows, next } = await readDue(queue, { now, until: probing ? EVER : now, limit })
    const fresh = rows.filter((row) => isOnDiskOnly(queue, row) && isOwnEvent(queue, row))
    queue.loading = false
    queue.releasedDuringLoad.clear()
    dueOnDisk(queue, next)
    if (!queue.running) {
      dueOnDisk(queue, fresh[0]?.context.dueAt ?? null)
      if (queue.endpoint?.status === 'deleted') track(abandonAll(queue))
      return
    }
    for (const delivery of fresh) enqueue(queue, delivery)
    startAll()
  }

  const isOnDiskOnly = (queue: EndpointQueue, { id }: { id: DeliveryId }): boolean =>
    !queue.held.has(id) && !queue.releasedDuringLoad.has(id)

  /** A damaged row could otherwise send an event of one partner to another. */
  const isOwnEvent = ({ endpoint }: EndpointQueue, delivery: Delivery): boolean => {
    if (endpoint === undefined || endpoint.tenant === delivery.tenant) return true
    store.setApart(delivery, 'its event is of another partner than its endpoint')
    return false
  }

  /** Ends the deliveries of a deleted endpoint; those in flight end when they complete. */
  const abandonAll = async (queue: EndpointQueue): Promise<void> => {
    if (queue.loading) return
    queue.loading = true
    for (;;) {
      clearDueOnDisk(queue)
      queue.releasedDuringLoad.clear()
      const rows = await store.due(queue.endpointId, EVER, ABANDON_PAGE, queue.held)
      const left = rows.filter((row) => isOnDiskOnly(queue, row))
      // One that came to the disk during the read has set `dueOnDisk`.
      if (closed || (left.length === 0 && queue.dueOnDisk === null)) break
      if (left.length === 0) continue
      await store.commit({ deliveries: left.map((row) => abandonDelivery(row, clock.now())) })
      options.deadLetters?.abandoned(queue.endpointId, left.length)
      options.settled()
    }
    queue.loading = false
    queue.releasedDuringLoad.clear()
  }

  const withPausedQueue = async (endpointId: EndpointId, work: PausedQueueWork): Promise<void> => {
    const queue = queueOf(endpointId)
    while (queue.loading) await new Promise((resolve) => setTimeout(resolve, 1))
    queue.loading = true
    const due = await work((delivery) => isOnDiskOnly(queue, delivery)).finally(() => {
      queue.loading = false
      queue.releasedDuringLoad.clear()
    })
    if (due !== null) options.deadChanged?.()
    if (queue.endpoint?.status === 'deleted') return track(abandonAll(queue))
    queue.breaker = CLOSED
    dueOnDisk(queue, due)
    if (!stopping && mayLoad(queue, clock.now())) track(load(queue))
  }

  const applyEndpoint = (endpoint: Endpoint): void => {
    // Without a queue there is no open delivery to abandon: start() made one for each on disk.
    if (endpoint.status === 'deleted' && !queues.has(endpoint.id)) return
    const queue = queueOf(endpoint.id)
    const before = queue.endpoint
    queue.endpoint = endpoint
    if (before !== undefined) applyChange(queue, before, endpoint)
    queue.running = endpoint.status === 'enabled'
    if (queue.running) {
      offer(queue)
      startAll()
      return
    }
    waitingInMemory -= unload(queue)
    // When it is enabled again it starts as a new endpoint.
    resetHealth(queue)
    endFailing(queue)
    if (endpoint.status === 'deleted') track(abandonAll(queue))
  }

  const endFailing = (queue: EndpointQueue): void => {
    const noLongerFailing = clearFailing(queue)
    if (noLongerFailing.length > 0) store.commit({ noLongerFailing }).catch(failed)
  }

  const applyChange = (queue: EndpointQueue, before: Endpoint, after: Endpoint): void => {
    if (after.url !== before.url) {
      queue.hasAnswered = false
      endFailing(queue)
    }
    if (after.breakerResetAt !== before.breakerResetAt) queue.breaker = CLOSED
  }

  const tick = (): void => {
    const now = clock.now()
    for (const request of requestsInFlight) {
      if (request.slot === 'fast' && now - request.startedAt > FAST_WITHIN_MS)
        moveToSlowTier(request)
    }
    for (const queue of queues.values()) {
      offer(queue)
      if (!stopping && mayLoad(queue, now)) track(load(queue))
    }
    startAll()
  }

  const moveToSlowTier = (request: InFlight): void => {
    request.slot = 'slow'
    treatAsSlow(request.queue)
    slots.fast.release(request.tenant)
    slots.slow.take(request.tenant)
  }

  const stop = async (): Promise<void> => {
    stopping = true
    clearInterval(ticking)
    if (requestsInFlight.size > 0) {
      await new Promise<void>((resolve) => {
        allCompleted = resolve
        setTimeout(resolve, STOP_WITHIN_MS)
      })
    }
    closed = true
    const timeout = sleep(STOP_WITHIN_MS, undefined, { ref: false })
    await Promise.race([Promise.allSettled(reads), timeout])
  }

  const state = (): PoolState => {
    const all = [...queues.values()]
    return {
      inFlight: requestsInFlight.size,
      waitingInMemory,
      openBreakers: all.filter((queue) => isOpen(queue.breaker)).length,
    }
  }

  const failing = (): readonly FailingEndpoint[] =>
    [...queues.values()].flatMap(({ endpointId, failingSince, breaker }) =>
      failingSince === null
        ? []
        : [{ endpointId, since: failingSince, breakerOpen: isOpen(breaker) }],
    )

  return { start, deliver, applyEndpoint, withPausedQueue, state, failing, stop }
}

/** Not for an endpoint that was disabled or given another URL during the attempt. */
const countsForHealth = ({ queue, url }: InFlight): boolean =>
  queue.running && queue.endpoint?.url === url

const dueAt = (delivery: Delivery, at: Instant): Delivery => ({
  ...delivery,
  context: { ...delivery.context, dueAt: at },
})

const tierOf = (queue: EndpointQueue): Tier => (queue.tier === 'slow' ? 'slow' : 'fast')
