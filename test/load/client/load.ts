/**
 * The journeys of one window: which one runs on which connection, counting and timing.
 *
 * Owns: the connections and the counts. Does not own: when the window begins and ends (window),
 * schedules (pace), requests and judgement (scenario).
 *
 * W1. sent = answered + unanswered, begun = completed + failed, due = begun + given up + overdue:
 *     nothing that was due or sent is forgotten.
 * W2. The rate counts the journeys that completed inside of the measured part; the latency those
 *     that were due inside of it, each from when it was due until its last answer, however late
 *     that came.
 * W3. Failed journeys have no latency: a fast refusal must not look like a fast service. How long
 *     a refusal took is kept apart.
 * W4. A journey that waits for a webhook ends at the instant at which the webhook was received.
 * W5. From due to sent is the caller's own wait for a connection, from sent on the service's: both
 *     are told of the journeys that were completed and of those that were refused.
 */
import { performance, type RecordableHistogram } from 'node:perf_hooks'
import type { Answer } from './answer_reader.js'
import { connect, type Connection } from './connection.js'
import { createLatencies, createRoughLatencies, recordMs } from './latency.js'
import { closedLoop, type Pace } from './pace.js'
import { COMPLETED, type JourneyEnd, type Scenario } from '../scenarios/scenario.js'

export interface Target {
  readonly address: { readonly host: string; readonly port: number }
  /** Connections, each with one request out at most. */
  readonly lanes: number
}

/** What happened since the pulse before. */
export interface Pulse {
  /** Milliseconds since the load began. */
  readonly at: number
  readonly completed: number
  readonly failed: number
  readonly givenUp: number
  /** Of the completed journeys, each from when it was due. */
  readonly latencies: RecordableHistogram
  /** Likewise, each from when its first request was sent. */
  readonly latenciesFromSent: RecordableHistogram
  /** How late the client itself came to send and to read, 99th percentile, milliseconds. */
  readonly ownDelay: number
}

/** Webhooks that were received at one instant (epoch milliseconds with their fraction). */
export interface News {
  readonly at: number
  readonly entities: readonly string[]
}

export interface Tally {
  /** Requests. */
  readonly sent: number
  readonly answered: number
  /** Journeys; `failed` by code. */
  readonly begun: number
  readonly completed: number
  readonly failed: Readonly<Record<string, number>>
  /** Due journeys that never began: too late, or given up. */
  readonly overdue: number
  readonly givenUp: number
  /** The measured part. It is shorter than asked for when the supply was used up. */
  readonly seconds: number
  readonly completedInWindow: number
  readonly latencies: RecordableHistogram
  /** From sending to the refusal, and from when the journey was due. */
  readonly refusals: RecordableHistogram
  readonly refusalsFromDue: RecordableHistogram
}

interface Lane {
  readonly index: number
  connection: Connection | undefined
  /** A journey is under way; `waiting`: nothing of it is out, it ends with news. */
  state: 'idle' | 'asking' | 'waiting'
  dueAt: number
  /** Of the journey's first request, and of its last. */
  begunAt: number
  sentAt: number
}

export class Load {
  /** The supply or the connections: there is nothing left to go on with. */
  readonly usedUp: Promise<void>
  readonly drained: Promise<void>
  private readonly target: Target
  private readonly scenario: Scenario
  private readonly lanes: Lane[] = []
  private readonly idle: Lane[] = []
  private readonly failed = new Map<string, number>()
  private readonly latencies = createLatencies()
  private readonly refusals = createLatencies()
  private readonly refusalsFromDue = createLatencies()
  private pulsed = { completed: 0, failed: 0, givenUp: 0 }
  private sincePulse = createRoughLatencies()
  private sincePulseFromSent = createRoughLatencies()
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

  constructor(target: Target, scenario: Scenario) {
    this.target = target
    this.scenario = scenario
    this.usedUp = new Promise((resolve) => (this.stop = resolve))
    this.drained = new Promise((resolve) => (this.settle = resolve))
  }

  /** One after the other: a burst would overflow the listener's backlog. */
  async connect(): Promise<void> {
    for (let index = 0; index < this.target.lanes; index += 1) {
      const lane: Lane = {
        index,
        connection: undefined,
        state: 'idle',
        dueAt: 0,
        begunAt: 0,
        sentAt: 0,
      }
      await this.open(lane)
      this.lanes.push(lane)
    }
  }

