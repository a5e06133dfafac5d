/**
 * `traceparent` of W3C Trace Context: a trace, a span in it, and whether it is sampled.
 *
 * Does not own: which traces are sampled, spans (src/tracing).
 *
 * - Read strictly: a value that the standard does not allow counts as none.
 * - Kept in version 00. Of the flags only `sampled` is kept.
 */
import type { Random } from './random.js'

/** `00-{trace id}-{span id}-{flags}`, 55 characters. */
export type Traceparent = string & { readonly __brand: 'Traceparent' }

export const TRACEPARENT = 'traceparent'

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
const SAMPLED = 1
const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8
const TRACE_AT = 3
const SPAN_AT = 36
const FLAGS_AT = 53

/** Undefined if it is not allowed. A later version may have more members behind those of 00. */
export function readTraceparent(text: string): Traceparent | undefined {
  const [, version, trace, span, flags = '', more] = FORM.exec(text) ?? []
  if (trace === undefined || span === undefined || version === 'ff') return undefined
  if (trace === NO_TRACE || span === NO_SPAN) return undefined
  if (version === '00' && more !== undefined) return undefined
  return join(trace, span, (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED)
}

const join = (trace: string, span: string, isSampled: boolean): Traceparent =>
  `00-${trace}-${span}-${isSampled ? '01' : '00'}` as Traceparent

/** The trace id in a stored value; empty if there is none. */
export function traceIdIn(stored: string | undefined): string {
  const traceparent = readTraceparent(stored ?? '')
  return traceparent === undefined ? '' : traceIdOf(traceparent)
}

export const traceIdOf = (of: Traceparent): string => of.slice(TRACE_AT, SPAN_AT - 1)
export const spanIdOf = (of: Traceparent): string => of.slice(SPAN_AT, FLAGS_AT - 1)
export const isSampled = (of: Traceparent): boolean => of.endsWith('1')

/** A new sampled trace, with its first span. */
export const newTrace = (random: Random): Traceparent =>
  join(
    random.bytes(TRACE_ID_BYTES).toString('hex'),
    random.bytes(SPAN_ID_BYTES).toString('hex'),
    true,
  )

/** A new span of the same trace. */
export const newSpan = (of: Traceparent, random: Random): Traceparent =>
  join(traceIdOf(of), random.bytes(SPAN_ID_BYTES).toString('hex'), isSampled(of))

/** The same trace and span, not sampled. */
export const unsampled = (of: Traceparent): Traceparent => join(traceIdOf(of), spanIdOf(of), false)
