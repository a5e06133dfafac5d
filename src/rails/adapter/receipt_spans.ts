/** The spans of a rail: a traced instruction from its receipt until it is on disk and answered. */
import { isSampled } from '../../base/traceparent.js'
import type { Tracer } from '../../tracing/tracer.js'
import type { RailInstruction } from '../rail.js'

export function recordReceipts(
  tracer: Tracer,
  received: readonly RailInstruction[],
  startedAt: number,
): void {
  const endedAt = tracer.now()
  for (const each of received) {
    if (each.kind === 'acknowledge' || each.kind === 'simulate') continue
    const { kind } = each
    const { id, rail, traceparent: parent } = kind === 'instruct' ? each.instruction : each
    if (parent === undefined || !isSampled(parent)) continue
    tracer.record({
      ...{ name: `rail ${kind}`, kind: 'server', self: tracer.spanIn(parent), parent },
      ...{ startedAt, endedAt },
      attributes: { 'causeway.entity_id': id, 'causeway.rail': rail },
    })
  }
}
