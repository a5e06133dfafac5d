/**
 * Metrics of one gateway.
 *
 * - Label values are closed sets: route patterns, methods, statuses, reasons.
 * - A request costs a look-up of its route and two additions.
 */
import { SECOND } from '../src/base/clock.js'
import type { Buckets } from '../src/metrics/buckets.js'
import type { Metrics } from '../src/metrics/metrics.js'
import type { LimitName } from './admission/limits.js'
import type { ProcessorState, ShardState } from './upstream/processors.js'

export interface GatewayMetrics {
  /** @param route `METHOD /path`, or the name of a refusal before its route is known */
  readonly observe: (route: string, method: string, status: number, elapsedMs: number) => void
  readonly authenticationRefused: (reason: string) => void
  /** Counts a request or a connection that this limit rejected. */
  readonly limited: (limit: LimitName | 'connections') => void
  /** Counts a connection that ended before its client had taken the answer. */
  readonly unread: () => void
  /** Says whether the certificate in its files is the one in use. Called with TLS only. */
  readonly certificateChecked: (isInUse: boolean) => void
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

interface StatusMeter {
  readonly requests: { value: number }
  readonly duration: Buckets
}

export function createGatewayMetrics(metrics: Metrics, gauges: Gauges): GatewayMetrics {
  let held = (): number => 0
  let isCertificateInUse: boolean | undefined
  metrics.read('causeway_gateway_commands_in_flight', () => gauges.inFlight())
  metrics.read('causeway_gateway_requests_held', () => held())
  metrics.read('causeway_gateway_stream_open', () => Number(gauges.streamOpen()))
  metrics.read('causeway_gateway_directory_fresh', () => Number(gauges.directoryFresh()))
  if (gauges.processors !== undefined) readProcessors(metrics, gauges.processors)
  if (gauges.shards !== undefined) readShards(metrics, gauges.shards)
  const refusals = metrics.counter('causeway_http_authentication_refusals_total')
  const limited = metrics.counter('causeway_http_limited_total')
  const unread = metrics.counter('causeway_http_unread_answers_total')
  unread.add(0)
  return {
    observe: requestMeter(metrics),
    authenticationRefused: (reason) => refusals.inc(reason),
    limited: (limit) => limited.inc(limit),
    unread: () => unread.inc(),
    certificateChecked: (isInUse) => {
      if (isCertificateInUse === undefined) {
        metrics.read('causeway_http_certificate_in_use', () => Number(isCertificateInUse))
      }
      isCertificateInUse = isInUse
    },
    watchHeld: (count) => {
      held = count
    },
  }
}

function requestMeter(metrics: Metrics): GatewayMetrics['observe'] {
  const requests = metrics.counter('causeway_http_requests_total')
  const routes = new Map<string, Map<number, StatusMeter>>()

  const meterOf = (name: string, method: string, status: number): StatusMeter => {
    const route = name.startsWith(`${method} `) ? name.slice(method.length + 1) : name
    // Without a route a method is what the client wrote.
    const known = route === name ? '' : method
    const codeClass = `${Math.floor(status / 100)}xx`
    return {
      requests: requests.total(route, known, String(status)),
      duration: metrics.histogram(
        'causeway_http_request_duration_seconds',
        ...([route, known, codeClass] as const),
      ),
    }
  }

  return (name, method, status, elapsedMs) => {
    let statuses = routes.get(name)
    if (statuses === undefined) routes.set(name, (statuses = new Map<number, StatusMeter>()))
    let meter = statuses.get(status)
    if (meter === undefined) statuses.set(status, (meter = meterOf(name, method, status)))
    meter.requests.value += 1
    // A clock that moved back counts as 0.
    meter.duration.observe(Math.max(0, elapsedMs) / SECOND)
  }
}

/** Addresses and shards are what operators configure, so the label values are a closed set. */
function readProcessors(metrics: Metrics, states: () => readonly ProcessorState[]): void {
  metrics.readAll('causeway_gateway_processor_up', () =>
    states().map(({ address, shard, up }) => [Number(up), address, shard]),
  )
  metrics.readAll('causeway_gateway_processor_epoch', () =>
    states()
      .filter(({ shard }) => shard !== '')
      .map(({ address, shard, epoch }) => [epoch, address, shard]),
  )
}

function readShards(metrics: Metrics, shards: () => readonly ShardState[]): void {
  metrics.readAll('causeway_gateway_shard_routed', () =>
    shards().map(({ shard, routed }) => [Number(routed), shard]),
  )
}
