/**
 * The journeys of one window: their connections, counts and times.
 *
 * - sent = answered + unanswered, begun = completed + failed, due = begun + abandoned + overdue.
 * - The rate counts the journeys that completed within the measured part. The latency is of those
 *   that were due within it, from when each was due until its last answer or its webhook.
 * - Failed journeys have no latency, so a fast rejection does not count as a fast service. The
 *   latency of rejections is recorded separately.
 * - A webhook may arrive before the answer that names its entity; it is kept for a few seconds.
 */
import { performance } from 'node:perf_hooks'
import { openHttpSocket, type HttpResponse, type HttpSocket } from './http_socket.js'
import { createLatencies, recordMs } from './latency.js'
import { closedLoop, type ArrivalSchedule } from './arrival_schedule.js'
import type { Window } from './window.js'
import type { Scenario } from '../scenarios/scenario.js'

type Target = Pick<Window, 'address' | 'otherAddresses' | 'connections'>

/** Counts since the previous sample. */
export type Sample = ReturnType<Load['sample']>

/** Entities whose final webhook was answered at one instant (epoch milliseconds, fractional). */
export interface WebhookNotice {
  readonly at: number
  readonly entities: readonly string[]
}

export type Summary = ReturnType<Load['close']>

interface Connection {
  readonly index: number
  socket: HttpSocket | undefined
  /** `waiting`: all requests are answered, the webhook is not received yet. */
  state: 'idle' | 'busy' | 'waiting'
  dueAt: number
  begunAt: number
  sentAt: number
}

const UNUSED = { socket: undefined, state: 'idle', dueAt: 0, begunAt: 0, sentAt: 0 } as const

/** Tests have a clock and connections of their own. */
const REAL = { now: () => performance.now(), connect: openHttpSocket }
const EARLY_MAX = 20_000

/** Of completed journeys, from due and from sent; two figures are enough for short samples. */
const emptySample = () => ({
  ...{ completed: 0, failed: 0, abandoned: 0 },
  ...{ latencies: createLatencies(2), latenciesFromSent: createLatencies(2) },
})

export class Load {
  /** The presigned requests or the connections are used up. */
  readonly usedUp: Promise<void>
  readonly drained: Promise<void>
  private readonly target: Target
  private readonly scenario: Scenario
  private readonly environment: typeof REAL
  private readonly connections: Connection[] = []
  private readonly idle: Connection[] = []
  private readonly awaited = new Map<string, Connection>()
  private early = new Set<string>()
  private earlier = new Set<string>()
  private readonly failed = new Map<string, number>()
  private readonly latencies = createLatencies()
  private readonly rejections = createLatencies()
  private sinceSample = emptySample()
  private abandonedBefore = 0
  private schedule: ArrivalSchedule = closedLoop()
  private readonly counts = { sent: 0, answered: 0, begun: 0, completed: 0, completedInWindow: 0 }
  private measuredFrom = Infinity
  private measuredTo = Infinity
  private exhausted = false
  private closed = false
  private stop: () => void = () => undefined
  private settle: () => void = () => undefined

  constructor(target: Target, scenario: Scenario, environment = REAL) {
    this.target = target
    this.scenario = scenario
    this.environment = environment
    this.usedUp = new Promise((resolve) => (this.stop = resolve))
    this.drained = new Promise((resolve) => (this.settle = resolve))
  }

  /** One after the other: a burst would overflow the listener's backlog. */
  async connect(): Promise<void> {
    for (let index = 0; index < this.target.connections; index += 1) {
      const connection: Connection = { index, ...UNUSED }
      await this.open(connection)
      this.connections.push(connection)
    }
  }

  private async open(connection: Connection): Promise<void> {
    const { address, otherAddresses = [] } = this.target
    const turn = connection.index % (1 + otherAddresses.length)
    connection.socket = await this.environment.connect(otherAddresses[turn - 1] ?? address, {
      answered: (response) => this.receive(connection, response),
      lost: (reason) => this.lose(connection, reason),
    })
    if (connection.state === 'idle') this.idle.push(connection)
  }

  start(schedule: ArrivalSchedule): void {
    this.schedule = schedule
    this.fill()
  }

  measure(): void {
    this.measuredFrom = this.environment.now()
  }

  finish(): void {
    this.measuredTo = this.environment.now()
    this.schedule.end(this.measuredTo)
    this.settleWhenDrained()
  }

  /** Begins due journeys while there are idle connections. */
  fill(): void {
    const now = this.environment.now()
    while (this.idle.length > 0 && !this.exhausted) {
      const dueAt = this.schedule.take(now)
      if (dueAt === undefined) return
      this.begin(dueAt)
    }
  }

