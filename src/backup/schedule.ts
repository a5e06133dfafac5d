/**
 * Backups again and again: one at the start, then one in each interval.
 *
 * - A failed run is reported and the next one follows at its time.
 * - Runs keep to the grid of the first start. A run that takes longer than the interval is followed
 *   by the next point of the grid.
 * - A pause is a day at most: a timer of Node beyond 24.8 days ends at once.
 */
import { DAY, plus, type Clock, type Instant } from '../base/clock.js'

export interface ScheduleOptions {
  readonly everyMs: number
  readonly clock: Clock
  /** Resolves early when the schedule is stopped. */
  readonly pauseUntil: (at: Instant) => Promise<void>
  readonly isStopped: () => boolean
  readonly run: () => Promise<void>
  readonly onFailure: (error: unknown, next: Instant) => Promise<void>
}

export async function runEvery(options: ScheduleOptions): Promise<void> {
  const { everyMs, clock, isStopped, run, onFailure } = options
  const first = clock.now()
  for (;;) {
    const failure = await run().then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    const past = Math.floor((clock.now() - first) / everyMs)
    const next = plus(first, (past + 1) * everyMs)
    if (isStopped()) return
    if (failure !== undefined) await onFailure(failure.error, next)
    await untilDue(next, options)
    if (isStopped()) return
  }
}

/** A clock that was set back leaves more than an interval: the next run begins at once. */
async function untilDue(
  next: Instant,
  { everyMs, clock, pauseUntil, isStopped }: ScheduleOptions,
): Promise<void> {
  for (;;) {
    const now = clock.now()
    const left = next - now
    if (isStopped() || left <= 0 || left > everyMs) return
    await pauseUntil(plus(now, Math.min(left, DAY)))
  }
}

const EVERY = /^([1-9]\d{0,4})(m|h|d)$/
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `15m`, `1h` or `1d`. Undefined for another text. */
export function parseInterval(text: string): number | undefined {
  const [, count, unit = ''] = EVERY.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0)
}
