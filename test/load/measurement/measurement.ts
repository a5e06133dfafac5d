/**
 * One window, measured: the load, what the processes used meanwhile, what was wrong.
 *
 * Owns: one side's turn. Does not own: whose turn it is (bench), what counts as wrong (strict).
 *
 * CPU and memory of the figures are read at the edges of the measured part; the series beside them
 * come from a look a second (sampler).
 */
import type { Client, Order, Outcome } from '../client/client.js'
import {
  createLatencies,
  curveOf,
  latencyMs,
  type LatencyCurve,
  type LatencyMs,
} from '../client/latency.js'
import type { IntervalSample, Summary } from '../client/load.js'
import type { Window } from '../client/window.js'
import type { Arrivals, Receiver } from '../system_under_test/webhook_receivers.js'
import { createSampler, type Sample } from './sampler.js'
import { usageBetween, usageNow, type Moment, type Usage, type Watched } from './usage.js'

export interface WindowResult {
  readonly side: string
  /** From 1; 0 is the warm-up. */
  readonly repeat: number
  readonly seconds: number
  readonly ratePerSecond: number
  readonly latency: LatencyMs
  readonly curve: LatencyCurve
  /** Latencies from sent, of each stretch of the schedule as a whole. */
  readonly stretches: readonly LatencyMs[]
  /** How long refusals took from sent, and from due. */
  readonly refusals: LatencyMs
  readonly refusalsFromDue: LatencyMs
  readonly requests: { readonly sent: number; readonly answered: number }
  readonly journeys: Journeys
  readonly errors: Readonly<Record<string, number>>
  /** Commands in one commit on average; 0 where nothing is committed. */
  readonly perCommit: number
  /** Webhooks in the measured part; undefined where nobody received any. */
  readonly arrivals: Arrivals | undefined
  /** CPU time of a completed journey, by process. */
  readonly cpuMicros: Readonly<Record<string, CpuMicros>>
  readonly rssMiB: Readonly<Record<string, number>>
  /** Of all cores' time: the share that nobody of ours used. */
  readonly elsewhere: number
  /** The lead-in is part of both. */
  readonly intervalSamples: readonly IntervalResult[]
  readonly samples: readonly Sample[]
}

export interface Journeys {
  readonly begun: number
  readonly completed: number
  readonly overdue: number
  readonly givenUp: number
}

export interface IntervalResult {
  /** Milliseconds since the load began. */
  readonly at: number
  /** Of its own stretch of time. */
  readonly perSecond: number
  readonly failedPerSecond: number
  readonly givenUpPerSecond: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  /** From sent; the others are from due. */
  readonly p99FromSent: number
  /** Of the client itself, 99th percentile: it is part of all of them. */
  readonly clientDelay: number
}

export interface CpuMicros {
  /** The thread that runs the JavaScript. */
  readonly main: number
  readonly others: number
}

export interface Measurement {
  readonly result: WindowResult
  readonly outcome: Outcome
  /** In words; empty when every request was answered as it should. */
  readonly faults: readonly string[]
}

export interface Turn {
  readonly side: string
  readonly repeat: number
  readonly order: Order
  readonly client: Client
  readonly watched: readonly Watched[]
  readonly cores: number
  readonly opsUrl: string
  readonly receiver: Receiver | undefined
  /** Every refusal and every delay of the schedule is a fault. */
  readonly strict: boolean
  /** Between two samples, and two samples; left out: a second, or less in a short window. */
  readonly everyMs?: number
  readonly tell: (intervalSample: IntervalResult) => void
}

/** A look of the sampler takes some milliseconds of every process. */
const SAMPLE_MIN_MS = 500
/** Short windows are looked at more often, so that there is something to see. */
const LOOKS_MIN = 8
const LOOK_MAX_MS = 1_000

const lookEvery = ({ leadInMs, measureMs }: Window): number =>
  Math.min(LOOK_MAX_MS, Math.round((leadInMs + measureMs) / LOOKS_MIN))

