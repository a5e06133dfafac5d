/**
 * The deterministic scheduler: every wait of a processor for the store, the event loop or time is
 * a pending step here until it is released.
 *
 * - Steps run one at a time: a released step finishes or waits again before the next one. The order
 *   of execution is the order of `release`, whatever the machine's load.
 */

/** `statement` runs in the server, `answer` returns to the processor, `look` concerns the lease. */
export type Step = 'yield' | 'load' | 'commit' | 'due' | 'pause' | 'statement' | 'answer' | 'look'

export interface Scheduler {
  /** Until this is called, nothing waits. */
  hold(): void
  /** Nothing waits until the next `hold`. */
  free(): void
  /** Runs the work when its step is released, which can happen when it is ready. */
  inOrder<Result>(what: Step, work: () => Promise<Result>, isReady?: () => boolean): Promise<Result>
  /** The pending steps that are ready, oldest first. */
  waiting(): readonly Step[]
  /** Releases one step of `waiting`, until it waits again or is done. */
  release(index: number): Promise<void>
  /** Drops all steps, which belong to a crashed process. */
  forget(): void
}

interface Waiting {
  readonly what: Step
  go(): Promise<void>
  isReady(): boolean
}

export function createScheduler(): Scheduler {
  let waiting: Waiting[] = []
  let held = false
  const ready = (): Waiting[] => waiting.filter((step) => step.isReady())
  return {
    hold: () => {
      held = true
    },
    free: () => {
      held = false
    },
    inOrder: (what, work, isReady = () => true) => {
      if (!held) return work()
      return new Promise((resolve, reject) => {
        waiting.push({ what, isReady, go: () => work().then(resolve, reject) })
      })
    },
    waiting: () => ready().map(({ what }) => what),
    release: async (index) => {
      const next = ready()[index]
      waiting = waiting.filter((step) => step !== next)
      await next?.go()
      await atRest()
    },
    forget: () => {
      waiting = []
    },
  }
}

/** Resolves once everything that needs no wait has run: Node runs all jobs of promises first. */
export const atRest = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))
