/**
 * A bound on log lines a second: lines above it are counted, and the count is reported once the
 * second is over.
 *
 * - The bound is about lines, not calls: `admits` costs a comparison and an addition.
 */
import { SECOND, type Instant } from './clock.js'

export interface LineBound {
  /** Whether one more line may be written now; otherwise it is counted. */
  admits(now: Instant): boolean
  /** Reports the count. */
  flush(): void
}

/** A bound for each caller, whose names are few and known. */
export interface LineBounds {
  admits(caller: string, now: Instant): boolean
}

export function createLineBounds(
  perSecond: number,
  report: (caller: string, omitted: number) => void,
): LineBounds {
  const bounds = new Map<string, LineBound>()
  return {
    admits: (caller, now) => {
      let bound = bounds.get(caller)
      if (bound === undefined) {
        bound = createLineBound(perSecond, (omitted) => report(caller, omitted))
        bounds.set(caller, bound)
      }
      return bound.admits(now)
    },
  }
}

export function createLineBound(perSecond: number, report: (omitted: number) => void): LineBound {
  let second = 0
  let written = 0
  let omitted = 0
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const count = omitted
    omitted = 0
    if (count > 0) report(count)
  }

  return {
    admits: (now) => {
      const current = Math.floor(now / SECOND)
      if (current !== second) {
        second = current
        written = 0
      }
      written += 1
      if (written <= perSecond) return true
      omitted += 1
      timer ??= setTimeout(flush, SECOND).unref()
      return false
    },
    flush,
  }
}
