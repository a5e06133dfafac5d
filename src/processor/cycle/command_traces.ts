/**
 * The spans of commands: one for each traced command, and one for its commit.
 *
 * Does not own: whether a request is traced (gateway), the stored trace of a payment
 * (changes/payment_trace).
 *
 * - A payment has one trace. A command that changes it belongs to it, also when it has no request,
 *   or one of another trace: then the span has a link to that request's.
 * - A command of a gateway that joins a payment's trace reserves the gateway's span above its own.
 * - A span begins when its command is submitted and ends when its changes are on disk.
 */
import { isSampled, traceIdOf, type Traceparent } from '../../base/traceparent.js'
import type { Span } from '../../tracing/span.js'
import type { Tracer } from '../../tracing/tracer.js'
import type { Answer } from './answer.js'
import type { Work } from './command.js'
import type { Transition } from './commit_batch.js'
import type { OpenSpan } from './open_span.js'
import type { Origin } from './origin.js'

/** When a commit began and ended; equal without changes. */
export interface CommitTimes {
  readonly startedAt: number
  readonly endedAt: number
  readonly commands: number
}

export interface CommandTraces {
  now(): number
  /** The origin that a command is decided under. */
  begin(work: Work): Origin
  /** The origin of a command that changes a payment with this trace. */
  join(work: Work, origin: Origin, stored: Traceparent): Origin
  /** Undefined means that it is not sampled. */
  decided(work: Work, origin: Origin, answer: Answer): OpenSpan | undefined
  committed(
    spans: readonly OpenSpan[],
    transitions: readonly Transition[],
    commit: CommitTimes,
  ): void
}

export function createCommandTraces(tracer: Tracer): CommandTraces {
  const begin = (work: Work): Origin => {
    const { origin } = work
    const { traceparent } = origin
    if (traceparent === undefined || !isSampled(traceparent)) return origin
    return { ...origin, traceparent: tracer.spanIn(traceparent), parent: traceparent }
  }

  const join = (work: Work, origin: Origin, stored: Traceparent): Origin => {
    const { traceparent } = origin
    if (traceparent !== undefined && traceIdOf(traceparent) === traceIdOf(stored)) return origin
    if (!isSampled(stored)) {
      return traceparent === undefined ? { ...origin, traceparent: stored } : origin
    }
    let parent = stored
    if (work.gatewaySpan === null && traceparent === undefined) {
      parent = tracer.spanIn(stored)
      work.gatewaySpan = { traceparent: parent, parent: stored }
    }
    return { ...origin, traceparent: tracer.spanIn(stored), parent }
  }

  const spansOf = (
    { work, origin, decidedAt, code }: OpenSpan,
    transitions: readonly Transition[],
    commit: CommitTimes,
  ): readonly Span[] => {
    const { traceparent: self, parent = null } = origin
    if (self === undefined) return []
    const { command, queueKey, queuedAt } = work
    const own = transitions.filter((each) => each.origin === origin)
    const last = own.at(-1)
    const caller = work.origin.traceparent
    const { startedAt, endedAt } = commit
    const span: Span = {
      ...{ name: command.name, kind: 'internal', self, parent, endedAt },
      startedAt: queuedAt === undefined ? decidedAt : Math.min(decidedAt, tracer.at(queuedAt)),
      attributes: {
        'causeway.cause': origin.cause,
        'causeway.request_id': origin.requestId ?? undefined,
        'causeway.tenant': queueKey === 'internal' ? last?.tenant : queueKey,
        'causeway.code': code ?? undefined,
        'causeway.entity_id': last?.entity,
        'causeway.state': last?.to,
        'causeway.failure_code': last?.failure ?? undefined,
      },
      isFailed: code === 'internal_error',
      events: [
        { name: 'decided', at: decidedAt },
        ...own.map(({ to }) => ({ name: to, at: decidedAt })),
      ],
      link: caller !== undefined && isOtherTrace(caller, self) ? caller : undefined,
    }
    if (startedAt === endedAt) return [span]
    const attributes = { 'causeway.commands': commit.commands }
    const id = tracer.spanIn(self)
    const inCommit: Span = {
      ...{ name: 'commit', kind: 'internal', self: id, parent: self, startedAt, endedAt },
      attributes,
    }
    return [span, inCommit]
  }

  return {
    now: () => tracer.now(),
    begin,
    join,
    decided: (work, origin, answer) => {
      if (origin.traceparent === undefined || !isSampled(origin.traceparent)) return undefined
      return { work, origin, decidedAt: tracer.now(), code: answer.ok ? null : answer.code }
    },
    committed: (spans, transitions, commit) => {
      for (const open of spans) {
        for (const span of spansOf(open, transitions, commit)) tracer.record(span)
      }
    },
  }
}

const isOtherTrace = (one: Traceparent, other: Traceparent): boolean =>
  traceIdOf(one) !== traceIdOf(other)
