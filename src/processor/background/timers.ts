/**
 * Submits a command for each actor whose timer is due.
 *
 * Owns: polling the store, submitting, retries, the rate at which timers reach the rail. Does not
 * own: the timer's effect (rail_reports/timer_fire).
 *
 * - A timer is a column of its actor's row (`due_at`), so it cannot be lost, fire twice or outlive
 *   a change.
 * - An actor has at most one timer command in flight.
 * - Once a minute timers are read that are due later than any is set: the clock was ahead.
 * - A timer fires without the rail first. One that can only wait for the rail changes nothing and
 *   waits here: it fires again when the link is up, a bounded number for each rail in each poll, or
 *   at its deadline. So an outage of a rail, or a pause of submissions, writes no rows, and its end
 *   is no flood.
 * - Rows stay due while their timers wait, so the due rows are read page by page, again and again:
 *   with 10,000 of them a timer is at most 3 s late.
 * - An actor with a corrupt snapshot is logged and skipped until a restart. A command that fails
 *   for another reason is retried with back-off. All other actors continue.
 */
import { instant, MINUTE, plus, SECOND, type Clock, type Instant } from '../../base/clock.js'
import type { CorruptRows } from '../../base/corrupt_row.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Logger } from '../../base/log.js'
import type { DueTimer, Store, TimerKind } from '../../store/store.js'
import type { Answer } from '../cycle/answer.js'
import { internalWork, type RailStates } from '../cycle/command.js'
import {
  fireIntentTimer,
  firePayoutTimer,
  isWaitingForRail,
  lastDueAt,
  type FireTimer,
} from '../commands/rail_reports/timer_fire.js'
import { isPaused } from '../changes/submission_pauses.js'
import type { Memory } from '../cache/memory.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { RouteName } from '../../rails/rail_table.js'

/** Maximum delay of a timer on an idle processor. */
const POLL_EVERY_MS = SECOND / 4
/** Due rows of a kind that one poll reads. */
const PAGE = 1_000
/** Polls between two looks for timers that were put off. */
export const PUT_OFF_EVERY = MINUTE / POLL_EVERY_MS
const EVER = instant(Number.MAX_SAFE_INTEGER)
/** Timers that may send an instruction or inquiry to a rail, per poll: 1,000 a second. */
export const TO_RAIL_PER_POLL = 250
const FIRST_RETRY_MS = SECOND
const LAST_RETRY_MS = 5 * MINUTE

export interface Timers {
  /** Actors with a corrupt snapshot. */
  readonly corruptActors: number
  /** Actors whose timers wait for the rail. */
  readonly waitingForRail: number
  start(): void
  stop(): Promise<void>
}

export interface TimersDependencies {
  readonly clock: Clock
  readonly store: Pick<Store, 'due'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly rail: Pick<RailStates, 'up'>
  readonly memory: Pick<Memory, 'pauses'>
  readonly corruptRows: Pick<CorruptRows, 'has'>
  readonly log: Logger
  readonly pause: (milliseconds: number) => Promise<void>
}

const FIRE: Readonly<Record<TimerKind, FireTimer>> = {
  intents: fireIntentTimer,
  payouts: firePayoutTimer,
}

/** A timer that waits for the rail. */
interface Waiting {
  readonly kind: TimerKind
  /** Null means that it is submitted. */
  readonly route: RouteName | null
  /** When the row is due. A row that changes afterwards is another timer. */
  readonly dueAt: Instant
  /** When it acts without the rail. Null if it never does. */
  readonly until: Instant | null
}

interface Failed {
  readonly delayMs: number
  readonly retryAt: Instant
}

