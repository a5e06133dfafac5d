/**
 * Who goes on next: everything in the processor that waits for the disk, for a turn of the event
 * loop or for time to pass waits here until it is let go.
 *
 * - One at a time: whoever was let go has come to rest before the next one is. So the order of
 *   things is the order of `letGo`, whatever the machine is busy with.
 */
export type Step = 'turn' | 'load' | 'commit' | 'due' | 'pause'

export interface Scheduler {
  /** Before this nothing waits. */
  hold(): void
  /** Does the work when its turn has come. */
  inOrder<Result>(what: Step, work: () => Promise<Result>): Promise<Result>
  /** Those that wait, in the order of their coming. */
  waiting(): readonly Step[]
  /** Lets one of them go on until it waits again, or is done. */
  letGo(place: number): Promise<void>
  /** They belonged to a process that is gone. */
  forget(): void
}

interface Waiting {
  readonly what: Step
  go(): Promise<void>
}

export function createScheduler(): Scheduler {
  let waiting: Waiting[] = []
  let held = false
  return {
    hold: () => {
      held = true
    },
    inOrder: (what, work) => {
      if (!held) return work()
      return new Promise((resolve, reject) => {
        waiting.push({ what, go: () => work().then(resolve, reject) })
      })
    },
    waiting: () => waiting.map(({ what }) => what),
    letGo: async (place) => {
      const [next] = waiting.splice(place, 1)
      await next?.go()
      await atRest()
    },
    forget: () => {
      waiting = []
    },
  }
}

/** All that follows without waiting for anything has happened. */
export const atRest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
