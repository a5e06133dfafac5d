/**
 * The relay: publishes committed events from the outbox to the bus.
 *
 * Owns: which events remain to be published, when to publish again. Does not own: the events table
 * (store), the connection (bus/nats), settling an event (the webhook pool reports it).
 *
 * - While the bus accepts them, events are published as they are committed, without reading the
 *   disk.
 * - Memory is bounded. Events that do not fit, or whose publication is not confirmed, are read
 *   again from the outbox, where an event stays open until its outcome is recorded.
 * - While catching up, new events are not queued: the outbox holds them.
 * - Delivery is at least once. The stream drops duplicates within its window, the pool later ones.
 * - An event that stays open is published again after 1, 2, 4, 8… minutes, each time with a new
 *   message id: the stream may have lost it, and its window would drop a known id.
 * - An event that its commit has settled is not published, except the newest one, at most once in
 *   MARK_EVERY_MS: the newest event of the bus and of the pools is a mark (recovery/marks), which
 *   must not stay behind the books. A later event in the bus replaces it.
 * - What is read from the outbox is published as repeated: an earlier relay or another message may
 *   have published it, and a pool that gets it asks the others first.
 */
import { MINUTE, SECOND, type Clock, type Instant } from '../../base/clock.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Logger } from '../../base/log.js'
import { createRetry, type Backoff } from '../../base/retry.js'
import type { CommittedEvent } from '../cycle/commit_batch.js'
import type { StoredEvent } from '../../store/store.js'

/** Events queued in memory: about one second of full load. */
const WAITING_MAX = 10_000
const PAGE_MAX = 500
const RETRY: Backoff = { firstMs: 200, maxMs: 5 * SECOND }
const SWEEP_EVERY_MS = 30 * SECOND
/** A healthy pool records outcomes well before this. */
const SWEEP_OLDER_THAN_MS = MINUTE
/** As often as the high-water file is written. */
const MARK_EVERY_MS = SECOND
/** Pages per sweep; with more open events a round takes several sweeps. */
const SWEEP_PAGES_MAX = 20

/** The part of the bus that the relay uses. */
export interface EventBus {
  /** True when the bus has stored the event, false when that is unknown. Never rejects. */
  publish(event: StoredEvent, messageId: string, isRepeated?: boolean): Promise<boolean>
  /** How many more events it accepts now; 0 while it is down. */
  capacity(): number
  /** Called on each connect. `emptied`: the stream lost its messages. */
  onUp(handler: (emptied: boolean) => void): void
}

export interface RelayOptions {
  readonly bus: EventBus
  /** Open events after a position, in order. */
  readonly openEvents: (afterPosition: number, limit: number) => Promise<readonly StoredEvent[]>
  readonly clock: Clock
  readonly log: Logger
}

export interface Relay {
  /** Adds committed events, in order. */
  push(events: readonly CommittedEvent[]): void
  /** Reads the outbox again: events of a partner have come that these books did not commit. */
  readAgain(): void
  /** For metrics: events queued in memory, and whether the outbox is being read. */
  backlog(): { readonly waiting: number; readonly catchingUp: boolean }
  stop(): Promise<void>
}

/** Starts with the open events of the outbox. */
export function createRelay({ bus, openEvents, clock, log }: RelayOptions): Relay {
  let waiting: StoredEvent[] = []
  /** While catching up: every event up to here is in the stream or settled. */
  let cursor = 0
  let lastPushed = 0
  let behind = false
  let catchingUp: Promise<void> = Promise.resolve()
  let stopped = false
  const backOff = createBackOff()
  const marks = createEventMarks(bus)

  const push = (committed: readonly CommittedEvent[]): void => {
    marks.committed(committed.at(-1))
    const events = committed.filter(({ isSettled }) => isSettled !== true)
    const last = events.at(-1)
    if (last === undefined) return
    lastPushed = last.position
    if (behind) return
    for (const event of events) waiting.push(event)
    if (waiting.length > WAITING_MAX) fallBehind(last.position)
    else publishWaiting()
  }

  const publishWaiting = (): void => {
    for (const event of waiting.splice(0, bus.capacity())) {
      crashPoint('relay.publishing')
      void bus.publish(event, event.id).then((stored) => {
        crashPoint('relay.published')
        if (!stored) fallBehind(event.position)
        else if (waiting.length > 0) publishWaiting()
      })
    }
  }

  /** Reads the outbox again from this position, or from the first queued event. */
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
      if (cursor < start) continue // an earlier event was not stored
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
      log.error({ reason: String(fault) }, 'cannot read the outbox')
      return undefined
    })

  /** Publishes a page when all of it fits. True when the stream has stored every event. */
  const publishAll = async (
    page: readonly StoredEvent[],
    messageId: (event: StoredEvent) => string,
  ): Promise<boolean> => {
    if (bus.capacity() < page.length) return false
    const stored = await Promise.all(
      page.map((event) => bus.publish(event, messageId(event), true)),
    )
    return stored.every((each) => each)
  }

  const sweeper = createSweeper({ read, publishAll, clock })
  const sweeps = setInterval(() => {
    if (!behind && bus.capacity() > 0) sweeper.sweep()
  }, SWEEP_EVERY_MS)

  bus.onUp((emptied) => {
    if (emptied) fallBehind(1)
    backOff.end()
    if (!behind) publishWaiting()
  })
  fallBehind(1)

  return {
    push,
    readAgain: () => fallBehind(1),
    backlog: () => ({ waiting: waiting.length, catchingUp: behind }),
    stop: async () => {
      stopped = true
      clearInterval(sweeps)
      backOff.end()
      await catchingUp
      await sweeper.idle()
      await marks.stop()
    },
  }
}

/** Publishes the newest settled event, seldom. One that the bus does not store is not repeated. */
function createEventMarks(bus: EventBus) {
  let newest: StoredEvent | undefined
  let timer: NodeJS.Timeout | undefined

  const publish = async (): Promise<void> => {
    timer = undefined
    const event = newest
    newest = undefined
    if (event !== undefined && bus.capacity() > 0) await bus.publish(event, event.id)
  }

  return {
    committed: (last: CommittedEvent | undefined): void => {
      newest = last?.isSettled === true ? last : undefined
      if (newest !== undefined) timer ??= setTimeout(() => void publish(), MARK_EVERY_MS)
    },
    stop: async (): Promise<void> => {
      clearTimeout(timer)
      await publish()
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

/** Walks all open events in rounds; an event is due when its sweep number has grown. */
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

/** 0 below one minute of age, then 1, 2, 3… from 1, 2, 4… minutes on. */
function sweepNumber(event: StoredEvent, at: Instant): number {
  const age = at - event.createdAt
  return age < SWEEP_OLDER_THAN_MS ? 0 : 1 + Math.floor(Math.log2(age / SWEEP_OLDER_THAN_MS))
}

/** Exponential back-off that can be cut short. */
function createBackOff() {
  const retry = createRetry(RETRY)
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
