/**
 * The spans of requests: which requests are traced, and the gateway's span of each.
 *
 * - Only an authenticated request is traced.
 * - A request begins a trace only if it names no payment; one that does joins its payment's.
 * - Its processor is told the span before the answer; the span ends with the answer.
 */
import { isSampled, newSpan, TRACEPARENT } from '../src/base/traceparent.js'
import type { Random } from '../src/base/random.js'
import type { ErrorCode } from '../src/base/errors.js'
import type { Tracer } from '../src/tracing/tracer.js'
import type { RequestContext } from './http/request_context.js'

export interface RequestTraces {
  /** Sets the request's trace. @param id what its path names. Empty means nothing */
  begin(request: RequestContext, id: string): void
  /** Records the span of an answered request. @param route its name */
  answered(request: TracedRequest, route: string, status: number): void
}

type TracedRequest = Pick<RequestContext, 'trace' | 'requestId' | 'startedAt' | 'method'> & {
  readonly code: ErrorCode | undefined
}

const MICROSECONDS = 1_000

export function createRequestTraces(tracer: Tracer, random: Random): RequestTraces {
  return {
    begin: (request, id) => {
      const entered = tracer.sampler.traceOf(request.header(TRACEPARENT), id === '')
      if (entered === undefined) return
      const { traceparent, isRoot } = entered
      if (isRoot) request.trace = { self: traceparent, parent: null }
      else if (!isSampled(traceparent)) request.trace = { self: traceparent, parent: traceparent }
      else request.trace = { self: newSpan(traceparent, random), parent: traceparent }
    },
    answered: ({ trace, requestId, startedAt, method, code }, route, status) => {
      if (trace === undefined || !isSampled(trace.self)) return
      tracer.record({
        ...{ name: route, kind: 'server', self: trace.self, parent: trace.parent },
        ...{ startedAt: startedAt * MICROSECONDS, endedAt: tracer.now() },
        attributes: {
          'http.request.method': method,
          'http.route': route.split(' ').at(-1),
          'http.response.status_code': status,
          'causeway.request_id': requestId,
          'causeway.code': code,
        },
        isFailed: status >= 500,
      })
    },
  }
}
