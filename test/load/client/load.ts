/**
 * The journeys of one window: which one runs on which connection, counting and timing.
 *
 * Owns: the connections and the counts. Does not own: when the window begins and ends (window),
 * schedules (arrival_schedule), requests and judgement (scenario).
 *
 * - sent = answered + unanswered, begun = completed + failed, due = begun + given up + overdue:
 *   nothing that was due or sent is forgotten.
 * - The rate counts the journeys that completed inside of the measured part; the latency those
 *   that were due inside of it, each from when it was due until its last answer, however late
 *   that came.
 * - Failed journeys have no latency: a fast refusal must not look like a fast service. How long
 *   a refusal took is kept apart.
 * - A journey that waits for a webhook ends at the instant at which the webhook was received.
 * - From due to sent is the caller's own wait for a connection, from sent on the service's: both
 *   are told of the journeys that were completed and of those that were refused.
 */
import { performance, type RecordableHistogram } from 'node:perf_hooks'
import type { Answer } from './answer_reader.js'
import { connect, type Connection } from './connection.js'
import { createLatencies, createRoughLatencies, recordMs } from './latency.js'
import { closedLoop, type ArrivalSchedule } from './arrival_schedule.js'
import { COMPLETED, type JourneyEnd, type Scenario } from '../scenarios/scenario.js'

export interface Target {
  readonly address: { readonly host: string; readonly port: number }
  /** Connections, each with one request out at most. */
  readonly connections: number
}

/** What happened since the sample before. */
export interface IntervalSample {
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
  readonly clientDelay: number
}

/** Webhooks that were received at one instant (epoch milliseconds with their fraction). */
export interface WebhookReport {
  readonly at: number
  readonly entities: readonly string[]
}

export interface Summary {
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

interface ClientConnection {
  readonly index: number
  connection: Connection | undefined
  /** A journey is under way; `waiting`: nothing of it is out, it ends with reports. */
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
  private readonly connections: ClientConnection[] = []
  private readonly idle: ClientConnection[] = []
  private readonly failed = new Map<string, number>()
  private readonly latencies = createLatencies()
  private readonly refusals = createLatencies()
  private readonly refusalsFromDue = createLatencies()
  private pulsed = { completed: 0, failed: 0, givenUp: 0 }
  private sinceSample = createRoughLatencies()
  private sinceSampleFromSent = createRoughLatencies()
  private schedule: ArrivalSchedule = closedLoop()
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
    for (let index = 0; index < this.target.connections; index += 1) {
      const clientConnection: ClientConnection = {
        index,
        connection: undefined,
        state: 'idle',
        dueAt: 0,
        begunAt: 0,
        sentAt: 0,
      }
      await this.open(clientConnection)
      this.connections.push(clientConnection)
    }
  }

  private async open(clientConnection: ClientConnection): Promise<void> {
    clientConnection.connection = await connect(this.target.address, {
      answered: (answer) => this.receive(clientConnection, answer),
      lost: (reason) => this.lose(clientConnection, reason),
    })
    if (clientConnection.state === 'idle') this.idle.push(clientConnection)
  }

  start(schedule: ArrivalSchedule): void {
    this.schedule = schedule
    this.fill(performance.now())
  }

  measure(): void {
    this.measuredFrom = performance.now()
  }

  finish(): void {
    this.measuredTo = performance.now()
    this.schedule.end(this.measuredTo)
    this.settleWhenDrained(this.measuredTo)
  }

  /** Begins what is due, as long as there are connections for it. */
  fill(now: number): void {
    while (this.idle.length > 0 && !this.exhausted) {
      const dueAt = this.schedule.take(now)
      if (dueAt === undefined) return
      this.begin(dueAt)
    }
  }

  private begin(dueAt: number): void {
    // the one that has rested longest: servers close those that rest
    const clientConnection = this.idle.shift()
    if (clientConnection === undefined) return
    const request = this.scenario.begin(clientConnection.index)
    if (request === undefined) {
      this.idle.push(clientConnection)
      return this.exhaust()
    }
    this.begun += 1
    clientConnection.state = 'asking'
    clientConnection.dueAt = dueAt
    this.send(clientConnection, request)
    clientConnection.begunAt = clientConnection.sentAt
  }

  private send(clientConnection: ClientConnection, request: Buffer): void {
    this.sent += 1
    clientConnection.sentAt = performance.now()
    clientConnection.connection?.send(request)
  }

