/**
 * Log lines of refusals, as far as no gateway logs them: which rule a scanned code breaks.
 *
 * - The lines a second are bounded for each partner; one more line counts the others.
 * - A line has ids and constants, and nothing of a request.
 */
import type { Clock } from '../../base/clock.js'
import { createLineBounds } from '../../base/line_bound.js'
import type { Logger } from '../../base/log.js'
import type { Work } from '../cycle/command.js'

export interface RefusalLog {
  codeRefused(work: Pick<Work, 'queueKey' | 'origin'>, reason: string): void
}

export interface RefusalLogOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  /** Lines of one partner. */
  readonly perSecond: number
}

export function createRefusalLog({ clock, log, perSecond }: RefusalLogOptions): RefusalLog {
  const bounds = createLineBounds(perSecond, (caller, omitted) =>
    log.info({ caller, omitted }, 'refusals not logged: rate limit of log lines reached'),
  )
  return {
    codeRefused: ({ queueKey: tenant, origin: { requestId } }, reason) => {
      if (!bounds.admits(tenant, clock.now())) return
      log.info({ tenant, request_id: requestId ?? undefined, reason }, 'scanned code refused')
    },
  }
}
