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
import type { Pulse, Tally } from '../client/load.js'
import type { Window } from '../client/window.js'
import type { Arrivals, Receiver } from '../site/receiver.js'
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
  readonly pulses: readonly PulseResult[]
  readonly samples: readonly Sample[]
}

export interface Journeys {
  readonly begun: number
  readonly completed: number
  readonly overdue: number
  readonly givenUp: number
}

export interface PulseResult {
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
  readonly ownDelay: number
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
  /** Between two pulses, and two samples; left out: a second, or less in a short window. */
  readonly everyMs?: number
  readonly tell: (pulse: PulseResult) => void
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
  const pulses: PulseResult[] = []
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
  const order = { ...turn.order, window: { ...turn.order.window, pulseMs: everyMs } }
  const outcome = await client.run(order, {
    begun: sampler.start,
    opened: edge,
    closed: edge,
    pulse: (pulse) => {
      const result = pulseResult(pulse, pulses.at(-1)?.at ?? 0)
      pulses.push(result)
      stretches.add(pulse)
      turn.tell(result)
    },
  })
  const samples = await sampler.stop()

  const result = {
    ...resultOf(turn, outcome.tally, moments),
    arrivals: await arrivals,
    perCommit: perCommitOf(samples),
    stretches: stretches.latencies(),
    pulses,
    samples,
  }
  return { result, outcome, faults: faultsOf(outcome.tally, turn.strict) }
}

function pulseResult(pulse: Pulse, before: number): PulseResult {
  const { at, completed, failed, givenUp, latencies, latenciesFromSent, ownDelay } = pulse
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
    ownDelay,
  }
}

/** A pulse is of the stretch in which it ends. */
function createStretches({ schedule = [] }: Window) {
  let endsAt = 0
  const stretches = schedule.map(({ ms }) => {
    endsAt += ms
    return { endsAt, latencies: createLatencies() }
  })
  return {
    add: ({ at, latenciesFromSent }: Pulse): void =>
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
  tally: Tally,
  [opened, closed]: readonly Moment[],
): Omit<WindowResult, 'arrivals' | 'perCommit' | 'stretches' | 'pulses' | 'samples'> {
  if (opened === undefined || closed === undefined) throw new Error('a window was not measured')
  const { processes, elsewhereCpuMs } = usageBetween(opened, closed)
  const { seconds, completedInWindow, begun, completed, overdue, givenUp } = tally
  const micros = (ms: number): number => (ms * 1_000) / Math.max(1, completedInWindow)
  const perProcess = <T>(of: (usage: Usage) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(processes).map(([name, usage]) => [name, of(usage)]))
  return {
    side,
    repeat,
    seconds,
    ratePerSecond: completedInWindow / seconds,
    latency: latencyMs(tally.latencies),
    curve: curveOf(tally.latencies),
    refusals: latencyMs(tally.refusals),
    refusalsFromDue: latencyMs(tally.refusalsFromDue),
    requests: { sent: tally.sent, answered: tally.answered },
    journeys: { begun, completed, overdue, givenUp },
    errors: tally.failed,
    cpuMicros: perProcess((usage) => ({
      main: micros(usage.mainThreadCpuMs),
      others: micros(usage.otherThreadsCpuMs),
    })),
    rssMiB: perProcess((usage) => usage.rssMiB),
    elsewhere: elsewhereCpuMs / (seconds * 1_000 * cores),
  }
}

function faultsOf(tally: Tally, strict: boolean): string[] {
  const { begun, completed, failed, sent, answered, overdue } = tally
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0)
  const faults =
    begun === completed + failures
      ? []
      : [`${begun} journeys begun, ${completed} completed, ${failures} failed`]
  if (tally.completedInWindow === 0) faults.push('nothing was measured')
  if (!strict) return faults
  faults.push(...Object.entries(failed).map(([code, count]) => `${count} × ${code}`))
  if (sent !== answered) faults.push(`${sent} sent, ${answered} answered`)
  if (overdue > 0) faults.push(`${overdue} were due and could not be sent`)
  return faults
}
