/**
 * When a journey may begin.
 *
 * Owns: the two schedules. Does not own: the clock, the timer and the connections (load).
 *
 * P1. Closed loop: a journey begins as soon as a connection is free, so a slow server is asked less
 *     often. It tells how much the server can do, and flatters its latency.
 * P2. Open loop: journeys are due at even distances whatever the server does, as partners call. One
 *     that begins late, because all connections are busy or the client is, is still timed from when
 *     it was due.
 * P3. After `end(at)` nothing is due that was not due before `at`.
 *
 * Times are milliseconds of one monotonic clock.
 */
export interface Pace {
  /** Whether time alone makes a journey due, so that somebody must look from time to time. */
  readonly needsTicks: boolean
  /** Takes the next journey that is due: since when it is. Undefined: none is. */
  take(now: number): number | undefined
  /** How many are due and not taken. */
  overdue(now: number): number
  end(at: number): void
}

export function closedLoop(): Pace {
  let endsAt = Infinity
  return {
    needsTicks: false,
    take: (now) => (now < endsAt ? now : undefined),
    overdue: () => 0,
    end: (at) => {
      endsAt = at
    },
  }
}

export function openLoop(startsAt: number, ratePerSecond: number): Pace {
  const distance = 1_000 / ratePerSecond
  let taken = 0
  let endsAt = Infinity
  const dueAt = (index: number): number => startsAt + index * distance
  return {
    needsTicks: true,
    take: (now) => {
      const at = dueAt(taken)
      if (at > now || at >= endsAt) return undefined
      taken += 1
      return at
    },
    overdue: (now) => {
      let due = 0
      while (dueAt(taken + due) <= now && dueAt(taken + due) < endsAt) due += 1
      return due
    },
    end: (at) => {
      endsAt = at
    },
  }
}
