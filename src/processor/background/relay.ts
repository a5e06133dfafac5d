/**
 * The relay: committed events, from the outbox to the bus.
 *
 * Owns: which events still have to be published, and when to publish one again. Does not own: the
 * events table (store), the connection (bus/nats), when an event is settled (the pool reports it).
 *
 * - Events go out as they are committed, without a look at the disk, while the bus takes them.
 * - Memory is bounded. What does not fit, or is not known to be stored, is read again from the
 *   outbox: there an event stays open until its outcome is recorded, so forgetting one here
 *   loses nothing.
 * - While catching up, new events are not queued: they are in the outbox, behind those being
 *   read.
 * - The same event may be published more than once. The stream drops what it saw within its
 *   window, the pool the rest.
 * - An event that stays open is published again after 1, 2, 4, 8… minutes, each time under a new
 *   message id: the stream may have lost it, and its window would drop an id it knows.
 */
import { MINUTE, SECOND, type Clock, type Instant } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { createRetry, type Backoff } from '../../base/retry.js'
import type { StoredEvent } from '../../store/store.js'

/** Events that wait for the bus in memory: some seconds of full load. */
const WAITING_MAX = 10_000
const PAGE_MAX = 500
const AGAIN: Backoff = { firstMs: 200, maxMs: 5 * SECOND }
const SWEEP_EVERY_MS = 30 * SECOND
/** A pool that works has long recorded the outcome. */
const SWEEP_OLDER_THAN_MS = MINUTE
/** Pages of one sweep; with more events open than that, a round takes several sweeps. */
const SWEEP_PAGES_MAX = 20

/** What the relay asks of a bus. */
export interface EventBus {
  /** True when the bus holds the event, false when that is not known. Never rejects. */
  publish(event: StoredEvent, messageId: string): Promise<boolean>
  /** How many more events it takes now; none while it is down. */
  room(): number
  /** Called each time it comes up. `emptied`: it has lost what it held. */
  onUp(handler: (emptied: boolean) => void): void
}

export interface RelayOptions {
  readonly bus: EventBus
  /** Events behind a position whose outcome is not recorded, in order. */
  readonly openEvents: (afterPosition: number, limit: number) => Promise<readonly StoredEvent[]>
  readonly clock: Clock
  readonly log: Logger
}

export interface Relay {
  /** Takes events whose commit is on disk, in order. */
  push(events: readonly StoredEvent[]): void
  /** For metrics: how many wait in memory, and whether the outbox is being read. */
  backlog(): { readonly waiting: number; readonly catchingUp: boolean }
  stop(): Promise<void>
}

