/**
 * The journeys of one window: their connections, counts and times.
 *
 * - sent = answered + unanswered, begun = completed + failed, due = begun + abandoned + overdue.
 * - The rate counts the journeys that completed within the measured part. The latency is of those
 *   that were due within it, from when each was due until its last answer or its webhook.
 * - Latencies by operation are those of the same journeys: their counts sum to that of all.
 * - Failed journeys have no latency, so a fast rejection does not count as a fast service. The
 *   latency of rejections is recorded separately.
 * - A webhook may arrive before the answer that names its entity; it is kept for a few seconds.
 */
import { performance, type RecordableHistogram } from 'node:perf_hooks'
import { closedLoop, openLoop, type ArrivalSchedule } from './arrival_schedule.js'
import type { Window } from './client.js'
import { openHttpSocket, type HttpResponse, type HttpSocket } from './http_socket.js'
import { createLatencies, recordMs } from './latency.js'
import type { Scenario } from '../scenarios/scenario.js'

/** Entities whose final webhook was answered at one instant (epoch milliseconds, fractional). */
export type WebhookNotice = Readonly<{ at: number; entities: readonly string[] }>

export type Load = ReturnType<typeof createLoad>
/** Counts since the previous sample. */
export type Sample = ReturnType<Load['sample']>
export type Summary = ReturnType<Load['close']>

type Connection = ReturnType<typeof newConnection>
const newConnection = (index: number) => ({
  index,
  socket: undefined as HttpSocket | undefined,
  /** `waiting`: all requests are answered, the webhook is not received yet. */
  state: 'idle' as 'idle' | 'busy' | 'waiting',
  ...{ dueAt: 0, begunAt: 0, sentAt: 0 },
})

/** Tests have a clock and connections of their own. */
const REAL = { now: () => performance.now(), connect: openHttpSocket }
const EARLY_MAX = 20_000

/** Latencies of completed journeys, from due and from sent. Two figures suffice. */
const emptySample = () => ({
  ...{ completed: 0, failed: 0, abandoned: 0 },
  ...{ latencies: createLatencies(2), latenciesFromSent: createLatencies(2) },
})

