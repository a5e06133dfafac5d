/**
 * The tracer of one process: what spans need from their surroundings, and where they go.
 *
 * Owns: its settings, time in microseconds. Does not own: which spans there are (gateway,
 * processor, rails, webhook pool).
 *
 * - Without OTLP_URL there is no tracer, and no request is traced.
 * - The collector's answer is not read, redirects are not followed.
 */
import type { Clock } from '../base/clock.js'
import type { Logger } from '../base/log.js'
import type { Random } from '../base/random.js'
import { readSecretFile } from '../files/secret_file.js'
import type { Settings } from '../settings/settings.js'
import { newSpan, type Traceparent } from '../base/traceparent.js'
import type { Metrics } from '../metrics/metrics.js'
import { createExporter } from './exporter.js'
import { otlpRequest } from './otlp.js'
import { createSampler, type Sampler } from './sampler.js'
import type { Attributes, Span } from './span.js'

export interface Tracer {
  readonly sampler: Sampler
  /** Epoch microseconds. */
  now(): number
  /** A moment of `performance.now()` in epoch microseconds. */
  at(elapsedMs: number): number
  /** A new span in the trace of this one. */
  spanIn(of: Traceparent): Traceparent
  record(span: Span): void
  /** Sends what waits, for at most a second. */
  stop(): Promise<void>
}

export type TracingSettings = Pick<Settings, 'OTLP_URL' | 'OTLP_HEADERS_FILE' | 'TRACE_SAMPLE'>

export interface TracerOptions {
  /** The kind of the process. */
  readonly process: string
  readonly settings: TracingSettings
  readonly metrics: Metrics
  readonly clock: Clock
  /** Milliseconds on a clock that is never set back. */
  readonly elapsed: () => number
  readonly random: Random
  readonly log: Logger
}

const MICROSECONDS = 1_000
const DRIFT_MAX_MS = 20
const PATH = '/v1/traces'

/** Undefined means that tracing is off. */
export function openTracer(options: TracerOptions): Tracer | undefined {
  const { process, settings, metrics, clock, elapsed, random, log } = options
  if (settings.OTLP_URL === '') return undefined
  const spans = metrics.counter('causeway_trace_spans_total')
  const dropped = metrics.counter('causeway_trace_spans_dropped_total')
  for (const reason of ['queue_full', 'not_taken']) dropped.add(0, reason)
  spans.add(0)
  const headers = {
    'content-type': 'application/json',
    ...headersIn(settings.OTLP_HEADERS_FILE),
  }
  const url = settings.OTLP_URL.replace(/\/+$/, '') + PATH
  const resource = resourceOf(process)
  const exporter = createExporter({
    post: async (batch, withinMs) => {
      const answer = await fetch(url, {
        ...{ method: 'POST', headers, redirect: 'error' },
        body: JSON.stringify(otlpRequest(resource, batch)),
        signal: AbortSignal.timeout(withinMs),
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`status ${answer.status}`)
    },
    dropped: (count, reason) => dropped.add(count, reason),
    log,
  })
  /** Follows the wall clock, in steps: within a trace, durations matter more than its drift. */
  let origin = clock.now() - elapsed()
  const at = (elapsedMs: number): number => (origin + elapsedMs) * MICROSECONDS
  return {
    sampler: createSampler(Number(settings.TRACE_SAMPLE), random),
    now: () => at(elapsed()),
    at,
    spanIn: (of) => newSpan(of, random),
    record: (span) => {
      const drift = clock.now() - elapsed() - origin
      if (Math.abs(drift) > DRIFT_MAX_MS) origin += drift
      spans.inc()
      exporter.add(span)
    },
    stop: () => exporter.stop(),
  }
}

const resourceOf = (process: string): Attributes => ({
  'service.namespace': 'causeway',
  'service.name': `causeway-${process}`,
})

const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): *([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/

/** One `Name: value` a line; `#` begins a comment. */
function headersIn(file: string): Readonly<Record<string, string>> {
  if (file === '') return {}
  const lines = readSecretFile(file, { isNamed: true }).split('\n')
  const headers = lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line, index) => {
      const [, name, value] = HEADER.exec(line) ?? []
      if (name === undefined || value === undefined) {
        throw new Error(`OTLP_HEADERS_FILE=${file}: header ${index + 1} is not \`Name: value\``)
      }
      return [name, value] as const
    })
  return Object.fromEntries(headers)
}
