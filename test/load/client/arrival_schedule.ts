/**
 * The start times of journeys.
 *
 * - Closed loop: a journey begins as soon as a connection is free. This measures throughput and
 *   understates latency.
 * - Open loop: journeys are due at a constant rate, independent of the service. A late start is
 *   timed from the due time (no coordinated omission).
 * - A journey that gets no connection within `patienceMs` is abandoned and counted.
 *
 * Times are milliseconds of one monotonic clock.
 */
export type ArrivalSchedule = ReturnType<typeof openLoop>

/** A part of an open loop with a constant rate. */
export type Phase = Readonly<Record<'ms' | 'ratePerSecond', number>>

export function closedLoop(): ArrivalSchedule {
  const schedule: ArrivalSchedule = {
    take: (now) => (now < schedule.endsAt ? now : undefined),
    overdue: () => 0,
    abandoned: 0,
    endsAt: Infinity,
  }
  return schedule
}

/** The last phase lasts until the end. */
export function openLoop(startsAt: number, phases: readonly Phase[], patienceMs = Infinity) {
  const dueAt = arrivals(startsAt, phases)
  let taken = 0
  const isDue = (at: number, now: number): boolean => at <= now && at < schedule.endsAt
  const schedule = {
    /** Takes the next due journey and returns its due time. */
    take: (now: number): number | undefined => {
      for (;;) {
        const at = dueAt(taken)
        if (!isDue(at, now)) return undefined
        taken += 1
        if (now - at <= patienceMs) return at
        schedule.abandoned += 1
      }
    },
    /** Number of due journeys that are not taken. */
    overdue: (now: number): number => {
      let due = 0
      while (isDue(dueAt(taken + due), now)) due += 1
      return due
    },
    abandoned: 0,
    /** Only journeys that were due before it are due. */
    endsAt: Infinity,
  }
  return schedule
}

/** The due time of each journey, by its index. */
function arrivals(startsAt: number, phases: readonly Phase[]): (index: number) => number {
  const plan: { first: number; from: number; distance: number }[] = []
  let first = 0
  let from = startsAt
  for (const { ms, ratePerSecond } of phases) {
    plan.unshift({ first, from, distance: 1_000 / ratePerSecond })
    first += Math.round((ms * ratePerSecond) / 1_000)
    from += ms
  }
  return (index) => {
    const phase = plan.find((one) => index >= one.first)!
    return phase.from + (index - phase.first) * phase.distance
  }
}
