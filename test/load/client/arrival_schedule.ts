/**
 * The start times of journeys.
 *
 * - Closed loop: a journey begins as soon as a connection is free. This measures throughput and
 *   understates latency.
 * - Open loop: journeys are due at a constant rate, independent of the service. A late start is
 *   timed from the due time (no coordinated omission).
 * - A journey that gets no connection within `patienceMs` is abandoned and counted.
 * - After `end(at)` only journeys that were due before `at` are due.
 *
 * Times are milliseconds of one monotonic clock.
 */
export interface ArrivalSchedule {
  /** Takes the next due journey and returns its due time. */
  take(now: number): number | undefined
  /** Number of due journeys that are not taken. */
  overdue(now: number): number
  readonly abandoned: number
  end(at: number): void
}

/** A part of an open loop with a constant rate. */
export interface Phase {
  readonly ms: number
  readonly ratePerSecond: number
}

export function closedLoop(): ArrivalSchedule {
  let endsAt = Infinity
  return {
    take: (now) => (now < endsAt ? now : undefined),
    overdue: () => 0,
    abandoned: 0,
    end: (at) => {
      endsAt = at
    },
  }
}

/** The last phase lasts until the end. */
export function openLoop(
  startsAt: number,
  phases: readonly Phase[],
  patienceMs = Infinity,
): ArrivalSchedule {
  const dueAt = arrivals(startsAt, phases)
  let taken = 0
  let abandoned = 0
  let endsAt = Infinity
  const isDue = (at: number, now: number): boolean => at <= now && at < endsAt
  return {
    take: (now) => {
      for (;;) {
        const at = dueAt(taken)
        if (!isDue(at, now)) return undefined
        taken += 1
        if (now - at <= patienceMs) return at
        abandoned += 1
      }
    },
    overdue: (now) => {
      let due = 0
      while (isDue(dueAt(taken + due), now)) due += 1
      return due
    },
    get abandoned() {
      return abandoned
    },
    end: (at) => {
      endsAt = at
    },
  }
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
    const phase = plan.find((one) => index >= one.first)
    if (phase === undefined) throw new Error('an open loop needs a phase')
    return phase.from + (index - phase.first) * phase.distance
  }
}
