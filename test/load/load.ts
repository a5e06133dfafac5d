/**
 * One window of load: connects, leads in, measures, drains.
 *
 * Owns: which journey runs on which connection, counting and timing. Does not own: schedules
 * (pace), requests and judgement (scenario).
 *
 * W1. sent = answered + unanswered, begun = completed + failed: nothing that was sent is forgotten.
 * W2. The rate counts the journeys that completed inside of the measured part; the latency those
 *     that were due inside of it, each from when it was due until its last answer, however late
 *     that came.
 * W3. Failed journeys have no latency: a fast refusal must not look like a fast service.
 */
import { performance, type RecordableHistogram } from 'node:perf_hooks'
import type { Answer } from './answer_reader.js'
import { connect, type Connection } from './connection.js'
import { createLatencies, recordMs } from './latency.js'
import { closedLoop, openLoop, type Pace } from './pace.js'
import type { JourneyEnd, Scenario } from './scenario.js'

export interface Window {
  readonly address: { readonly host: string; readonly port: number }
  /** Connections, each with one request out at most. */
  readonly lanes: number
  /** Undefined: closed loop. */
  readonly ratePerSecond: number | undefined
  readonly leadInMs: number
  readonly measureMs: number
}

export interface Watch {
  /** The measured part begins and ends. */
  readonly opened: () => void
  readonly closed: () => void
  /** Each second. */
  readonly progress: (progress: Progress) => void
}

export interface Progress {
  readonly completed: number
  readonly failed: number
}

export interface Tally {
  /** Requests. */
  readonly sent: number
  readonly answered: number
  /** Journeys; `failed` by code. */
  readonly begun: number
  readonly completed: number
  readonly failed: Readonly<Record<string, number>>
  /** Due journeys that never began. */
  readonly overdue: number
  /** The measured part. It is shorter than asked for when the supply was used up. */
  readonly seconds: number
  readonly completedInWindow: number
  readonly latencies: RecordableHistogram
}

/** Longer than the gateway takes to answer that it can not answer. */
const DRAIN_MS = 10_000
const PROGRESS_EVERY_MS = 1_000
/** How late an open loop may notice that a journey is due; it is part of the latency. */
const TICK_MS = 1

export async function runWindow(
  window: Window,
  scenario: Scenario,
  watch: Watch,
  drainMs = DRAIN_MS,
): Promise<Tally> {
  const load = new Load(window, scenario)
  await load.connect()
  const startedAt = performance.now()
  const { ratePerSecond } = window
  const pace = ratePerSecond === undefined ? closedLoop() : openLoop(startedAt, ratePerSecond)
  const ticks = pace.needsTicks
    ? setInterval(() => load.fill(performance.now()), TICK_MS)
    : undefined
  const reports = setInterval(() => watch.progress(load.progress()), PROGRESS_EVERY_MS)
  load.start(pace)

  await within(window.leadInMs, load.usedUp)
  load.measure()
  watch.opened()
  await within(window.measureMs, load.usedUp)
  load.finish()
  watch.closed()
  await within(drainMs, load.drained)

  clearInterval(ticks)
  clearInterval(reports)
  return load.close()
}

interface Lane {
  readonly index: number
  connection: Connection | undefined
  busy: boolean
  dueAt: number
}

class Load {
  /** The supply or the connections: there is nothing left to go on with. */
  readonly usedUp: Promise<void>
  readonly drained: Promise<void>
  private readonly window: Window
  private readonly scenario: Scenario
  private readonly lanes: Lane[] = []
  private readonly idle: Lane[] = []
  private readonly failed = new Map<string, number>()
  private readonly latencies = createLatencies()
  private pace: Pace = closedLoop()
  private sent = 0
  private answered = 0
  private begun = 0
  private completed = 0
  private completedInWindow = 0
  private measuredFrom = Infinity
  private measuredTo = Infinity
  private failures = 0
  private exhausted = false
  private closed = false
  private stop: () => void = () => undefined
  private settle: () => void = () => undefined

  constructor(window: Window, scenario: Scenario) {
    this.window = window
    this.scenario = scenario
    this.usedUp = new Promise((resolve) => (this.stop = resolve))
    this.drained = new Promise((resolve) => (this.settle = resolve))
  }

