/**
 * Spans as the JSON of an OTLP/HTTP request (ExportTraceServiceRequest).
 *
 * - Ids are hex, 64-bit numbers are text and enums are numbers, as the JSON of OTLP demands.
 */
import { spanIdOf, traceIdOf } from '../base/traceparent.js'
import type { Attributes, Span, SpanKind } from './span.js'

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 }
const STATUS_ERROR = 2

/** @param resource what all spans of this process have */
export const otlpRequest = (resource: Attributes, spans: readonly Span[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: 'causeway' }, spans: spans.map(spanOf) }],
    },
  ],
})

function spanOf(span: Span): object {
  const { name, kind, self, parent, startedAt, endedAt, attributes, isFailed, events, link } = span
  return {
    traceId: traceIdOf(self),
    spanId: spanIdOf(self),
    ...(parent === null ? {} : { parentSpanId: spanIdOf(parent) }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(Math.max(startedAt, endedAt)),
    attributes: attributesOf(attributes),
    ...(events === undefined || events.length === 0
      ? {}
      : { events: events.map(({ name, at }) => ({ timeUnixNano: nanoseconds(at), name })) }),
    ...(link === undefined
      ? {}
      : { links: [{ traceId: traceIdOf(link), spanId: spanIdOf(link) }] }),
    status: isFailed === true ? { code: STATUS_ERROR } : {},
  }
}

const nanoseconds = (microseconds: number): string => `${Math.round(microseconds)}000`

const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  )

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
