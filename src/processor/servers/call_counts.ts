/**
 * The calls of each tenant of the last 24 hours, as far as they reach the processor: by outcome,
 * and the most of one second.
 *
 * - In memory only: they begin with the process, and a partner that moves begins again.
 * - Counted per hour, so the oldest hour leaves as a whole.
 * - A call that a gateway refuses before its signature is checked does not reach the processor.
 */
import { HOUR, instant, SECOND, type Instant } from '../../base/clock.js'
import { ERRORS } from '../../base/errors.js'
import type { Answer } from '../cycle/answer.js'

export interface CallFigures {
  /** From when on they are counted. */
  readonly since: Instant
  readonly answered: number
  readonly refused: number
  /** Ours, or a dependency's: HTTP 5xx. */
  readonly failed: number
  /** Those of `refused` that exceeded a limit of amounts. */
  readonly limited: number
  readonly busiestSecond: number
}

export interface CallCounts {
  /** @param isRejected the gateway has refused the call, and only its nonce was consumed */
  add(tenant: string, at: Instant, answer: Answer, isRejected: boolean): void
  of(tenant: string, now: Instant): CallFigures
}

const HOURS = 24
const HOUR_S = HOUR / SECOND
/** The figures of one hour. */
const [ANSWERED, REFUSED, FAILED, LIMITED, BUSIEST, FIGURES] = [0, 1, 2, 3, 4, 5] as const
const LIMITS: ReadonlySet<string> = new Set(['user_limit_exceeded', 'payout_limit_exceeded'])
const SERVER_FAULT = 500

interface Counted {
  /** HOURS times FIGURES. */
  readonly figures: Uint32Array
  hour: number
  second: number
  inSecond: number
}

export function createCallCounts(startedAt: Instant): CallCounts {
  const byTenant = new Map<string, Counted>()

  const countedOf = (tenant: string): Counted => {
    let counted = byTenant.get(tenant)
    if (counted === undefined) {
      counted = { figures: new Uint32Array(HOURS * FIGURES), hour: 0, second: 0, inSecond: 0 }
      byTenant.set(tenant, counted)
    }
    return counted
  }

  return {
    add: (tenant, at, answer, isRejected) => {
      const counted = countedOf(tenant)
      const second = Math.floor(at / SECOND)
      if (second !== counted.second) {
        counted.second = second
        counted.inSecond = 0
        forget(counted, Math.floor(second / HOUR_S))
      }
      const { figures } = counted
      const offset = (counted.hour % HOURS) * FIGURES
      counted.inSecond += 1
      if (counted.inSecond > figures[offset + BUSIEST]!) figures[offset + BUSIEST]! += 1
      if (answer.ok) figures[offset + (isRejected ? REFUSED : ANSWERED)]! += 1
      else if (ERRORS[answer.code].http >= SERVER_FAULT) figures[offset + FAILED]! += 1
      else {
        figures[offset + REFUSED]! += 1
        if (LIMITS.has(answer.code)) figures[offset + LIMITED]! += 1
      }
    },
    of: (tenant, now) => {
      const hour = Math.floor(now / HOUR)
      const begin = (hour - HOURS + 1) * HOUR
      const since = instant(Math.max(startedAt, begin))
      const counted = byTenant.get(tenant)
      if (counted === undefined) return { since, ...NONE }
      forget(counted, hour)
      const column = (figure: number): number[] =>
        Array.from({ length: HOURS }, (_, i) => counted.figures[i * FIGURES + figure] ?? 0)
      const sum = (figure: number): number => column(figure).reduce((all, each) => all + each, 0)
      return {
        since,
        ...{ answered: sum(ANSWERED), refused: sum(REFUSED), failed: sum(FAILED) },
        ...{ limited: sum(LIMITED), busiestSecond: Math.max(...column(BUSIEST)) },
      }
    },
  }
}

const NONE = { answered: 0, refused: 0, failed: 0, limited: 0, busiestSecond: 0 }

/** Clears the hours that have begun since. A clock that was set back counts in the later hour. */
function forget(counted: Counted, hour: number): void {
  if (hour <= counted.hour) return
  const from = Math.max(counted.hour + 1, hour - HOURS + 1)
  for (let each = from; each <= hour; each += 1) {
    const offset = (each % HOURS) * FIGURES
    counted.figures.fill(0, offset, offset + FIGURES)
  }
  counted.hour = hour
}
