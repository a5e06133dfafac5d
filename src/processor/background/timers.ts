/**
 * Submits a command for each actor whose timer is due.
 *
 * Owns: polling the store, submitting. Does not own: the timer's effect (rail_reports/timer_fire).
 *
 * - A timer is a column of its actor's row (`due_at`), so it cannot be lost, fire twice or outlive
 *   a change.
 * - An actor has at most one timer command in flight.
 * - An actor with a corrupt snapshot is logged and skipped until a restart; all others continue.
 */
import { SECOND, type Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Store } from '../../store/store.js'
import type { Answer } from '../cycle/answer.js'
import { internalWork, type Command } from '../cycle/command.js'
import { fireIntentTimer, firePayoutTimer } from '../commands/rail_reports/timer_fire.js'
import type { Pipeline } from '../cycle/pipeline.js'

/** Maximum delay of a timer on an idle processor. */
const POLL_EVERY_MS = SECOND / 4
const BATCH = 1_000

export interface Timers {
  /** Actors with a corrupt snapshot. */
  readonly corruptActors: number
  start(): void
  stop(): Promise<void>
}

export interface TimersDependencies {
  readonly clock: Clock
  readonly store: Pick<Store, 'due'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
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
    const fired = (answer: Answer): void => {
      if (answer.ok || answer.code !== 'internal_error') return void pending.delete(id)
      corruptActors += 1
      log.error({ entity_id: id }, 'actor snapshot is corrupt; skipped until restart')
    }
    pipeline.submit(internalWork(command, 'timer', fired))
  }

  const poll = async (): Promise<void> => {
    const now = clock.now()
    const atMost = BATCH + corruptActors // corrupt ones stay due and sort first
    const intents = await store.due('intents', now, atMost)
    const payouts = await store.due('payouts', now, atMost)
    for (const id of intents) submit(id, fireIntentTimer(id))
    for (const id of payouts) submit(id, firePayoutTimer(id))
  }

  const run = async (): Promise<void> => {
    while (running) {
      await poll().catch((error: unknown) => log.error({ error }, 'reading due timers failed'))
      await pause(POLL_EVERY_MS)
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