  private async open(lane: Lane): Promise<void> {
    lane.connection = await connect(this.target.address, {
      answered: (answer) => this.receive(lane, answer),
      lost: (reason) => this.lose(lane, reason),
    })
    if (lane.state === 'idle') this.idle.push(lane)
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
    const lane = this.idle.shift() // the one that has rested longest: servers close those that rest
    if (lane === undefined) return
    const request = this.scenario.begin(lane.index)
    if (request === undefined) {
      this.idle.push(lane)
      return this.exhaust()
    }
    this.begun += 1
    lane.state = 'asking'
    lane.dueAt = dueAt
    this.send(lane, request)
    lane.begunAt = lane.sentAt
  }

  private send(lane: Lane, request: Buffer): void {
    this.sent += 1
    lane.sentAt = performance.now()
    lane.connection?.send(request)
  }

  private receive(lane: Lane, answer: Answer): void {
    if (lane.state !== 'asking') return this.lose(lane, 'unasked_answer')
    this.answered += 1
    const next = this.scenario.proceed(lane.index, answer)
    if (Buffer.isBuffer(next)) return this.send(lane, next)
    if (next.kind === 'waiting') {
      lane.state = 'waiting'
      return
    }
    const now = performance.now()
    if (next.kind === 'failed') {
      recordMs(this.refusals, now - lane.sentAt)
      recordMs(this.refusalsFromDue, now - lane.dueAt)
    }
    this.endAndGoOn(lane, next, now)
  }

  hear({ at, entities }: News): void {
    const heardAt = at - performance.timeOrigin
    for (const entity of entities) {
      const index = this.scenario.hear(entity)
      const lane = index === undefined ? undefined : this.lanes[index]
      if (lane?.state === 'waiting') this.endAndGoOn(lane, COMPLETED, heardAt)
    }
  }

  private endAndGoOn(lane: Lane, end: JourneyEnd, at: number): void {
    this.end(lane, end, at)
    if (lane.connection !== undefined) this.idle.push(lane)
    const now = performance.now()
    this.fill(now)
    this.settleWhenDrained(now)
  }

  private end(lane: Lane, end: JourneyEnd, now: number): void {
    lane.state = 'idle'
    if (end.kind === 'failed') {
      this.failures += 1
      this.failed.set(end.code, (this.failed.get(end.code) ?? 0) + 1)
      return
    }
    this.completed += 1
    recordMs(this.sincePulse, now - lane.dueAt)
    recordMs(this.sincePulseFromSent, now - lane.begunAt)
    if (now >= this.measuredFrom && now < this.measuredTo) this.completedInWindow += 1
    if (lane.dueAt >= this.measuredFrom && lane.dueAt < this.measuredTo) {
      recordMs(this.latencies, now - lane.dueAt)
    }
  }

  private lose(lane: Lane, reason: string): void {
    const now = performance.now()
    lane.connection?.close()
    lane.connection = undefined
    if (lane.state === 'asking') {
      this.scenario.abandon(lane.index)
      this.end(lane, { kind: 'failed', code: reason }, now)
    } else if (lane.state === 'idle') {
      this.idle.splice(this.idle.indexOf(lane), 1)
    }
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
    if (this.measuredTo === Infinity || this.lanes.some(({ state }) => state !== 'idle')) return
    if (this.exhausted || this.pace.overdue(now) === 0) this.settle()
  }

  pulse(startedAt: number, ownDelay: number): Pulse {
    const latencies = this.sincePulse
    const latenciesFromSent = this.sincePulseFromSent
    const { completed, failed, givenUp } = this.pulsed
    const now = { completed: this.completed, failed: this.failures, givenUp: this.pace.givenUp }
    this.sincePulse = createRoughLatencies()
    this.sincePulseFromSent = createRoughLatencies()
    this.pulsed = now
    return {
      at: performance.now() - startedAt,
      completed: now.completed - completed,
      failed: now.failed - failed,
      givenUp: now.givenUp - givenUp,
      latencies,
      latenciesFromSent,
      ownDelay,
    }
  }

  close(): Tally {
    const now = performance.now()
    this.closed = true
    for (const lane of this.lanes) {
      lane.connection?.close()
      const code = lane.state === 'waiting' ? 'no_webhook' : 'unanswered'
      if (lane.state !== 'idle') this.end(lane, { kind: 'failed', code }, now)
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
      givenUp: this.pace.givenUp,
      seconds,
      completedInWindow,
      latencies,
      refusals: this.refusals,
      refusalsFromDue: this.refusalsFromDue,
    }
  }
}
