/**
 * The benchmark: signed durable creates against the ceiling, in one run.
 *
 * Owns: the order of the windows, the supply, the summary, what makes a run void. Does not own: one
 * window (measurement), how it is told (report).
 *
 * B1. Ceiling and creates take turns, so that a machine that gets slower or faster does so for
 *     both.
 * B2. Both get requests of the same kind, signed by the same key, from the same client.
 * B3. A run is void, whatever its figures, unless every request of every window, warm-up included,
 *     was answered 201, the processor counted as many, what was acknowledged can be read back, and
 *     the data was on a disk.
 */
import { toRfc3339, type Clock } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import type { Client, Order } from './client.js'
import { latencyMs, merged, type LatencyMs } from './latency.js'
import type { Progress } from './load.js'
import { describeMachine, median, type Machine } from './machine.js'
import { measure, type Measurement, type Side, type WindowResult } from './measurement.js'
import type { Programs, Running, Stack } from './programs.js'
import { readBack } from './read_back.js'

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

export interface BenchResult {
  readonly startedAt: string
  readonly machine: Machine
  readonly settings: BenchSettings
  readonly windows: readonly WindowResult[]
  readonly summary: Readonly<Record<Side, SideSummary>>
  /** Creates to ceiling, by the medians of the rates. */
  readonly ratio: number
  /** Intents that were asked for after the load. */
  readonly readBack: number
  /** Empty, or why these figures mean nothing. */
  readonly voidBecause: readonly string[]
}

export interface SideSummary {
  /** The median of its windows. */
  readonly ratePerSecond: number
  /** Of all requests of all its windows together. */
  readonly latency: LatencyMs
  /** CPU time of a completed journey in all processes, client included: the median of windows. */
  readonly cpuMicros: number
}

const LEAD_IN_MS = 1_000
const WARM_UP_MS = 3_000
/** More than the client can send. */
const WARM_UP_RATE = 50_000
/** A later window is seldom faster by more; if it is, the supply ends it early. */
const SUPPLY_FACTOR = 1.4
const READ_BACK_MAX = 100
const SIDES: readonly Side[] = ['ceiling', 'creates']

interface Setup {
  readonly stack: Stack
  readonly ceiling: Running
  readonly machine: Machine
}

export async function bench(options: BenchOptions): Promise<BenchResult> {
  const { settings, programs, clock, progress } = options
  const startedAt = toRfc3339(clock.now())
  progress('starting the stack', undefined)
  const stack = await programs.startStack()
  const ceiling = await programs.startCeiling(stack)
  const machine = describeMachine(options.folder)

  const all = await takeTurns(options, { stack, ceiling, machine })
  progress('reading back', undefined)
  const creates = all.filter(({ result }) => result.side === 'creates')
  const samples = creates.flatMap(({ outcome }) => outcome.samples)
  const asked = spread(samples, READ_BACK_MAX)
  const missing = await readBack(asked, { ...options, sandbox: stack.sandbox })

  const counted = all.filter(({ result }) => result.repeat > 0)
  const summary = { ceiling: summaryOf(counted, 'ceiling'), creates: summaryOf(counted, 'creates') }
  return {
    startedAt,
    machine,
    settings,
    windows: counted.map(({ result }) => result),
    summary,
    ratio: summary.creates.ratePerSecond / summary.ceiling.ratePerSecond,
    readBack: asked.length,
    voidBecause: [
      ...(machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []),
      ...all.flatMap(({ faults, result }) => faults.map((fault) => `${stepOf(result)}: ${fault}`)),
      ...missing,
    ],
  }
}

/** The first pair is the warm-up. */
async function takeTurns(options: BenchOptions, setup: Setup): Promise<Measurement[]> {
  const { settings, client, progress } = options
  const { stack, ceiling, machine } = setup
  const expected: Record<Side, number> = { ceiling: WARM_UP_RATE, creates: WARM_UP_RATE }
  const all: Measurement[] = []
  for (let repeat = 0; repeat <= settings.repeat; repeat += 1) {
    for (const side of SIDES) {
      const step = stepOf({ side, repeat })
      progress(`${step}: signing`, undefined)
      const measurement = await measure({
        side,
        repeat,
        order: orderOf(options, setup, { side, repeat }, expected[side]),
        client,
        watched: [
          ...stack.processes(),
          ...ceiling.processes(),
          { name: 'client', pid: process.pid },
        ],
        cores: machine.cores,
        opsUrl: stack.sandbox.ops_url,
        progress: (now) => progress(step, now),
      })
      const { ratePerSecond } = measurement.result
      expected[side] = repeat === 0 ? ratePerSecond : Math.max(expected[side], ratePerSecond)
      all.push(measurement)
    }
  }
  return all
}

function orderOf(
  { settings }: BenchOptions,
  { stack, ceiling }: Setup,
  { side, repeat }: Pick<WindowResult, 'side' | 'repeat'>,
  expectedRate: number,
): Order {
  const { host, key_id, signing_secret } = stack.sandbox
  const measureMs = repeat === 0 ? WARM_UP_MS : settings.seconds * 1_000
  const perSecond = settings.ratePerSecond ?? expectedRate * SUPPLY_FACTOR
  return {
    scenario: {
      kind: 'create_intents',
      host,
      keyId: key_id,
      secret: signing_secret,
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
  }
}

const stepOf = ({ side, repeat }: Pick<WindowResult, 'side' | 'repeat'>): string =>
  repeat === 0 ? `${side}, warm-up` : `${side} ${repeat}`

function summaryOf(counted: readonly Measurement[], side: Side): SideSummary {
  const ofSide = counted.filter(({ result }) => result.side === side)
  return {
    ratePerSecond: median(ofSide.map(({ result }) => result.ratePerSecond)),
    latency: latencyMs(merged(ofSide.map(({ outcome }) => outcome.tally.latencies))),
    cpuMicros: median(ofSide.map(({ result }) => cpuMicrosOfAll(result))),
  }
}

const cpuMicrosOfAll = ({ cpuMicros }: WindowResult): number =>
  Object.values(cpuMicros).reduce((sum, { main, others }) => sum + main + others, 0)

/** At most so many of them, from all over. */
function spread<T>(items: readonly T[], atMost: number): T[] {
  const distance = Math.max(1, items.length / atMost)
  return items.filter(
    (_, index) => Math.floor(index / distance) > Math.floor((index - 1) / distance),
  )
}
