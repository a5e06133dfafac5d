/**
 * Does it stay as it is when the books grow?
 *
 * Owns: the same reads of small and of large books, and starts with many live actors. Does not own:
 * making the books (past).
 *
 * Z1. Two stacks run at a time, and each kind of read takes turns between them, so that a drift of
 *     the machine falls on both.
 * Z2. What is read is spread over all of the books: most of it is not in memory.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.js'
import type { BenchPart } from './bench.js'
import type { Client } from './client/client.js'
import { latencyMs, merged } from './client/latency.js'
import { median, type Machine } from './measures/machine.js'
import { measure, type Measurement, type PulseResult } from './measures/measurement.js'
import { livePast } from './past/past.js'
import type { Programs, Stack } from './site/programs.js'
import { readsOf } from './scenarios/reads.js'
import { finding, type Finding, type Section } from './report/result.js'
import type { Stock } from './scenarios/stock.js'

export interface ScaleOptions {
  /** Where books to read are made; those that are there are used again. */
  readonly folder: string
  /** Where live ones are made: they would grow old. */
  readonly scratch: string
  /** Intents, and as many payouts. */
  readonly small: number
  readonly large: number
  /** Actors that are live at a start. */
  readonly live: number
  readonly windowMs: number
  readonly repeat: number
  readonly inFlight: number
  readonly machine: Machine
  readonly programs: Programs
  readonly client: Client
  readonly clock: Clock
  readonly progress: (step: string, pulse: PulseResult | undefined) => void
}

const LATENCY_WITHIN = { atMost: 1.2 }
const RSS_WITHIN = { atMost: 512 }
const READY_WITHIN = { atMost: 3 }
const LEAD_IN_MS = 200
const SIGNED_AHEAD_RATE = 5_000
const STARTS = 3

interface Books {
  readonly name: string
  readonly stack: Stack
  readonly stock: Stock
}

export async function scale(options: ScaleOptions): Promise<BenchPart> {
  const small = await open(options, 'small', options.small)
  const large = await open(options, 'large', options.large)
  const sections: Section[] = []
  const faults: string[] = []
  for (const { name } of readsOf(large.stock)) {
    const measured = await readInTurns(options, name, [small, large])
    faults.push(...measured.flatMap(({ faults: found }) => found))
    sections.push(sectionOf(name, measured))
  }
  sections.push(memorySection(sections))
  await small.stack.stop()
  await large.stack.stop()
  sections.push(await restarts(options))
  return { sections, voidBecause: faults }
}

async function open(options: ScaleOptions, name: string, count: number): Promise<Books> {
  const { dataDir, stock } = await booksOf(options, name, { count, live: 0 })
  options.progress(`starting on the ${name} books`, undefined)
  return { name, stack: await options.programs.startStack({ dataDir }), stock }
}

async function booksOf(
  { folder, scratch, clock, progress }: ScaleOptions,
  name: string,
  { count, live }: { readonly count: number; readonly live: number },
): Promise<{ readonly dataDir: string; readonly stock: Stock }> {
  const dataDir = join(live > 0 ? scratch : folder, `${name}-${count}`)
  const file = join(dataDir, 'seed.json')
  if (existsSync(file)) {
    return { dataDir, stock: JSON.parse(readFileSync(file, 'utf8')) as Stock }
  }
  progress(`making the ${name} books`, undefined)
  const stock = await livePast({
    folder: dataDir,
    count,
    what: ['payouts', 'intents'],
    live,
    now: clock.now(),
    tell: () => undefined,
  })
  return { dataDir, stock }
}

/** The first turn of each is the warm-up. */
async function readInTurns(
  options: ScaleOptions,
  read: string,
  books: readonly Books[],
): Promise<Measurement[]> {
  const all: Measurement[] = []
  for (let repeat = 0; repeat <= options.repeat; repeat += 1) {
    for (const one of books) {
      const measurement = await readOnce(options, read, one, repeat)
      if (repeat > 0) all.push(measurement)
    }
  }
  return all
}

function readOnce(
  { windowMs, inFlight, client, machine, progress }: ScaleOptions,
  read: string,
  { name, stack, stock }: Books,
  repeat: number,
): Promise<Measurement> {
  const { host, key_id: keyId, signing_secret: secret } = stack.sandbox
  const scenario = {
    name: 'reads' as const,
    onlyRead: read,
    withIdempotencyKey: false,
    awaitsWebhooks: false,
  }
  return measure({
    side: name,
    repeat,
    order: {
      scenario: { ...scenario, host, keyId, secret, stock },
      journeys: Math.ceil((SIGNED_AHEAD_RATE * windowMs) / 1_000),
      lasts: true,
      window: {
        address: stack.address,
        lanes: inFlight,
        schedule: undefined,
        leadInMs: LEAD_IN_MS,
        measureMs: windowMs,
      },
    },
    client,
    watched: [...stack.processes(), { name: 'client', pid: process.pid }],
    cores: machine.cores,
    opsUrl: stack.sandbox.ops_url,
    receiver: undefined,
    strict: true,
    tell: (pulse) => progress(`${read}, ${name} ${repeat}`, pulse),
  })
}

function sectionOf(read: string, measured: readonly Measurement[]): Section {
  const of = (name: string): readonly Measurement[] =>
    measured.filter(({ result }) => result.side === name)
  const latency = (name: string) =>
    latencyMs(merged(of(name).map(({ outcome }) => outcome.tally.latencies)))
  const [small, large] = [latency('small'), latency('large')]
  const findings: readonly Finding[] = [
    finding('p50, small', small.p50, 'ms'),
    finding('p99, small', small.p99, 'ms'),
    finding('p50, large / small', large.p50 / small.p50, ''),
    finding('p99, large / small', large.p99 / small.p99, '', LATENCY_WITHIN),
  ]
  return {
    title: `read: ${read}`,
    scenario: 'reads',
    windows: measured.map(({ result }) => result),
    findings,
    reckoning: undefined,
  }
}

function memorySection(sections: readonly Section[]): Section {
  const largest = (side: string): number =>
    Math.max(
      ...sections
        .flatMap(({ windows }) => windows.filter((window) => window.side === side))
        .map(({ rssMiB }) => rssMiB['processor'] ?? 0),
    )
  return {
    title: 'memory of the processor while it is read',
    scenario: 'reads',
    windows: [],
    findings: [
      finding('small', largest('small'), 'MiB'),
      finding('large', largest('large'), 'MiB', RSS_WITHIN),
    ],
    reckoning: undefined,
  }
}

/** From the start of the supervisor until all processes serve. */
async function restarts(options: ScaleOptions): Promise<Section> {
  const { live, programs, progress } = options
  const { dataDir } = await booksOf(options, 'live', { count: live, live })
  const seconds: number[] = []
  for (let start = 1; start <= STARTS; start += 1) {
    progress(`start ${start} of ${STARTS} with live actors`, undefined)
    const startedAt = performance.now()
    const stack = await programs.startStack({ dataDir })
    seconds.push((performance.now() - startedAt) / 1_000)
    await stack.stop()
  }
  return {
    title: `starts with ${live.toLocaleString('en-US')} live actors`,
    scenario: 'reads',
    windows: [],
    findings: [
      finding('ready after, median', median(seconds), 's', READY_WITHIN),
      finding('ready after, longest', Math.max(...seconds), 's'),
    ],
    reckoning: undefined,
  }
}