  private receive(clientConnection: ClientConnection, answer: Answer): void {
    if (clientConnection.state !== 'asking') return this.lose(clientConnection, 'unasked_answer')
    this.answered += 1
    const next = this.scenario.proceed(clientConnection.index, answer)
    if (Buffer.isBuffer(next)) return this.send(clientConnection, next)
    if (next.kind === 'waiting') {
      clientConnection.state = 'waiting'
      return
    }
    const now = performance.now()
    if (next.kind === 'failed') {
      recordMs(this.refusals, now - clientConnection.sentAt)
      recordMs(this.refusalsFromDue, now - clientConnection.dueAt)
    }
    this.endAndGoOn(clientConnection, next, now)
  }

  hear({ at, entities }: WebhookReport): void {
    const heardAt = at - performance.timeOrigin
    for (const entity of entities) {
      const index = this.scenario.hear(entity)
      const clientConnection = index === undefined ? undefined : this.connections[index]
      if (clientConnection?.state === 'waiting')
        this.endAndGoOn(clientConnection, COMPLETED, heardAt)
    }
  }

  private endAndGoOn(clientConnection: ClientConnection, end: JourneyEnd, at: number): void {
    this.end(clientConnection, end, at)
    if (clientConnection.connection !== undefined) this.idle.push(clientConnection)
    const now = performance.now()
    this.fill(now)
    this.settleWhenDrained(now)
  }

  private end(clientConnection: ClientConnection, end: JourneyEnd, now: number): void {
    clientConnection.state = 'idle'
    if (end.kind === 'failed') {
      this.failures += 1
      this.failed.set(end.code, (this.failed.get(end.code) ?? 0) + 1)
      return
    }
    this.completed += 1
    recordMs(this.sinceSample, now - clientConnection.dueAt)
    recordMs(this.sinceSampleFromSent, now - clientConnection.begunAt)
    if (now >= this.measuredFrom && now < this.measuredTo) this.completedInWindow += 1
    if (clientConnection.dueAt >= this.measuredFrom && clientConnection.dueAt < this.measuredTo) {
      recordMs(this.latencies, now - clientConnection.dueAt)
    }
  }

  private lose(clientConnection: ClientConnection, reason: string): void {
    const now = performance.now()
    clientConnection.connection?.close()
    clientConnection.connection = undefined
    if (clientConnection.state === 'asking') {
      this.scenario.abandon(clientConnection.index)
      this.end(clientConnection, { kind: 'failed', code: reason }, now)
    } else if (clientConnection.state === 'idle') {
      this.idle.splice(this.idle.indexOf(clientConnection), 1)
    }
    this.settleWhenDrained(now)
    void this.reopen(clientConnection)
  }

  /** Servers close connections that rest too long. A server that is gone ends the window. */
  private async reopen(clientConnection: ClientConnection): Promise<void> {
    try {
      await this.open(clientConnection)
    } catch {
      if (this.connections.every(({ connection }) => connection === undefined)) this.exhaust()
    }
    if (this.closed) clientConnection.connection?.close()
    else this.fill(performance.now())
  }

  private exhaust(): void {
    this.exhausted = true
    this.stop()
  }

  private settleWhenDrained(now: number): void {
    if (this.measuredTo === Infinity || this.connections.some(({ state }) => state !== 'idle'))
      return
    if (this.exhausted || this.schedule.overdue(now) === 0) this.settle()
  }

  intervalSample(startedAt: number, clientDelay: number): IntervalSample {
    const latencies = this.sinceSample
    const latenciesFromSent = this.sinceSampleFromSent
    const { completed, failed, givenUp } = this.pulsed
    const now = { completed: this.completed, failed: this.failures, givenUp: this.schedule.givenUp }
    this.sinceSample = createRoughLatencies()
    this.sinceSampleFromSent = createRoughLatencies()
    this.pulsed = now
    return {
      at: performance.now() - startedAt,
      completed: now.completed - completed,
      failed: now.failed - failed,
      givenUp: now.givenUp - givenUp,
      latencies,
      latenciesFromSent,
      clientDelay,
    }
  }

  close(): Summary {
    const now = performance.now()
    this.closed = true
    for (const clientConnection of this.connections) {
      clientConnection.connection?.close()
      const code = clientConnection.state === 'waiting' ? 'no_webhook' : 'unanswered'
      if (clientConnection.state !== 'idle')
        this.end(clientConnection, { kind: 'failed', code }, now)
    }
    const { sent, answered, begun, completed, completedInWindow, latencies } = this
    const seconds = (this.measuredTo - this.measuredFrom) / 1_000
    return {
      sent,
      answered,
      begun,
      completed,
      failed: Object.fromEntries(this.failed),
      overdue: this.schedule.overdue(now),
      givenUp: this.schedule.givenUp,
      seconds,
      completedInWindow,
      latencies,
      refusals: this.refusals,
      refusalsFromDue: this.refusalsFromDue,
    }
  }
}
