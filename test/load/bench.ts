/**
 * The benchmark: signed durable creates against the ceiling, in one run.
 *
 * Owns: the order of the windows, the supply, what makes a run void. Does not own: a window (load),
 * what processes use (usage), how it is told (report).
 *
 * B1. Ceiling and creates take turns, so that a machine that gets slower or faster does so for
 *     both.
 * B2. Both get the same requests, signed by the same key, from the same client.
 * B3. A run is void, whatever its figures, unless every request of every window, warm-up included,
 *     was answered 201 and what was acknowledged can be read back.
 */
import { type Clock, toRfc3339 } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import type { Client, Note, Outcome } from './client.js'
import { latencyMs, merged, type LatencyMs } from './latency.js'
import type { Progress, Tally } from './load.js'
import { describeMachine, median, type Machine } from './machine.js'
import type { Programs, Running, Stack } from './programs.js'
import { countersOf, readBack } from './read_back.js'
import { usageBetween, usageNow, type Moment, type Usage } from './usage.js'

export interface BenchSettings {
  readonly seconds: number
  /** Connections, each with one request out at most. */
  readonly inFlight: number
  /** Pairs of windows. */
  readonly repeat: number
  /** Open loop at this rate; undefined: closed loop. */
  readonly ratePerSecond: number | undefined
  readonly withIdempotencyKey: boolean
}

export interface BenchOptions {
  readonly settings: BenchSettings
  /** Where the programs keep their data. */
  readonly folder: string
  readonly programs: Programs
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly progress: (step: string, progress: Progress | undefined) => void
}

export type Side = 'ceiling' | 'creates'

export interface WindowResult {
  readonly side: Side
  readonly repeat: number
  readonly seconds: number
  readonly ratePerSecond: number
  readonly latency: LatencyMs
  readonly requests: { readonly sent: number; readonly answered: number }
  readonly journeys: { readonly begun: number; readonly completed: number }
  readonly errors: Readonly<Record<string, number>>
  /** Creates in one commit on average; absent at the ceiling, which commits nothing. */
  readonly perCommit?: number
  /** CPU time of a completed create, by process. */
  readonly cpuMicros: Readonly<Record<string, { readonly main: number; readonly others: number }>>
  readonly rssMiB: Readonly<Record<string, number>>
  /** Of all cores' time: what went to nobody of ours. */
  readonly elsewhere: number
}

export interface BenchResult {
  readonly startedAt: string
  readonly machine: Machine
  readonly settings: BenchSettings
  readonly windows: readonly WindowResult[]
  /** Over all windows of a side: the median of the rates, the latency of all requests together. */
  readonly summary: Readonly<Record<Side, SideSummary>>
  /** Creates to ceiling, by the medians of the rates. */
  readonly ratio: number
  readonly readBack: number
  /** Empty, or why these figures mean nothing. */
  readonly voidBecause: readonly string[]
}

export interface SideSummary {
  readonly ratePerSecond: number
  readonly latency: LatencyMs
}

const LEAD_IN_MS = 1_000
const WARM_UP_MS = 3_000
/** More than the client can send. */
const WARM_UP_RATE = 50_000
/** A later window is seldom faster by more; if it is, the supply ends it early. */
const SUPPLY_FACTOR = 1.4
const READ_BACK_MAX = 100
const SIDES: readonly Side[] = ['ceiling', 'creates']

interface Measured {
  readonly result: WindowResult
  readonly outcome: Outcome
  readonly faults: readonly string[]
}

export async function bench(options: BenchOptions): Promise<BenchResult> {
  const { settings, programs, clock, progress } = options
  const startedAt = toRfc3339(clock.now())
  progress('starting the stack', undefined)
  const stack = await programs.startStack()
  const ceiling = await programs.startCeiling(stack)
  const machine = describeMachine(options.folder)

  const fastest: Record<Side, number> = { ceiling: WARM_UP_RATE, creates: WARM_UP_RATE }
  const all: Measured[] = []
  for (let repeat = 0; repeat <= settings.repeat; repeat += 1) {
    for (const side of SIDES) {
      const measured = await measure(options, { stack, ceiling, machine }, side, repeat, fastest)
      const { ratePerSecond } = measured.result
      fastest[side] = repeat === 0 ? ratePerSecond : Math.max(fastest[side], ratePerSecond)
      all.push(measured)
    }
  }
  progress('reading back', undefined)
  const samples = spread(
    all.filter(({ result }) => result.side === 'creates').flatMap(({ outcome }) => outcome.samples),
    READ_BACK_MAX,
  )
  const readBackFaults = await readBack(samples, { ...options, sandbox: stack.sandbox })
  const counted = all.filter(({ result }) => result.repeat > 0)
  const summary = { ceiling: summaryOf(counted, 'ceiling'), creates: summaryOf(counted, 'creates') }
  return {
    startedAt,
    machine,
    settings,
    windows: counted.map(({ result }) => result),
    summary,
    ratio: summary.creates.ratePerSecond / summary.ceiling.ratePerSecond,
    readBack: samples.length,
    voidBecause: [
      ...(machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []),
      ...all.flatMap(({ faults }) => faults),
      ...readBackFaults,
    ],
  }
}

