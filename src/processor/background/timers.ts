/**
 * Wakes actors whose time has come.
 *
 * Owns: asking the store who is due, and submitting them. Does not own: what a timer does
 * (rail_reports/timer_fire).
 *
 * - A timer is a column of its actor's row (`due_at`), so it cannot be lost, doubled or outlive
 *   a change.
 * - An actor is submitted once at a time, however often the store names it.
 * - One that cannot be resumed, as its row is damaged, is left alone until a restart: it is told,
 *   and all others go on.
 */
import { SECOND, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Store } from '../../store/store.js'
import type { Command } from '../cycle/command.js'
import { fireIntentTimer, firePayoutTimer } from '../commands/rail_reports/timer_fire.js'
import type { Pipeline } from '../cycle/pipeline.js'

/** How late a timer may be. */
const LOOK_EVERY_MS = SECOND / 4
const BATCH = 1_000

export interface Timers {
  /** Those that cannot be resumed. */
  readonly corruptActors: number
  start(): void
  stop(): Promise<void>
}

export interface TimersDependencies {
  readonly clock: Clock
  readonly store: Pick<Store, 'due'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
  /** Resolves after so many milliseconds. */
  readonly pause: (milliseconds: number) => Promise<void>
}

export function createTimers({ clock, store, pipeline, log, pause }: TimersDependencies): Timers {
  const pending = new Set<string>()
  let corruptActors = 0
  let running = false
  let loop: Promise<void> = Promise.resolve()

  const submit = (id: string, command: Command): void => {
    if (pending.has(id)) return
    pending.add(id)
    pipeline.submit({
      queueKey: 'ours',
      command,
      deadline: null,
      signedBy: null,
      reply: (answer) => {
        if (answer.ok || answer.code !== 'internal_error') return void pending.delete(id)
        corruptActors += 1
        log.error({ entity: id }, 'actor snapshot is corrupt; quarantined until restart')
      },
    })
  }

  const look = async (): Promise<void> => {
    const now = clock.now()
    const atMost = BATCH + corruptActors // those stay due for ever, and come first
    const intents = await store.due('intents', now, atMost)
    const payouts = await store.due('payouts', now, atMost)
    for (const id of intents) submit(id, fireIntentTimer(id))
    for (const id of payouts) submit(id, firePayoutTimer(id))
  }

  const run = async (): Promise<void> => {
    while (running) {
      await look().catch((error: unknown) => log.error({ err: error }, 'looking for due actors'))
      await pause(LOOK_EVERY_MS)
    }
  }

  return {
    get corruptActors() {
      return corruptActors
    },
    start: () => {
      running = true
      loop = run()
    },
    stop: () => {
      running = false
      return loop
    },
  }
}