export function createTimers({
  clock,
  store,
  pipeline,
  rail,
  memory,
  corruptRows,
  log,
  pause,
}: TimersDependencies): Timers {
  const pending = new Set<string>()
  const corrupt = new Set<string>()
  const failed = new Map<string, Failed>()
  /** By rail and id, in the order in which they were due. */
  const waiting = new Map<string, Map<string, Waiting>>()
  /** The last row that was read. Absent before the first page. */
  const lastRead = new Map<TimerKind, DueTimer>()
  let polls = 0
  let running = false
  let loop: Promise<void> = Promise.resolve()

  const onFailure = (id: string): void => {
    if (corruptRows.has(id)) {
      corrupt.add(id)
      return log.error({ entity_id: id }, 'actor snapshot is corrupt; skipped until a restart')
    }
    const delayMs = Math.min((failed.get(id)?.delayMs ?? FIRST_RETRY_MS / 2) * 2, LAST_RETRY_MS)
    failed.set(id, { delayMs, retryAt: plus(clock.now(), delayMs) })
    log.error(
      { entity_id: id, retry_in_s: delayMs / SECOND },
      'timer failed with an internal error, which is no corrupt row; it is retried',
    )
  }

  const waitingFor = (name: string): Map<string, Waiting> => {
    const known = waiting.get(name) ?? new Map<string, Waiting>()
    waiting.set(name, known)
    return known
  }

  const waitOf = (id: string): Waiting | undefined => {
    for (const ofRail of waiting.values()) if (ofRail.has(id)) return ofRail.get(id)
    return undefined
  }

  const submit = (kind: TimerKind, { id, dueAt }: DueTimer, mayUseRail: boolean): void => {
    if (pending.has(id)) return
    pending.add(id)
    const fired = (answer: Answer): void => {
      pending.delete(id)
      if (!answer.ok && answer.code === 'internal_error') return onFailure(id)
      failed.delete(id)
      if (!answer.ok || !isWaitingForRail(answer.view)) return
      const { rail: name, route, waitsUntil: until } = answer.view
      waitingFor(name).set(id, { kind, route, dueAt, until })
    }
    crashPoint('timer.due')
    pipeline.submit(internalWork(FIRE[kind](id, mayUseRail), 'timer', fired))
  }

  /** Whether a due timer cannot fire now. */
  const rests = ({ id, dueAt }: DueTimer, now: Instant): boolean => {
    if (corrupt.has(id) || (failed.get(id)?.retryAt ?? 0) > now) return true
    const waits = waitOf(id)
    return waits?.dueAt === dueAt && (waits.until === null || waits.until > now)
  }

  const submitDue = async (kind: TimerKind): Promise<void> => {
    const now = clock.now()
    const page = await store.due(kind, now, PAGE, lastRead.get(kind))
    if (page.length < PAGE) lastRead.delete(kind)
    else lastRead.set(kind, page.at(-1)!)
    for (const timer of page) {
      if (rests(timer, now)) continue
      for (const ofRail of waiting.values()) ofRail.delete(timer.id)
      submit(kind, timer, false)
    }
  }

  const submitPutOff = async (kind: TimerKind): Promise<void> => {
    const now = clock.now()
    const page = await store.due(kind, EVER, PAGE, { dueAt: lastDueAt(now), id: '' })
    for (const timer of page) if (!rests(timer, now)) submit(kind, timer, false)
  }

  const submitWaiting = (name: string, ofRail: Map<string, Waiting>): void => {
    let count = 0
    for (const [id, { kind, route, dueAt }] of ofRail) {
      if (count === TO_RAIL_PER_POLL) return
      if (route !== null && isPaused(memory, name, route)) continue
      count += 1
      ofRail.delete(id)
      submit(kind, { id, dueAt }, true)
    }
  }

  const poll = async (): Promise<void> => {
    for (const [name, ofRail] of waiting) if (rail.up(name)) submitWaiting(name, ofRail)
    await submitDue('intents')
    await submitDue('payouts')
    polls += 1
    if (polls % PUT_OFF_EVERY !== 0) return
    await submitPutOff('intents')
    await submitPutOff('payouts')
  }

  const run = async (): Promise<void> => {
    while (running) {
      await poll().catch((error: unknown) => log.error({ error }, 'reading due timers failed'))
      await pause(POLL_EVERY_MS)
    }
  }

  return {
    get corruptActors() {
      return corrupt.size
    },
    get waitingForRail() {
      return [...waiting.values()].reduce((total, ofRail) => total + ofRail.size, 0)
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