  private begin(dueAt: number): void {
    const connection = this.idle.shift()! // the longest idle one: servers close idle connections
    const request = this.scenario.begin(connection.index)
    if (request === undefined) {
      this.idle.push(connection)
      return this.exhaust()
    }
    this.counts.begun += 1
    Object.assign(connection, { state: 'busy', dueAt, begunAt: this.environment.now() })
    this.send(connection, request)
  }

  private send(connection: Connection, request: Buffer): void {
    this.counts.sent += 1
    connection.sentAt = this.environment.now()
    connection.socket?.send(request)
  }

  private receive(connection: Connection, response: HttpResponse): void {
    if (connection.state !== 'busy') return this.lose(connection, 'unexpected_answer')
    this.counts.answered += 1
    const next = this.scenario.proceed(connection.index, response)
    if (Buffer.isBuffer(next)) return this.send(connection, next)
    const now = this.environment.now()
    if (next.kind === 'failed') {
      recordMs(this.rejections, now - connection.sentAt)
      this.fail(connection, next.code)
    } else if (next.kind === 'awaits_webhook' && !this.hasCome(next.entity)) {
      connection.state = 'waiting'
      this.awaited.set(next.entity, connection)
      return
    } else this.complete(connection, now)
    this.goOn(connection)
  }

  private hasCome(entity: string): boolean {
    return this.early.delete(entity) || this.earlier.delete(entity)
  }

  webhooks({ at, entities }: WebhookNotice): void {
    for (const entity of entities) {
      const connection = this.awaited.get(entity)
      if (connection === undefined) {
        this.early.add(entity)
        continue
      }
      this.awaited.delete(entity)
      this.complete(connection, at - performance.timeOrigin)
      this.goOn(connection)
    }
    if (this.early.size <= EARLY_MAX) return
    this.earlier = this.early
    this.early = new Set()
  }

  private goOn(connection: Connection): void {
    if (connection.socket !== undefined) this.idle.push(connection)
    this.fill()
    this.settleWhenDrained()
  }

  private fail(connection: Connection, code: string): void {
    connection.state = 'idle'
    this.sinceSample.failed += 1
    this.failed.set(code, (this.failed.get(code) ?? 0) + 1)
  }

  private complete(connection: Connection, at: number): void {
    const { dueAt, begunAt } = connection
    connection.state = 'idle'
    this.counts.completed += 1
    this.sinceSample.completed += 1
    recordMs(this.sinceSample.latencies, at - dueAt)
    recordMs(this.sinceSample.latenciesFromSent, at - begunAt)
    const isMeasured = (time: number): boolean =>
      time >= this.measuredFrom && time < this.measuredTo
    if (isMeasured(at)) this.counts.completedInWindow += 1
    if (isMeasured(dueAt)) recordMs(this.latencies, at - dueAt)
  }

  private lose(connection: Connection, reason: string): void {
    connection.socket?.close()
    connection.socket = undefined
    if (connection.state === 'busy') this.fail(connection, reason)
    else if (connection.state === 'idle') this.idle.splice(this.idle.indexOf(connection), 1)
    this.settleWhenDrained()
    void this.reopen(connection)
  }

  /** Servers close idle connections. A stopped server ends the window. */
  private async reopen(connection: Connection): Promise<void> {
    try {
      await this.open(connection)
    } catch {
      if (this.connections.every(({ socket }) => socket === undefined)) this.exhaust()
    }
    if (this.closed) connection.socket?.close()
    else this.fill()
  }

  private exhaust(): void {
    this.exhausted = true
    this.stop()
  }

  private settleWhenDrained(): void {
    if (this.measuredTo === Infinity) return
    if (this.connections.some(({ state }) => state !== 'idle')) return
    if (this.exhausted || this.schedule.overdue(this.environment.now()) === 0) this.settle()
  }

  sample(startedAt: number, clientDelayMs: number) {
    const abandoned = this.schedule.abandoned - this.abandonedBefore
    const at = this.environment.now() - startedAt // milliseconds since the load began
    const sample = { ...this.sinceSample, at, abandoned, clientDelayMs }
    this.abandonedBefore = this.schedule.abandoned
    this.sinceSample = emptySample()
    return sample
  }

  close() {
    this.closed = true
    for (const connection of this.connections) {
      connection.socket?.close()
      if (connection.state === 'waiting') this.fail(connection, 'no_webhook')
      if (connection.state === 'busy') this.fail(connection, 'unanswered')
    }
    const { latencies, rejections } = this
    return {
      ...this.counts,
      /** Due journeys that never began. */
      overdue: this.schedule.overdue(this.environment.now()),
      abandoned: this.schedule.abandoned,
      failed: Object.fromEntries(this.failed) as Readonly<Record<string, number>>,
      /** Less than planned when the presigned requests were used up. */
      seconds: (this.measuredTo - this.measuredFrom) / 1_000,
      ...{ latencies, rejections },
    }
  }
}
