/** A span: one step of a trace. Its attributes are ids, codes and states, no personal data. */
import type { Traceparent } from '../base/traceparent.js'

export type SpanKind = 'internal' | 'server' | 'client'

/** Undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface Span {
  readonly name: string
  readonly kind: SpanKind
  readonly self: Traceparent
  /** Null means that it is the first of its trace. */
  readonly parent: Traceparent | null
  /** Epoch microseconds, like `endedAt`. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: Attributes
  /** It failed through a fault of this service, or of what it called. */
  readonly isFailed?: boolean
  readonly events?: readonly SpanEvent[]
  /** A span of another trace that led to this one. */
  readonly link?: Traceparent | undefined
}

export interface SpanEvent {
  readonly name: string
  readonly at: number
}
