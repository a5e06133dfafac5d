/** What caused a command: stored with the events it causes and named in logs. */
import type { RequestId } from '../../base/ids.js'
import type { Traceparent } from '../../base/traceparent.js'

export type Cause =
  /** A partner or an internal service. */
  | 'request'
  | 'operator'
  | 'timer'
  | 'rail'
  | 'webhook_pool'
  /** The processor itself. */
  | 'service'

export interface Origin {
  readonly cause: Cause
  /** The request of a partner, an internal service or an operator. Null if there is none. */
  readonly requestId: RequestId | null
  /**
   * The span that it belongs to: of the caller when it is submitted, of the command while it is
   * decided. Absent means that it is not traced.
   */
  readonly traceparent?: Traceparent | undefined
  /** The span above that of the command, while it is decided. */
  readonly parent?: Traceparent
}
