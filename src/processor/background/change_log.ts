/**
 * Log lines of the changes of a commit: one per transition and per operator's action.
 *
 * - A line is written after its commit, so the log has no change that the books lack.
 * - A line has ids, states, causes and codes; never an amount, a name or a payload. It is built by
 *   concatenation: ids, states, causes and tenants need no escaping.
 * - Above a bound a second, transitions to `created` are only counted; the others have a bound of
 *   their own, so a flood of new payments hides no failure.
 */
import { toRfc3339, type Clock } from '../../base/clock.js'
import { createLineBound } from '../../base/line_bound.js'
import { writeLines, type Logger } from '../../base/log.js'
import { environmentOf } from '../../base/ids.js'
import type { LoggedAction, Transition } from '../cycle/commit_batch.js'

export interface ChangeLog {
  /** Writes the lines of a committed batch in one write. */
  committed(transitions: readonly Transition[], actions: readonly LoggedAction[]): void
  /** Writes the counts of the running second. */
  stop(): void
}

export interface ChangeLogOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Lines a second for transitions to `created`, and for all others. */
  readonly createdPerSecond: number
  readonly othersPerSecond: number
}

export function createChangeLog(options: ChangeLogOptions): ChangeLog {
  const { clock, log } = options
  const omittedLine = (kind: string) => (omitted: number) =>
    log.info({ kind, omitted }, 'transitions not logged: rate limit of log lines reached')
  const created = createLineBound(options.createdPerSecond, omittedLine('created'))
  const others = createLineBound(options.othersPerSecond, omittedLine('others'))
  const isEnabled = log.isLevelEnabled('info')

  const committed: ChangeLog['committed'] = (transitions, actions) => {
    if (!isEnabled) return
    for (const { actor, action, subject, origin } of actions) {
      const operator = actor.name
      const request_id = origin.requestId ?? undefined
      log.info({ operator, action, subject: namesIn(subject), request_id }, 'operator action')
    }
    if (transitions.length === 0) return
    const now = clock.now()
    const beginning = `{"level":"info","time":"${toRfc3339(now)}","process":"processor"`
    const lines: string[] = []
    for (const transition of transitions) {
      const bound = transition.to === 'created' ? created : others
      if (bound.admits(now)) lines.push(beginning + transitionText(transition))
    }
    if (lines.length > 0) writeLines(log, lines)
  }

  return {
    committed,
    stop: () => {
      created.flush()
      others.flush()
    },
  }
}

/** Ids and names of a subject; amounts, rates and addresses are in the action log only. */
const namesIn = (subject: string): string =>
  subject
    .split(' ')
    .filter((word) => /^[A-Za-z][\w:@-]{2,}$/.test(word))
    .join(' ')

function transitionText({ entity, from, to, tenant, origin, failure }: Transition): string {
  const { cause, requestId } = origin
  return (
    `,"entity_id":"${entity}","from":${from === null ? 'null' : `"${from}"`},"to":"${to}"` +
    `,"tenant":"${tenant}","environment":"${environmentOf(tenant)}","cause":"${cause}"` +
    (requestId === null ? '' : `,"request_id":"${requestId}"`) +
    (failure === null ? '' : `,"failure_code":${JSON.stringify(failure)}`) +
    ',"message":"transition"}\n'
  )
}
