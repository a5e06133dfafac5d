/**
 * What is told of the calls of the gRPC port: figures of all, and a log line of each that failed or
 * was refused. Gateways do the same for requests of partners.
 *
 * - The lines a second are bounded for each caller; one more line counts the others. Calls without
 *   a valid credential are only counted.
 * - A line has names and codes, and nothing of a request. Streams of our own processes have none:
 *   they end with each restart.
 */
import { status } from '@grpc/grpc-js'
import { callerOf, type Caller } from '../../auth/caller.js'
import { SECOND, type Clock } from '../../base/clock.js'
import { createLineBound, createLineBounds } from '../../base/line_bound.js'
import type { Logger } from '../../base/log.js'
import type { CallObserver, EndedCall } from '../../grpc/ended_calls.js'
import type { Metrics } from '../../metrics/metrics.js'
import { ERROR_METADATA } from './grpc_error.js'
import { REQUEST_ID_METADATA } from './request_id.js'

export interface CallReportOptions {
  readonly metrics: Metrics
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds on a clock that is never set back. */
  readonly elapsed: () => number
  readonly log: Logger
  /** Lines of one caller. */
  readonly refusalsPerSecond: number
}

/** The service failed, or did not answer in time. */
const FAILED: readonly status[] = [
  ...[status.UNKNOWN, status.INTERNAL, status.DATA_LOSS],
  ...[status.UNAVAILABLE, status.DEADLINE_EXCEEDED],
]
/** In a cluster a caller asks one processor after the other. */
const ASKED_ELSEWHERE = 'not_here'

export function createCallReport(options: CallReportOptions): CallObserver {
  const { metrics, clock, elapsed, log, refusalsPerSecond } = options
  const calls = metrics.counter('causeway_grpc_calls_total')
  const unauthenticated = createLineBound(0, (count) =>
    log.info({ count }, 'calls without a valid credential'),
  )
  const bounds = createLineBounds(refusalsPerSecond, (caller, omitted) =>
    log.info({ caller, omitted }, 'calls not logged: rate limit of log lines reached'),
  )

  const tell = (call: EndedCall, elapsedMs: number): void => {
    if (call.code === status.OK || call.code === status.CANCELLED) return
    const caller = call.metadata && callerOf(call.metadata)
    if (caller === undefined) return void unauthenticated.admits(clock.now())
    if (call.isStream && !isOfOthers(caller)) return
    const line = lineOf(call, caller, elapsedMs)
    if (line.code === ASKED_ELSEWHERE || !bounds.admits(caller.name, clock.now())) return
    if (FAILED.includes(call.code)) log.warn(line, 'call failed')
    else log.info(line, 'call refused')
  }

  return () => {
    const startedAt = elapsed()
    return (call) => {
      const elapsedMs = elapsed() - startedAt
      const [, service = '', method = ''] = call.path.split('/')
      calls.inc(service, method, status[call.code])
      if (!call.isStream) {
        const durations = metrics.histogram('causeway_grpc_call_duration_seconds', service, method)
        durations.observe(elapsedMs / SECOND)
      }
      tell(call, elapsedMs)
    }
  }
}

const isOfOthers = ({ kind }: Caller): boolean => kind === 'service' || kind === 'operator'

function lineOf({ path, code, answerMetadata, trailers }: EndedCall, caller: Caller, ms: number) {
  const [requestId] = answerMetadata?.get(REQUEST_ID_METADATA) ?? []
  const [error] = trailers?.get(ERROR_METADATA) ?? []
  return {
    ...(requestId === undefined ? {} : { request_id: requestId }),
    caller: caller.name,
    call: path.slice(1),
    code: error ?? status[code],
    elapsed_ms: Math.round(ms),
  }
}
