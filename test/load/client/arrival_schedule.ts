/**
 * When a journey may begin.
 *
 * Owns: the two schedules. Does not own: the clock, the timer and the connections (load).
 *
 * - Closed loop: a journey begins as soon as a connection is free, so a slow server is asked less
 *   often. It tells how much the server can do, and flatters its latency.
 * - Open loop: journeys are due at even distances whatever the server does, as partners call. One
 *   that begins late, because all connections are busy or the client is, is still timed from when
 *   it was due.
 * - After `end(at)` nothing is due that was not due before `at`.
 * - Whoever has patience gives up when no connection came free in that time, and is counted.
 *
 * Times are milliseconds of one monotonic clock.
 */
export interface ArrivalSchedule {
  /** Whether time alone makes a journey due, so that somebody must look from time to time. */
  readonly needsTicks: boolean
  /** Takes the next journey that is due: since when it is. Undefined: none is. */
  take(now: number): number | undefined
  /** How many are due and not taken. */
  overdue(now: number): number
  /** How many have given up. */
  readonly givenUp: number
  end(at: number): void
}

/** A stretch of an open loop. */
export interface Stretch {
  readonly ms: number
  readonly ratePerSecond: number
}

export function closedLoop(): ArrivalSchedule {
  let endsAt = Infinity
  return {
    needsTicks: false,
    take: (now) => (now < endsAt ? now : undefined),
    overdue: () => 0,
    givenUp: 0,
    end: (at) => {
      endsAt = at
    },
  }
}

/** The last stretch lasts until the end. */
export function openLoop(
  startsAt: number,
  stretches: readonly Stretch[],
  patienceMs = Infinity,
): ArrivalSchedule {
  const dueAt = scheduleOf(startsAt, stretches)
  let taken = 0
  let givenUp = 0
  let endsAt = Infinity
  const isDue = (at: number, now: number): boolean => at <= now && at < endsAt
  return {
    needsTicks: true,
    take: (now) => {
      for (;;) {
        const at = dueAt(taken)
        if (!isDue(at, now)) return undefined
        taken += 1
        if (now - at <= patienceMs) return at
        givenUp += 1
      }
    },
    overdue: (now) => {
      let due = 0
      while (isDue(dueAt(taken + due), now)) due += 1
      return due
    },
    get givenUp() {
      return givenUp
    },
    end: (at) => {
      endsAt = at
    },
  }
}

/** When each journey is due. */
function scheduleOf(startsAt: number, stretches: readonly Stretch[]): (index: number) => number {
  const plan: { first: number; from: number; distance: number }[] = []
  let first = 0
  let from = startsAt
  for (const { ms, ratePerSecond } of stretches) {
    plan.unshift({ first, from, distance: 1_000 / ratePerSecond })
    first += Math.round((ms * ratePerSecond) / 1_000)
    from += ms
  }
  return (index) => {
    const stretch = plan.find((one) => index >= one.first)
    if (stretch === undefined) throw new Error('an open loop has a stretch')
    return stretch.from + (index - stretch.first) * stretch.distance
  }
}
