/**
 * Prometheus metrics of one gateway.
 *
 * - A metric name is never reused for another meaning. Label values are closed sets: route
 *   patterns, statuses, reasons.
 * - A request costs two additions. prom-client's counters hash their labels on each increment, so
 *   its values are set at scrape time.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { LimitName } from './admission/limits.js'
import type { ProcessorState, ShardState } from './upstream/processors.js'

export interface Metrics {
  readonly registry: Registry
  readonly observe: (route: string, status: number, elapsedMs: number) => void
  readonly authenticationRefused: (reason: string) => void
  /** Counts a request or a connection that this limit rejected. */
  readonly limited: (limit: LimitName | 'connections') => void
  /** Counts a connection that ended before its client had taken the answer. */
  readonly unread: () => void
  /** Sets the source of the held-requests gauge. */
  readonly watchHeld: (count: () => number) => void
}

/** Read at scrape time. */
export interface Gauges {
  readonly inFlight: () => number
  readonly streamOpen: () => boolean
  readonly directoryFresh: () => boolean
  /** Only where there are several. */
  readonly processors?: () => readonly ProcessorState[]
  /** Likewise. */
  readonly shards?: () => readonly ShardState[]
}

interface RouteMeter {
  readonly statuses: Map<number, number>
  readonly elapsedMs: RecordableHistogram
}

const QUANTILES = [0.5, 0.9, 0.99, 0.999]

export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  const routes = new Map<string, RouteMeter>()
  const refusals = new Map<string, number>()
  const limited = new Map<string, number>()
  let held = (): number => 0
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  new Counter({
    name: 'gateway_requests_total',
    help: 'Requests answered, by route and status',
    labelNames: ['route', 'status'],
    registers,
    collect() {
      this.reset()
      for (const [route, { statuses }] of routes) {
        for (const [status, count] of statuses) this.inc({ route, status }, count)
      }
    },
  })
  new Gauge({
    name: 'gateway_request_duration_seconds',
    help: 'Time from request head to answer, quantiles since process start',
    labelNames: ['route', 'quantile'],
    registers,
    collect() {
      for (const [route, { elapsedMs }] of routes) {
        for (const quantile of QUANTILES) {
          this.set({ route, quantile }, elapsedMs.percentile(quantile * 100) / 1_000)
        }
      }
    },
  })
  new Counter({
    name: 'gateway_authentication_refusals_total',
    help: 'Requests answered 401, by cause; the cause is not in the answer',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of refusals) this.inc({ reason }, count)
    },
  })
  new Counter({
    name: 'gateway_limited_total',
    help: 'Requests and connections rejected, by the limit they exceeded',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset()
      for (const [limit, count] of limited) this.inc({ limit }, count)
    },
  })
  const unread = new Counter({
    name: 'gateway_unread_answers_total',
    help: 'Connections that ended before the client had taken all of an answer',
    registers,
  })
  addGauge(registry, 'gateway_commands_in_flight', 'Commands without an answer yet', () =>
    gauges.inFlight(),
  )
  addGauge(registry, 'gateway_calls_held', 'Requests queued for the processor', () => held())
  addGauge(registry, 'gateway_stream_open', '1 while the processor stream is open', () =>
    Number(gauges.streamOpen()),
  )
  addGauge(registry, 'gateway_directory_fresh', '1 while directory updates arrive', () =>
    Number(gauges.directoryFresh()),
  )

  if (gauges.processors !== undefined) addProcessorGauges(registry, gauges.processors)
  if (gauges.shards !== undefined) addShardGauge(registry, gauges.shards)

  const meterOf = (route: string): RouteMeter => {
    let meter = routes.get(route)
    if (meter === undefined) {
      meter = { statuses: new Map(), elapsedMs: createHistogram() }
      routes.set(route, meter)
    }
    return meter
  }
  return {
    registry,
    observe: (route, status, elapsedMs) => {
      const { statuses, elapsedMs: histogram } = meterOf(route)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      // The histogram starts at 1; a clock that moved back counts as 1 ms.
      histogram.record(Math.max(1, elapsedMs))
    },
    authenticationRefused: (reason) => countIn(refusals, reason),
    limited: (limit) => countIn(limited, limit),
    unread: () => unread.inc(),
    watchHeld: (count) => {
      held = count
    },
  }
}

function countIn(counts: Map<string, number>, label: string): void {
  counts.set(label, (counts.get(label) ?? 0) + 1)
}

/** Addresses and shards are what operators configure, so the label values are a closed set. */
function addProcessorGauges(registry: Registry, states: () => readonly ProcessorState[]): void {
  new Gauge({
    name: 'gateway_processor_up',
    help: '1 while the streams of the processor are open',
    labelNames: ['processor', 'shard'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { address, shard, up } of states()) {
        this.set({ processor: address, shard }, Number(up))
      }
    },
  })
  new Gauge({
    name: 'gateway_processor_epoch',
    help: 'Epoch of the processor, from its directory stream',
    labelNames: ['processor', 'shard'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { address, shard, epoch } of states()) {
        if (shard !== '') this.set({ processor: address, shard }, epoch)
      }
    },
  })
}

function addShardGauge(registry: Registry, shards: () => readonly ShardState[]): void {
  new Gauge({
    name: 'gateway_shard_routed',
    help: '1 while this gateway has a processor for the shard, 0 while its partners get 503',
    labelNames: ['shard'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { shard, routed } of shards()) this.set({ shard }, Number(routed))
    },
  })
}

function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}