interface Measurable {
  readonly stack: Stack
  readonly ceiling: Running
  readonly machine: Machine
}

/** `repeat` 0 is the warm-up. */
async function measure(
  { settings, client, progress }: BenchOptions,
  { stack, ceiling, machine }: Measurable,
  side: Side,
  repeat: number,
  fastest: Readonly<Record<Side, number>>,
): Promise<Measured> {
  const step = repeat === 0 ? `${side}, warm-up` : `${side} ${repeat}/${settings.repeat}`
  const measureMs = repeat === 0 ? WARM_UP_MS : settings.seconds * 1_000
  const perSecond = settings.ratePerSecond ?? fastest[side] * SUPPLY_FACTOR
  const watched = [
    ...stack.processes(),
    ...ceiling.processes(),
    { name: 'client', pid: process.pid },
  ]
  const countersBefore = await countersOf(stack.sandbox.ops_url)
  const moments: Moment[] = []
  const note = (told: Note): void => {
    if (told.kind === 'opened' || told.kind === 'closed') moments.push(usageNow(watched))
    if (told.kind === 'progress') progress(step, told.progress)
  }

  progress(`${step}: signing`, undefined)
  const outcome = await client.run(
    {
      scenario: {
        kind: 'create_intents',
        host: stack.sandbox.host,
        keyId: stack.sandbox.key_id,
        secret: stack.sandbox.signing_secret,
        withIdempotencyKey: settings.withIdempotencyKey,
      },
      journeys: Math.ceil((perSecond * (LEAD_IN_MS + measureMs)) / 1_000) + settings.inFlight,
      window: {
        address: (side === 'ceiling' ? ceiling : stack).address,
        lanes: settings.inFlight,
        ratePerSecond: settings.ratePerSecond,
        leadInMs: LEAD_IN_MS,
        measureMs,
      },
    },
    note,
  )
  const counters = await countersOf(stack.sandbox.ops_url)
  const commands = counters.commands - countersBefore.commands
  const commits = counters.commits - countersBefore.commits
  const result = {
    ...windowResult(side, repeat, outcome.tally, moments, machine),
    ...(side === 'creates' && { perCommit: commands / commits }),
  }
  const faults = faultsOf(outcome.tally)
  if (side === 'creates' && commands < outcome.tally.completed) {
    faults.push(`${outcome.tally.completed} acknowledged, ${commands} decided`)
  }
  return { result, outcome, faults: faults.map((fault) => `${step}: ${fault}`) }
}

function windowResult(
  side: Side,
  repeat: number,
  tally: Tally,
  [opened, closed]: readonly Moment[],
  { cores }: Machine,
): WindowResult {
  if (opened === undefined || closed === undefined) throw new Error('a window was not measured')
  const { processes, elsewhereCpuMs } = usageBetween(opened, closed)
  const { seconds, completedInWindow } = tally
  const micros = (milliseconds: number): number => (milliseconds * 1_000) / completedInWindow
  const perProcess = <T>(of: (usage: Usage) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(processes).map(([name, usage]) => [name, of(usage)]))
  return {
    side,
    repeat,
    seconds,
    ratePerSecond: completedInWindow / seconds,
    latency: latencyMs(tally.latencies),
    requests: { sent: tally.sent, answered: tally.answered },
    journeys: { begun: tally.begun, completed: tally.completed },
    errors: tally.failed,
    cpuMicros: perProcess((usage) => ({
      main: micros(usage.mainThreadCpuMs),
      others: micros(usage.otherThreadsCpuMs),
    })),
    rssMiB: perProcess((usage) => usage.rssMiB),
    elsewhere: elsewhereCpuMs / (seconds * 1_000 * cores),
  }
}

function faultsOf(tally: Tally): string[] {
  const faults = Object.entries(tally.failed).map(([code, count]) => `${count} × ${code}`)
  if (tally.sent !== tally.answered) faults.push(`${tally.sent} sent, ${tally.answered} answered`)
  if (tally.completedInWindow === 0) faults.push('nothing was measured')
  if (tally.overdue > 0) faults.push(`${tally.overdue} were due and could not be sent`)
  return faults
}

function summaryOf(counted: readonly Measured[], side: Side): SideSummary {
  const ofSide = counted.filter(({ result }) => result.side === side)
  return {
    ratePerSecond: median(ofSide.map(({ result }) => result.ratePerSecond)),
    latency: latencyMs(merged(ofSide.map(({ outcome }) => outcome.tally.latencies))),
  }
}

/** At most so many of them, from the first to the last. */
function spread<T>(items: readonly T[], atMost: number): T[] {
  const step = Math.max(1, items.length / atMost)
  const picked = Math.min(items.length, atMost)
  return Array.from({ length: picked }, (_, index) => items[Math.floor(index * step)]).filter(
    (item) => item !== undefined,
  )
}