export async function measure(turn: Turn): Promise<Measurement> {
  const { client, watched, receiver } = turn
  const everyMs = turn.everyMs ?? lookEvery(turn.order.window)
  const moments: Moment[] = []
  const intervalSamples: IntervalResult[] = []
  const stretches = createStretches(turn.order.window)
  let arrivals: Promise<Arrivals> | undefined
  const sampler = createSampler({
    everyMs: Math.max(everyMs, SAMPLE_MIN_MS),
    watched,
    opsUrl: turn.opsUrl,
    arrivals: receiver === undefined ? undefined : () => receiver.arrivals('sample'),
  })
  const edge = (): void => {
    moments.push(usageNow(watched))
    arrivals = receiver?.arrivals('window')
  }
  const order = { ...turn.order, window: { ...turn.order.window, intervalMs: everyMs } }
  const outcome = await client.run(order, {
    begun: sampler.start,
    opened: edge,
    closed: edge,
    intervalSample: (intervalSample) => {
      const result = intervalResult(intervalSample, intervalSamples.at(-1)?.at ?? 0)
      intervalSamples.push(result)
      stretches.add(intervalSample)
      turn.tell(result)
    },
  })
  const samples = await sampler.stop()

  const result = {
    ...resultOf(turn, outcome.summary, moments),
    arrivals: await arrivals,
    perCommit: perCommitOf(samples),
    stretches: stretches.latencies(),
    intervalSamples,
    samples,
  }
  return { result, outcome, faults: faultsOf(outcome.summary, turn.strict) }
}

function intervalResult(intervalSample: IntervalSample, before: number): IntervalResult {
  const { at, completed, failed, givenUp, latencies, latenciesFromSent, clientDelay } =
    intervalSample
  const perSecond = (count: number): number => (count * 1_000) / (at - before)
  const { p50, p90, p99, max } = latencyMs(latencies)
  return {
    at,
    perSecond: perSecond(completed),
    failedPerSecond: perSecond(failed),
    givenUpPerSecond: perSecond(givenUp),
    p50,
    p90,
    p99,
    max,
    p99FromSent: latencyMs(latenciesFromSent).p99,
    clientDelay,
  }
}

/** A sample is of the stretch in which it ends. */
function createStretches({ schedule = [] }: Window) {
  let endsAt = 0
  const stretches = schedule.map(({ ms }) => {
    endsAt += ms
    return { endsAt, latencies: createLatencies() }
  })
  return {
    add: ({ at, latenciesFromSent }: IntervalSample): void =>
      stretches.find((stretch) => at <= stretch.endsAt)?.latencies.add(latenciesFromSent),
    latencies: (): LatencyMs[] => stretches.map(({ latencies }) => latencyMs(latencies)),
  }
}

function perCommitOf(samples: readonly Sample[]): number {
  const sum = (of: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + of(sample), 0)
  const commits = sum((sample) => sample.commits)
  return commits === 0 ? 0 : sum((sample) => sample.commands) / commits
}

function resultOf(
  { side, repeat, cores }: Turn,
  summary: Summary,
  [opened, closed]: readonly Moment[],
): Omit<WindowResult, 'arrivals' | 'perCommit' | 'stretches' | 'intervalSamples' | 'samples'> {
  if (opened === undefined || closed === undefined) throw new Error('a window was not measured')
  const { processes, elsewhereCpuMs } = usageBetween(opened, closed)
  const { seconds, completedInWindow, begun, completed, overdue, givenUp } = summary
  const micros = (ms: number): number => (ms * 1_000) / Math.max(1, completedInWindow)
  const perProcess = <T>(of: (usage: Usage) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(processes).map(([name, usage]) => [name, of(usage)]))
  return {
    side,
    repeat,
    seconds,
    ratePerSecond: completedInWindow / seconds,
    latency: latencyMs(summary.latencies),
    curve: curveOf(summary.latencies),
    refusals: latencyMs(summary.refusals),
    refusalsFromDue: latencyMs(summary.refusalsFromDue),
    requests: { sent: summary.sent, answered: summary.answered },
    journeys: { begun, completed, overdue, givenUp },
    errors: summary.failed,
    cpuMicros: perProcess((usage) => ({
      main: micros(usage.mainThreadCpuMs),
      others: micros(usage.otherThreadsCpuMs),
    })),
    rssMiB: perProcess((usage) => usage.rssMiB),
    elsewhere: elsewhereCpuMs / (seconds * 1_000 * cores),
  }
}

function faultsOf(summary: Summary, strict: boolean): string[] {
  const { begun, completed, failed, sent, answered, overdue } = summary
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0)
  const faults =
    begun === completed + failures
      ? []
      : [`${begun} journeys begun, ${completed} completed, ${failures} failed`]
  if (summary.completedInWindow === 0) faults.push('nothing was measured')
  if (!strict) return faults
  faults.push(...Object.entries(failed).map(([code, count]) => `${count} × ${code}`))
  if (sent !== answered) faults.push(`${sent} sent, ${answered} answered`)
  if (overdue > 0) faults.push(`${overdue} were due and could not be sent`)
  return faults
}
