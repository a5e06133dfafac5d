/**
 * Which requests are traced: decided once, where a request enters.
 *
 * - Without a trace of its caller, a request begins one with the probability of TRACE_SAMPLE.
 * - A caller's trace goes on. It is sampled when its caller samples it, within a bound: as many
 *   requests as TRACE_SAMPLE of all, so that a caller cannot have everything traced.
 */
import { isSampled, newTrace, readTraceparent, unsampled } from '../base/traceparent.js'
import type { Traceparent } from '../base/traceparent.js'
import type { Random } from '../base/random.js'

/** Traces of callers that may come at once after a quiet time. */
const BURST = 20

export interface Sampler {
  /**
   * The caller's span, or the request's own (`isRoot`) in a new trace. Undefined means not traced.
   *
   * @param mayBegin whether the request can begin a trace
   */
  traceOf(given: unknown, mayBegin: boolean): EnteredTrace | undefined
}

export interface EnteredTrace {
  readonly traceparent: Traceparent
  readonly isRoot: boolean
}

/** @param share from 0 to 1 */
export function createSampler(share: number, random: Random): Sampler {
  let credit = share === 0 ? 0 : BURST
  return {
    traceOf: (given, mayBegin) => {
      credit = Math.min(BURST, credit + share)
      const caller = typeof given === 'string' ? readTraceparent(given) : undefined
      if (caller === undefined) {
        const begins = mayBegin && share > 0 && random.fraction() < share
        return begins ? { traceparent: newTrace(random), isRoot: true } : undefined
      }
      const isTraced = isSampled(caller) && credit >= 1
      if (isTraced) credit -= 1
      return { traceparent: isTraced ? caller : unsampled(caller), isRoot: false }
    },
  }
}
