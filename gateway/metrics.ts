/**
 * Metrics of one gateway.
 *
 * Owns: their names, counting. Does not own: serving them (ops).
 *
 * - A name is never reused for another meaning. Labels are closed sets: route patterns, statuses,
 *   reasons.
 * - A request costs two additions; prom-client's own counters hash their labels at every step, so
 *   its numbers are set when somebody looks.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { LimitName } from './admission/limits.js'

export interface Metrics {
  readonly registry: Registry
  readonly observe: (route: string, status: number, elapsedMs: number) => void
  readonly authenticationRefused: (reason: string) => void
  /** A request or a connection was too many for this limit. */
  readonly limited: (limit: LimitName | 'connections') => void
  /** Where the number of calls that are held is read. */
  readonly watchHeld: (count: () => number) => void
}

/** Read when somebody looks. */
export interface Gauges {
  readonly inFlight: () => number
  readonly streamOpen: () => boolean
  readonly directoryFresh: () => boolean
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
    help: 'Requests answered',
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
    help: 'From the head of a request to its answer, since the start of the process',
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
    help: 'Answers 401 of this gateway by what was wrong; callers are not told',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of refusals) this.inc({ reason }, count)
    },
  })
  new Counter({
    name: 'gateway_limited_total',
    help: 'Requests refused and connections closed at once, by the limit they were above',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset()
      for (const [limit, count] of limited) this.inc({ limit }, count)
    },
  })
  addGauge(registry, 'gateway_commands_in_flight', 'Commands the processor has not answered', () =>
    gauges.inFlight(),
  )
  addGauge(
    registry,
    'gateway_calls_held',
    'Calls that wait here until the processor has room',
    () => held(),
  )
  addGauge(registry, 'gateway_stream_open', '1 while the processor can be reached', () =>
    Number(gauges.streamOpen()),
  )
  addGauge(registry, 'gateway_directory_fresh', '1 while changes of keys arrive', () =>
    Number(gauges.directoryFresh()),
  )

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
      // The histogram starts at 1; a clock that is set back counts as no time.
      histogram.record(Math.max(1, elapsedMs))
    },
    authenticationRefused: (reason) => countIn(refusals, reason),
    limited: (limit) => countIn(limited, limit),
    watchHeld: (count) => {
      held = count
    },
  }
}

function countIn(counts: Map<string, number>, label: string): void {
  counts.set(label, (counts.get(label) ?? 0) + 1)
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
