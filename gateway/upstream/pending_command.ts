/** A command that the gateway has sent or holds, from the view of what sends it. */
import type { Instant } from '../../src/base/clock.js'
import type { Violation } from '../../src/base/errors.js'
import type { RequestTrace } from '../http/request_context.js'

export interface PendingCommand {
  readonly startedAt: Instant
  /**
   * `code` is empty when the command was accepted; `body` is then its public JSON. Called at most
   * once. `trace` is the span of the request in the trace of its payment, when only that has one.
   */
  settle(
    code: string,
    body: string,
    replayed: boolean,
    violation?: Violation | null,
    trace?: RequestTrace,
  ): void
  /** It is held while it has no processor, and does not count as a command at a processor. */
  suspended?(): void
}
