/**
 * The clients: threads of their own that send the load.
 *
 * Owns: the messages to and from the threads, sharing an order between them, adding up their
 * outcomes. Does not own: what happens in a thread (client_thread).
 *
 * - Several threads together do what one would: an open loop's rate is shared and their schedules
 *   are shifted against each other, connections and journeys are shared, histograms are merged.
 */
import { Worker, type MessagePort } from 'node:worker_threads'
import { merged } from './latency.js'
import type { IntervalSample, Summary } from './load.js'
import type { Window } from './window.js'
import { NOTHING_ACKNOWLEDGED, type Acknowledged } from '../scenarios/scenario.js'
import type { ScenarioOrder } from '../scenarios/scenarios.js'

/** What the threads are to do. */
export interface Order {
  readonly scenario: ScenarioOrder
  /** How many are signed ahead. */
  readonly journeys: number
  /** After those, more are signed as they are needed. */
  readonly lasts: boolean
  readonly window: Window
}

export interface Outcome {
  readonly summary: Summary
  readonly acknowledged: Acknowledged
}

/** What a thread is told first, or later. */
export type ThreadOrder =
  | { readonly kind: 'reports_from'; readonly port: MessagePort }
  | { readonly kind: 'run'; readonly order: Order }

/** What a thread tells. */
export type Note =
  | { readonly kind: 'begun' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'sample'; readonly intervalSample: IntervalSample }
  | { readonly kind: 'finished'; readonly outcome: Outcome }

/** What a run tells, once for all threads. */
export interface Listener {
  /** Everything is signed and connected. */
  readonly begun: () => void
  /** The measured part begins and ends. */
  readonly opened: () => void
  readonly closed: () => void
  readonly intervalSample: (intervalSample: IntervalSample) => void
}

export interface Client {
  /** One order at a time. Rejects when a thread fails, or the listener does. */
  run(order: Order, listener: Listener): Promise<Outcome>
  /** Where the threads hear of webhooks, one port each. */
  hearFrom(ports: readonly MessagePort[]): void
  readonly threads: number
  stop(): Promise<void>
}

export function startClient(threads = 1): Client {
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./client_thread.js', import.meta.url)),
  )
  return {
    threads,
    run: async (order, listener) => {
      const together = gather(threads, listener)
      const outcomes = await Promise.all(
        workers.map((worker, index) =>
          runOne(worker, shareOf(order, index, threads), (note) => together(note)),
        ),
      )
      return { summary: addUp(outcomes), acknowledged: acknowledgedBy(outcomes) }
    },
    hearFrom: (ports) => {
      for (const [index, worker] of workers.entries()) {
        const port = ports[index]
        if (port === undefined) throw new Error(`thread ${index} has no port`)
        worker.postMessage({ kind: 'reports_from', port } satisfies ThreadOrder, [port])
      }
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

function runOne(worker: Worker, order: Order, tell: (note: Note) => void): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      worker.off('message', listen)
      worker.off('error', reject)
    }
    const listen = (note: Note): void => {
      try {
        tell(note)
      } catch (error) {
        end()
        reject(error instanceof Error ? error : new Error(String(error)))
      }
      if (note.kind !== 'finished') return
      end()
      resolve(note.outcome)
    }
    worker.on('message', listen)
    worker.on('error', reject)
    worker.postMessage({ kind: 'run', order } satisfies ThreadOrder)
  })
}

function shareOf(order: Order, index: number, threads: number): Order {
  if (threads === 1) return order
  const { journeys, window } = order
  return {
    ...order,
    journeys: Math.ceil(journeys / threads),
    window: {
      ...window,
      connections:
        Math.floor(window.connections / threads) + (index < window.connections % threads ? 1 : 0),
      schedule: window.schedule?.map(({ ms, ratePerSecond }) => ({
        ms,
        ratePerSecond: ratePerSecond / threads,
      })),
      shift: index / threads,
    },
  }
}

/** The first one begins and opens, the last one closes; samples are told when all have come. */
function gather(threads: number, listener: Listener): (note: Note) => void {
  let begun = 0
  let opened = 0
  let closed = 0
  let intervalSamples: IntervalSample[] = []
  return (note) => {
    if (note.kind === 'begun' && ++begun === 1) listener.begun()
    if (note.kind === 'opened' && ++opened === 1) listener.opened()
    if (note.kind === 'closed' && ++closed === threads) listener.closed()
    if (note.kind !== 'sample') return
    intervalSamples.push(note.intervalSample)
    if (intervalSamples.length < threads) return
    const [first] = intervalSamples
    if (first !== undefined)
      listener.intervalSample(threads === 1 ? first : together(first, intervalSamples))
    intervalSamples = []
  }
}

const sumOf = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0)

const together = ({ at }: IntervalSample, all: readonly IntervalSample[]): IntervalSample => ({
  at,
  completed: sumOf(all, ({ completed }) => completed),
  failed: sumOf(all, ({ failed }) => failed),
  givenUp: sumOf(all, ({ givenUp }) => givenUp),
  latencies: merged(all.map(({ latencies }) => latencies)),
  latenciesFromSent: merged(all.map(({ latenciesFromSent }) => latenciesFromSent)),
  clientDelay: Math.max(...all.map(({ clientDelay }) => clientDelay)),
})

function addUp(outcomes: readonly Outcome[]): Summary {
  const tallies = outcomes.map(({ summary }) => summary)
  const [first] = tallies
  if (first === undefined) throw new Error('there is no client')
  if (tallies.length === 1) return first
  const failed: Record<string, number> = {}
  for (const summary of tallies) {
    for (const [code, count] of Object.entries(summary.failed)) {
      failed[code] = (failed[code] ?? 0) + count
    }
  }
  return {
    sent: sumOf(tallies, ({ sent }) => sent),
    answered: sumOf(tallies, ({ answered }) => answered),
    begun: sumOf(tallies, ({ begun }) => begun),
    completed: sumOf(tallies, ({ completed }) => completed),
    failed,
    overdue: sumOf(tallies, ({ overdue }) => overdue),
    givenUp: sumOf(tallies, ({ givenUp }) => givenUp),
    seconds: Math.max(...tallies.map(({ seconds }) => seconds)),
    completedInWindow: sumOf(tallies, ({ completedInWindow }) => completedInWindow),
    latencies: merged(tallies.map(({ latencies }) => latencies)),
    refusals: merged(tallies.map(({ refusals }) => refusals)),
    refusalsFromDue: merged(tallies.map(({ refusalsFromDue }) => refusalsFromDue)),
  }
}

const acknowledgedBy = (outcomes: readonly Outcome[]): Acknowledged =>
  outcomes.reduce<Acknowledged>(
    (sum, { acknowledged }) => ({
      intents: sum.intents + acknowledged.intents,
      payouts: sum.payouts + acknowledged.payouts,
      samples: [...sum.samples, ...acknowledged.samples],
    }),
    NOTHING_ACKNOWLEDGED,
  )