  /** One after the other: a burst would overflow the listener's backlog. */
  async connect(): Promise<void> {
    for (let index = 0; index < this.window.lanes; index += 1) {
      const lane: Lane = { index, connection: undefined, busy: false, dueAt: 0 }
      await this.open(lane)
      this.lanes.push(lane)
    }
  }

  private async open(lane: Lane): Promise<void> {
    lane.connection = await connect(this.window.address, {
      answered: (answer) => this.receive(lane, answer),
      lost: (reason) => this.lose(lane, reason),
    })
    this.idle.push(lane)
  }

  start(pace: Pace): void {
    this.pace = pace
    this.fill(performance.now())
  }

  measure(): void {
    this.measuredFrom = performance.now()
  }

  finish(): void {
    this.measuredTo = performance.now()
    this.pace.end(this.measuredTo)
    this.settleWhenDrained(this.measuredTo)
  }

  /** Begins what is due, as long as there are connections for it. */
  fill(now: number): void {
    while (this.idle.length > 0 && !this.exhausted) {
      const dueAt = this.pace.take(now)
      if (dueAt === undefined) return
      this.begin(dueAt)
    }
  }

  private begin(dueAt: number): void {
    const lane = this.idle.pop()
    if (lane === undefined) return
    const request = this.scenario.begin(lane.index)
    if (request === undefined) {
      this.idle.push(lane)
      return this.exhaust()
    }
    this.begun += 1
    lane.busy = true
    lane.dueAt = dueAt
    this.send(lane, request)
  }

  private send(lane: Lane, request: Buffer): void {
    this.sent += 1
    lane.connection?.send(request)
  }

  private receive(lane: Lane, answer: Answer): void {
    if (!lane.busy) return this.lose(lane, 'unasked_answer')
    this.answered += 1
    const next = this.scenario.proceed(lane.index, answer)
    if (Buffer.isBuffer(next)) return this.send(lane, next)
    const now = performance.now()
    this.end(lane, next, now)
    this.idle.push(lane)
    this.fill(now)
    this.settleWhenDrained(now)
  }

  private end(lane: Lane, end: JourneyEnd, now: number): void {
    lane.busy = false
    if (end.kind === 'failed') {
      this.failures += 1
      this.failed.set(end.code, (this.failed.get(end.code) ?? 0) + 1)
      return
    }
    this.completed += 1
    if (now >= this.measuredFrom && now < this.measuredTo) this.completedInWindow += 1
    if (lane.dueAt >= this.measuredFrom && lane.dueAt < this.measuredTo) {
      recordMs(this.latencies, now - lane.dueAt)
    }
  }

  private lose(lane: Lane, reason: string): void {
    const now = performance.now()
    lane.connection?.close()
    lane.connection = undefined
    if (lane.busy) this.end(lane, { kind: 'failed', code: reason }, now)
    else this.idle.splice(this.idle.indexOf(lane), 1)
    this.settleWhenDrained(now)
    void this.reopen(lane)
  }

  /** Servers close connections that rest too long. A server that is gone ends the window. */
  private async reopen(lane: Lane): Promise<void> {
    try {
      await this.open(lane)
    } catch {
      if (this.lanes.every(({ connection }) => connection === undefined)) this.exhaust()
    }
    if (this.closed) lane.connection?.close()
    else this.fill(performance.now())
  }

  private exhaust(): void {
    this.exhausted = true
    this.stop()
  }

  private settleWhenDrained(now: number): void {
    if (this.measuredTo === Infinity || this.lanes.some(({ busy }) => busy)) return
    if (this.exhausted || this.pace.overdue(now) === 0) this.settle()
  }

  progress(): Progress {
    return { completed: this.completed, failed: this.failures }
  }

  close(): Tally {
    const now = performance.now()
    this.closed = true
    for (const lane of this.lanes) {
      lane.connection?.close()
      if (lane.busy) this.end(lane, { kind: 'failed', code: 'unanswered' }, now)
    }
    const { sent, answered, begun, completed, completedInWindow, latencies } = this
    const seconds = (this.measuredTo - this.measuredFrom) / 1_000
    return {
      sent,
      answered,
      begun,
      completed,
      failed: Object.fromEntries(this.failed),
      overdue: this.pace.overdue(now),
      seconds,
      completedInWindow,
      latencies,
    }
  }
}

/** Resolves at the event, or after the time without it. */
function within(milliseconds: number, event: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    void event.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