/** Starts with what the outbox holds open. */
export function createRelay({ bus, openEvents, clock, log }: RelayOptions): Relay {
  let waiting: StoredEvent[] = []
  /** While catching up: all up to here is in the stream or has its outcome. */
  let cursor = 0
  let lastPushed = 0
  let behind = false
  let catchingUp: Promise<void> = Promise.resolve()
  let stopped = false
  const backOff = createBackOff()

  const push = (events: readonly StoredEvent[]): void => {
    const last = events.at(-1)
    if (last === undefined) return
    lastPushed = last.position
    if (behind) return
    for (const event of events) waiting.push(event)
    if (waiting.length > WAITING_MAX) fallBehind(last.position)
    else publishWaiting()
  }

  const publishWaiting = (): void => {
    for (const event of waiting.splice(0, bus.room())) {
      void bus.publish(event, event.id).then((stored) => {
        if (!stored) fallBehind(event.position)
        else if (waiting.length > 0) publishWaiting()
      })
    }
  }

  /** From this position on, or from the first that waits, the outbox is read again. */
  const fallBehind = (position: number): void => {
    const before = Math.min(position, waiting[0]?.position ?? position) - 1
    waiting = []
    if (stopped) return
    cursor = behind ? Math.min(cursor, before) : before
    if (behind) return
    behind = true
    catchingUp = catchUp()
  }

  const catchUp = async (): Promise<void> => {
    log.debug({ after: cursor }, 'relay reads the outbox')
    while (!stopped) {
      const start = cursor
      const seen = lastPushed
      const page = await read(start)
      if (page === undefined || !(await publishAll(page, (event) => event.id))) {
        await backOff.wait()
        continue
      }
      backOff.reset()
      if (cursor < start) continue // an earlier event turned out to be missing meanwhile
      const isLast = page.length < PAGE_MAX
      cursor = Math.max(start, page.at(-1)?.position ?? 0, isLast ? seen : 0)
      if (isLast && lastPushed === seen) {
        behind = false
        return
      }
    }
  }

  const read = (after: number): Promise<readonly StoredEvent[] | undefined> =>
    openEvents(after, PAGE_MAX).catch((fault: unknown) => {
      log.error({ fault: String(fault) }, 'outbox not readable')
      return undefined
    })

  /** Publishes a page once there is room for all of it. True when the stream holds every one. */
  const publishAll = async (
    page: readonly StoredEvent[],
    messageId: (event: StoredEvent) => string,
  ): Promise<boolean> => {
    if (bus.room() < page.length) return false
    const stored = await Promise.all(page.map((event) => bus.publish(event, messageId(event))))
    return stored.every((each) => each)
  }

  const sweeper = createSweeper({ read, publishAll, clock })
  const sweeps = setInterval(() => {
    if (!behind && bus.room() > 0) sweeper.sweep()
  }, SWEEP_EVERY_MS)

  bus.onUp((emptied) => {
    if (emptied) fallBehind(1)
    backOff.end()
    if (!behind) publishWaiting()
  })
  fallBehind(1)

  return {
    push,
    backlog: () => ({ waiting: waiting.length, catchingUp: behind }),
    stop: async () => {
      stopped = true
      clearInterval(sweeps)
      backOff.end()
      await catchingUp
      await sweeper.idle()
    },
  }
}

interface SweeperOptions {
  readonly read: (after: number) => Promise<readonly StoredEvent[] | undefined>
  readonly publishAll: (
    events: readonly StoredEvent[],
    messageId: (event: StoredEvent) => string,
  ) => Promise<boolean>
  readonly clock: Clock
}

/**
 * - A round walks over all open events; one is due when its number has grown since the round
 * before.
 */
function createSweeper({ read, publishAll, clock }: SweeperOptions) {
  let roundBefore = clock.now()
  let round = roundBefore
  let cursor = 0
  let sweeping: Promise<void> | undefined

  const walk = async (): Promise<void> => {
    if (cursor === 0) round = clock.now()
    for (let pages = 0; pages < SWEEP_PAGES_MAX; pages++) {
      const page = await read(cursor)
      if (page === undefined) return
      const due = page.filter(
        (event) => sweepNumber(event, round) > sweepNumber(event, roundBefore),
      )
      if (!(await publishAll(due, (event) => `${event.id}:sweep${sweepNumber(event, round)}`)))
        return
      const last = page.at(-1)
      if (page.length < PAGE_MAX || last === undefined || sweepNumber(last, round) === 0) {
        cursor = 0
        roundBefore = round
        return
      }
      cursor = last.position
    }
  }

  return {
    sweep: (): void => {
      sweeping ??= walk().finally(() => (sweeping = undefined))
    },
    idle: async (): Promise<void> => sweeping,
  }
}

/** 0 for a young event, then 1, 2, 3… from 1, 2, 4… minutes on. */
function sweepNumber(event: StoredEvent, at: Instant): number {
  const age = at - event.createdAt
  return age < SWEEP_OLDER_THAN_MS ? 0 : 1 + Math.floor(Math.log2(age / SWEEP_OLDER_THAN_MS))
}

/** Growing pauses that can be cut short. */
function createBackOff() {
  const retry = createRetry(AGAIN)
  let resume: () => void = () => undefined
  return {
    wait: (): Promise<void> =>
      new Promise((resolve) => {
        resume = resolve
        retry.schedule(resolve)
      }),
    reset: retry.reset,
    end: (): void => {
      retry.cancel()
      resume()
    },
  }
}
