/** The span of a command that is decided, until its commit is on disk. */
import type { ErrorCode } from '../../base/errors.js'
import type { Origin } from './origin.js'

export interface OpenSpan {
  readonly work: TracedWork
  readonly origin: Origin
  readonly decidedAt: number
  readonly code: ErrorCode | null
}

/** What a span tells of its command (cycle/command). */
export interface TracedWork {
  readonly queueKey: string
  readonly command: { readonly name: string }
  readonly origin: Origin
  readonly queuedAt?: number
}
