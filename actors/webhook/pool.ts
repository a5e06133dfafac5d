/**
 * The pool: decides which delivery is tried next.
 *
 * Owns: lanes, turns, slots, loading from disk. Does not own: a single try (webhook/attempt), what
 * an answer says about an endpoint (webhook/health), new events (webhook/intake).
 *
 * P1. A dead endpoint delays nobody else. Endpoints that fail, and tries that take longer than a
 *     second, use slots of their own; the prompt ones never wait for them.
 * P2. Partners take turns, whatever they have waiting.
 * P3. Memory is bounded by lanes and slots, not by what is due: the rest is on disk.
 * P4. A delivery leaves memory only after its result is on disk; a try whose result was not written
 *     is made again.
 * P5. Whoever else changes deliveries has their lane to himself, and leaves alone what is in
 *     memory.
 */
import { assert } from '../../src/base/assert.js'
import { instant, SECOND, type Clock, type Instant } from '../../src/base/clock.js'
import { createFairQueue } from '../../src/base/fair_queue.js'
import type { DeliveryId, EndpointId, TenantId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import { abandonDelivery, tryDelivery, type AttemptOptions, type Tried } from './attempt.js'
import { scaled } from './backoff.js'
import { CLOSED, isOpen, PROBE_EVERY_MS, PROBE_UNHEARD_EVERY_MS } from './breaker.js'
import type { Endpoint } from './endpoint.js'
import { learn, recover, type DisableReason, type ProbePauses } from './health.js'
import {
  dueOnDisk,
  LANE_MAX,
  mayLoad,
  mayStart,
  mayTake,
  newLane,
  release,
  spend,
  startAnew,
  suspect,
  unload,
  type Lane,
} from './lane.js'
import type { Delivery, WebhookStore } from './store.js'

const SLOTS_MAX = 64
const PROMPT_WITHIN_MS = SECOND
const LOOK_EVERY_MS = 50
const ABANDON_PAGE = 256
/** Tries under way get this long at a clean stop. */
const STOP_WITHIN_MS = 3 * SECOND
const EVER = instant(Number.MAX_SAFE_INTEGER)
const ON_DISK = Promise.resolve()

type Class = 'prompt' | 'slow'

interface Flight {
  readonly lane: Lane
  readonly startedAt: number
  slot: Class
}

export interface PoolOptions extends AttemptOptions {
  readonly store: WebhookStore
  /** Tries a second at one endpoint; null: no bound. */
  readonly ratePerSecond: number | null
  readonly clock: Clock
  readonly log: Logger
  /** Told when an event may be settled. */
  readonly settled: () => void
  readonly disable: (endpointId: EndpointId, reason: DisableReason) => void
  readonly tried: (tried: Tried) => void
}

export interface PoolState {
  readonly inFlight: number
  readonly waitingInMemory: number
  readonly openBreakers: number
}

export interface FailingEndpoint {
  readonly endpointId: EndpointId
  readonly since: Instant
  readonly breakerOpen: boolean
}

/** @param rests false for what is in memory */
export type Revival = (rests: (delivery: { id: DeliveryId }) => boolean) => Promise<Instant | null>

export interface WebhookPool {
  /** Takes up what is on disk. */
  start(): Promise<void>
  /** Takes new deliveries, whose rows are on disk, or will be once `stored` resolves. */
  deliver(deliveries: readonly Delivery[], stored?: Promise<void>): void
  /** Takes what the directory tells. */
  meet(endpoint: Endpoint): void
  /**
   * Has `work` change deliveries of an endpoint that rest on disk, and tries what is due at once,
   * whatever the endpoint's last answers were. It returns when the first of them is due; null:
   * nothing changed.
   */
  revive(endpointId: EndpointId, work: Revival): Promise<void>
  /** While it is paused no try begins; those under way land. */
  pause(paused: boolean): void
  /** For metrics. */
  state(): PoolState
  /** Endpoints that do nothing but fail. */
  failing(): readonly FailingEndpoint[]
  stop(): Promise<void>
}

export function createPool(options: PoolOptions): WebhookPool {
  const { store, clock, log, backoff } = options
  const probes: ProbePauses = {
    everyMs: scaled(PROBE_EVERY_MS, backoff),
    unheardEveryMs: scaled(PROBE_UNHEARD_EVERY_MS, backoff),
  }
  const lanes = new Map<EndpointId, Lane>()
  const waiting = {
    prompt: createFairQueue<TenantId, Lane>(),
    slow: createFairQueue<TenantId, Lane>(),
  }
  const used = { prompt: 0, slow: 0 }
  const flights = new Set<Flight>()
  const gapMs = options.ratePerSecond === null ? 0 : SECOND / options.ratePerSecond
  let looking: NodeJS.Timeout | undefined
  /** No further try begins. */
  let stopping = false
  let paused = false
  /** What lands now was cut off by ourselves and says nothing. */
  let closed = false
  let allLanded: () => void = () => undefined

  const laneOf = (id: EndpointId): Lane => {
    let lane = lanes.get(id)
    if (lane === undefined) lanes.set(id, (lane = newLane(id, null, gapMs)))
    return lane
  }

  const start = async (): Promise<void> => {
    for (const [endpointId, since] of await store.failingSince()) {
      laneOf(endpointId).failingSince = since
    }
    for (const { endpointId, dueAt } of await store.backlog()) dueOnDisk(laneOf(endpointId), dueAt)
    looking = setInterval(look, LOOK_EVERY_MS)
  }

  const deliver = (deliveries: readonly Delivery[], stored = ON_DISK): void => {
    for (const delivery of deliveries) {
      const lane = laneOf(delivery.endpointId)
      if (mayTake(lane, delivery)) enqueue(lane, delivery)
    }
    startAll()
    void stored.then(() => leaveToDisk(deliveries))
  }

  /** What is not in memory is found on disk: not before it is there. */
  const leaveToDisk = (deliveries: readonly Delivery[]): void => {
    for (const { id, endpointId, context } of deliveries) {
      const lane = laneOf(endpointId)
      if (lane.held.has(id)) continue
      dueOnDisk(lane, context.dueAt)
      if (lane.endpoint?.status === 'deleted') void abandonAll(lane)
    }
  }

  const enqueue = (lane: Lane, delivery: Delivery): void => {
    lane.queue.push(delivery)
    lane.held.add(delivery.id)
    join(lane)
  }

  const join = (lane: Lane): void => {
    if (lane.endpoint === undefined || !mayStart(lane, clock.now())) return
    if (lane.inLine) return
    lane.inLine = true
    waiting[classOf(lane)].add(lane.endpoint.tenant, lane)
  }

  const startAll = (): void => {
    startClass('slow')
    startClass('prompt')
  }

  const startClass = (slot: Class): void => {
    while (used[slot] < SLOTS_MAX && !stopping && !paused) {
      const lane = waiting[slot].next()
      if (lane === undefined) return
      lane.inLine = false
      if (classOf(lane) === slot && mayStart(lane, clock.now())) startFirst(lane, slot)
      join(lane)
      if (mayLoad(lane, clock.now())) void load(lane)
    }
  }

  const startFirst = (lane: Lane, slot: Class): void => {
    const delivery = lane.queue.shift()
    assert(delivery !== undefined && lane.endpoint !== undefined, 'a lane that may start can')
    const now = clock.now()
    const flight: Flight = { lane, startedAt: now, slot }
    flights.add(flight)
    used[slot] += 1
    lane.inFlight += 1
    spend(lane, now)
    void tryDelivery(options, delivery, lane.endpoint).then((tried) => land(flight, tried))
  }

  const land = async (flight: Flight, tried: Tried): Promise<void> => {
    const { lane } = flight
    flights.delete(flight)
    used[flight.slot] -= 1
    lane.inFlight -= 1
    if (flights.size === 0) allLanded()
    if (closed) return // P4

    const now = clock.now()
    const late = now - flight.startedAt > PROMPT_WITHIN_MS
    const verdict = learn(lane, { ...tried.outcome, late }, now, probes)
    if (verdict.disable !== null) halt(lane, verdict.disable)
    if (isOpen(lane.breaker)) unload(lane)
    join(lane)
    startAll()

    const { failing, recovered } = verdict
    const { delivery, attempt } = tried
    await store.commit({ deliveries: [delivery], attempts: [attempt], failing, recovered })
    release(lane, delivery.id)
    dueOnDisk(lane, delivery.context.dueAt)
    if (delivery.context.dueAt === null) options.settled()
    if (lane.endpoint?.status === 'deleted') void abandonAll(lane)
    options.tried(tried)
  }

  const halt = (lane: Lane, reason: DisableReason): void => {
    log.warn({ endpoint: lane.endpointId, reason }, 'endpoint to be disabled')
    lane.running = false
    unload(lane)
    options.disable(lane.endpointId, reason)
  }

  const load = async (lane: Lane): Promise<void> => {
    const now = clock.now()
    // An open breaker wants one delivery to try: a due one, else the one that is due first.
    const probing = isOpen(lane.breaker)
    const limit = (probing ? 1 : LANE_MAX - lane.queue.length) + lane.held.size
    lane.loading = true
    lane.dueOnDisk = null
    const rows = await store.due(lane.endpointId, probing ? EVER : now, limit)
    const next = rows.length === limit ? now : await store.nextDue(lane.endpointId, now)
    const fresh = rows.filter((row) => isOnDiskOnly(lane, row))
    lane.loading = false
    lane.releasedMeanwhile.clear()
    dueOnDisk(lane, next)
    if (!lane.running) {
      dueOnDisk(lane, fresh[0]?.context.dueAt ?? null)
      if (lane.endpoint?.status === 'deleted') void abandonAll(lane)
      return
    }
    for (const delivery of fresh) enqueue(lane, delivery)
    startAll()
  }

  const isOnDiskOnly = (lane: Lane, { id }: { id: DeliveryId }): boolean =>
    !lane.held.has(id) && !lane.releasedMeanwhile.has(id)

  /** Ends what a deleted endpoint has left; a try that is under way is ended when it lands. */
  const abandonAll = async (lane: Lane): Promise<void> => {
    if (lane.loading) return
    lane.loading = true
    lane.dueOnDisk = null
    for (;;) {
      lane.releasedMeanwhile.clear()
      const rows = await store.due(lane.endpointId, EVER, ABANDON_PAGE + lane.held.size)
      const left = rows.filter((row) => isOnDiskOnly(lane, row))
      if (left.length === 0) break
      await store.commit({ deliveries: left.map((row) => abandonDelivery(row, clock.now())) })
      options.settled()
    }
    lane.loading = false
    lane.releasedMeanwhile.clear()
  }

  const revive = async (endpointId: EndpointId, work: Revival): Promise<void> => {
    const lane = laneOf(endpointId)
    while (lane.loading) await new Promise((resolve) => setTimeout(resolve, 1))
    lane.loading = true
    const due = await work((delivery) => isOnDiskOnly(lane, delivery)).finally(() => {
      lane.loading = false
      lane.releasedMeanwhile.clear()
    })
    if (lane.endpoint?.status === 'deleted') return void abandonAll(lane)
    lane.breaker = CLOSED
    dueOnDisk(lane, due)
    if (!stopping && mayLoad(lane, clock.now())) void load(lane)
  }

  const meet = (endpoint: Endpoint): void => {
    // The start has made a lane for whatever is open on disk.
    if (endpoint.status === 'deleted' && !lanes.has(endpoint.id)) return
    const lane = laneOf(endpoint.id)
    const before = lane.endpoint
    lane.endpoint = endpoint
    if (before !== undefined) takeChange(lane, before, endpoint)
    lane.running = endpoint.status === 'enabled'
    if (lane.running) {
      join(lane)
      startAll()
      return
    }
    unload(lane)
    // When it is enabled again it starts with a clean sheet.
    startAnew(lane)
    const recovered = recover(lane)
    if (recovered.length > 0) void store.commit({ recovered })
    if (endpoint.status === 'deleted') void abandonAll(lane)
  }

  const takeChange = (lane: Lane, before: Endpoint, after: Endpoint): void => {
    if (after.url !== before.url) lane.hasAnswered = false
    if (after.breakerResetAt !== before.breakerResetAt) lane.breaker = CLOSED
  }

  const look = (): void => {
    const now = clock.now()
    for (const flight of flights) {
      if (flight.slot === 'prompt' && now - flight.startedAt > PROMPT_WITHIN_MS) makeSlow(flight)
    }
    for (const lane of lanes.values()) {
      join(lane)
      if (!stopping && mayLoad(lane, now)) void load(lane)
    }
    startAll()
  }

  const makeSlow = (flight: Flight): void => {
    flight.slot = 'slow'
    suspect(flight.lane)
    used.prompt -= 1
    used.slow += 1
  }

  const pause = (wanted: boolean): void => {
    if (wanted !== paused) log.info({ paused: wanted }, 'deliveries paused or resumed')
    paused = wanted
    startAll()
  }

  const stop = async (): Promise<void> => {
    stopping = true
    clearInterval(looking)
    if (flights.size > 0) {
      await new Promise<void>((resolve) => {
        allLanded = resolve
        setTimeout(resolve, STOP_WITHIN_MS)
      })
    }
    closed = true
  }

  const state = (): PoolState => {
    const all = [...lanes.values()]
    return {
      inFlight: flights.size,
      waitingInMemory: all.reduce((sum, lane) => sum + lane.queue.length, 0),
      openBreakers: all.filter((lane) => isOpen(lane.breaker)).length,
    }
  }

  const failing = (): readonly FailingEndpoint[] =>
    [...lanes.values()].flatMap(({ endpointId, failingSince, breaker }) =>
      failingSince === null
        ? []
        : [{ endpointId, since: failingSince, breakerOpen: isOpen(breaker) }],
    )

  return { start, deliver, meet, revive, pause, state, failing, stop }
}

const classOf = (lane: Lane): Class => (lane.trust === 'suspect' ? 'slow' : 'prompt')
