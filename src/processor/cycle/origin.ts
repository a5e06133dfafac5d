/** What caused a command: stored with the events it causes and named in logs. */
import type { RequestId } from '../../base/ids.js'

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
  /** The request of a partner, an internal service or an operator; null: there is none. */
  readonly requestId: RequestId | null
}