export function createLoad(
  window: Pick<Window, 'addresses' | 'connections' | 'phases' | 'patienceMs'>,
  scenario: Scenario,
  { now, connect } = REAL,
) {
  const { addresses, phases, patienceMs } = window
  const connections = Array.from({ length: window.connections }, (_, index) => newConnection(index))
  const idle: Connection[] = []
  const awaited = new Map<string, Connection>()
  let early = new Set<string>()
  const failed: Record<string, number> = {}
  const latencies = createLatencies()
  const operations: Record<string, RecordableHistogram> = {}
  const rejections = createLatencies()
  const counts = { sent: 0, answered: 0, begun: 0, completed: 0, completedInWindow: 0 }
  let sinceSample = emptySample()
  let abandonedBefore = 0
  let dueBefore = 0
  let schedule: ArrivalSchedule = closedLoop()
  let startedAt = 0
  let measuredFrom = Infinity
  let measuredTo = Infinity
  let closed = false
  const usedUp = new AbortController()
  const drained = new AbortController()

  const open = async (connection: Connection): Promise<void> => {
    connection.socket = await connect(addresses[connection.index % addresses.length]!, {
      answered: (response) => receive(connection, response),
      lost: (reason) => lose(connection, reason),
    })
    if (connection.state === 'idle') idle.push(connection)
  }

  /** Begins due journeys while there are idle connections. */
  const fill = (): void => {
    const at = now()
    while (idle.length > 0 && !usedUp.signal.aborted) {
      const dueAt = schedule.take(at)
      if (dueAt === undefined) return
      const connection = idle.shift()! // the longest idle one: servers close idle connections
      const request = scenario.begin(connection.index)
      if (request === undefined) {
        idle.push(connection)
        return usedUp.abort()
      }
      counts.begun += 1
      Object.assign(connection, { state: 'busy', dueAt, begunAt: now() })
      send(connection, request)
    }
  }

  const send = (connection: Connection, request: Buffer): void => {
    counts.sent += 1
    connection.sentAt = now()
    connection.socket?.send(request)
  }

  const receive = (connection: Connection, response: HttpResponse): void => {
    if (connection.state !== 'busy') return lose(connection, 'unexpected_answer')
    counts.answered += 1
    const next = scenario.proceed(connection.index, response)
    if (Buffer.isBuffer(next)) return send(connection, next)
    if (next.kind === 'awaits_webhook' && !early.delete(next.entity)) {
      connection.state = 'waiting'
      return void awaited.set(next.entity, connection)
    }
    const at = now()
    if (next.kind === 'failed') {
      recordMs(rejections, at - connection.sentAt)
      fail(connection, next.code)
    } else complete(connection, at)
    goOn(connection)
  }

  const fail = (connection: Connection, code: string): void => {
    connection.state = 'idle'
    sinceSample.failed += 1
    failed[code] = (failed[code] ?? 0) + 1
  }

  const complete = (connection: Connection, at: number): void => {
    const { dueAt, begunAt } = connection
    connection.state = 'idle'
    counts.completed += 1
    sinceSample.completed += 1
    recordMs(sinceSample.latencies, at - dueAt)
    recordMs(sinceSample.latenciesFromSent, at - begunAt)
    const isMeasured = (time: number): boolean => time >= measuredFrom && time < measuredTo
    if (isMeasured(at)) counts.completedInWindow += 1
    if (!isMeasured(dueAt)) return
    recordMs(latencies, at - dueAt)
    recordMs((operations[scenario.operation(connection.index)] ??= createLatencies()), at - dueAt)
  }

  const goOn = (connection: Connection): void => {
    if (connection.socket !== undefined) idle.push(connection)
    fill()
    settleWhenDrained()
  }

  const lose = (connection: Connection, reason: string): void => {
    connection.socket?.close()
    connection.socket = undefined
    if (connection.state === 'busy') fail(connection, reason)
    else if (connection.state === 'idle') idle.splice(idle.indexOf(connection), 1)
    settleWhenDrained()
    void reopen(connection)
  }

  /** Servers close idle connections. A stopped server ends the window. */
  const reopen = async (connection: Connection): Promise<void> => {
    await open(connection).catch(() => undefined)
    if (closed) return connection.socket?.close()
    if (connections.every(({ socket }) => socket === undefined)) usedUp.abort()
    fill()
  }

  const settleWhenDrained = (): void => {
    if (measuredTo === Infinity || connections.some(({ state }) => state !== 'idle')) return
    if (usedUp.signal.aborted || schedule.overdue(now()) === 0) drained.abort()
  }

  return {
    /** Aborted when the presigned requests or the connections are used up. */
    usedUp: usedUp.signal,
    /** Aborted when the window has ended and no journey is in progress or due. */
    drained: drained.signal,
    /** One after the other: a burst would overflow the listener's backlog. */
    connect: async (): Promise<void> => {
      for (const connection of connections) await open(connection)
    },
    start: (): void => {
      startedAt = now()
      if (phases !== undefined) schedule = openLoop(startedAt, phases, patienceMs)
      fill()
    },
    fill,
    webhooks: ({ at, entities }: WebhookNotice): void => {
      for (const entity of entities) {
        const connection = awaited.get(entity)
        if (connection === undefined) early.add(entity)
        else {
          awaited.delete(entity)
          complete(connection, at - performance.timeOrigin)
          goOn(connection)
        }
      }
      if (early.size > EARLY_MAX) early = new Set([...early].slice(EARLY_MAX / 2))
    },
    measure: (): void => void (measuredFrom = now()),
    finish: (): void => {
      measuredTo = now()
      schedule.endsAt = measuredTo
      settleWhenDrained()
    },
    sample: (clientDelayMs: number) => {
      const abandoned = schedule.abandoned - abandonedBefore
      const at = now() - startedAt // milliseconds since the load began
      const allDue = counts.begun + schedule.abandoned + schedule.overdue(now())
      const sample = { ...sinceSample, at, due: allDue - dueBefore, abandoned, clientDelayMs }
      abandonedBefore = schedule.abandoned
      dueBefore = allDue
      sinceSample = emptySample()
      return sample
    },
    close: () => {
      closed = true
      for (const connection of connections) {
        connection.socket?.close()
        if (connection.state === 'waiting') fail(connection, 'no_webhook')
        if (connection.state === 'busy') fail(connection, 'unanswered')
      }
      return {
        ...counts,
        /** Due journeys that never began. */
        overdue: schedule.overdue(now()),
        abandoned: schedule.abandoned,
        failed: failed as Readonly<Record<string, number>>,
        /** Less than planned when the presigned requests were used up. */
        seconds: (measuredTo - measuredFrom) / 1_000,
        ...{ latencies, rejections },
        operations: operations as Readonly<Record<string, RecordableHistogram>>,
      }
    },
  }
}
