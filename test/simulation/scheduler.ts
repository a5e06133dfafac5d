/**
 * The deterministic scheduler: every wait of the processor for the disk, the event loop or time is
 * a pending step here until it is released.
 *
 * - Steps run one at a time: a released step finishes or waits again before the next one. The order
 *   of execution is the order of `release`, whatever the machine's load.
 */
export type Step = 'yield' | 'load' | 'commit' | 'due' | 'pause'

export interface Scheduler {
  /** Until this is called, nothing waits. */
  hold(): void
  /** Runs the work when its step is released. */
  inOrder<Result>(what: Step, work: () => Promise<Result>): Promise<Result>
  /** The pending steps, oldest first. */
  waiting(): readonly Step[]
  /** Releases one step, until it waits again or is done. */
  release(place: number): Promise<void>
  /** Drops all steps, which belong to a crashed process. */
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
    release: async (place) => {
      const [next] = waiting.splice(place, 1)
      await next?.go()
      await atRest()
    },
    forget: () => {
      waiting = []
    },
  }
}

/** Resolves once everything that needs no wait has run. */
export const atRest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
