/**
 * Does it stay as it is when the books grow?
 *
 * Owns: the same reads and the same writes on small and on large books, and starts with many live
 * actors. Does not own: the books (scale_books), what is compared of the turns (scale_findings).
 *
 * - Two stacks run at a time and take turns with each kind of journey, in the order small, large,
 *   large, small …, so that a drift of the machine, and code that is still being compiled, fall
 *   on both. Before the first turn that counts, every kind has had a turn on both.
 * - What is read is spread over all of the books, far more than the processes keep in memory;
 *   the system has it in its own (scale_books).
 * - Writes come last, and a turn of them is so many journeys, not so many seconds: the small
 *   books would not stay small beside a fast service. All of them must be found in the books
 *   afterwards.
 */
import type { BenchPart } from './bench.js'
import { median } from './measurement/machine.js'
import { measure, type Measurement } from './measurement/measurement.js'
import { booksOf, openBooks, type Books, type ScaleOptions } from './scale_books.js'
import { memoryFindings, READY_WITHIN, readFindings, writeFindings } from './scale_findings.js'
import { readsOf } from './scenarios/reads.js'
import type { ScenarioName } from './scenarios/scenarios.js'
import { finding, type Section } from './report/result.js'

/** One kind of journey. */
interface Kind {
  readonly name: string
  readonly scenario: ScenarioName
  readonly onlyRead?: string
  /** Undefined: as many as the window takes. */
  readonly journeys: number | undefined
  /** What one of them is called. */
  readonly noun: string
}

const LEAD_IN_MS = 200
const WARM_UP_SHARE = 1 / 3
const SIGNED_AHEAD_RATE = 5_000
/** So that commits have groups; what is under way at a turn's end must be few of its journeys. */
const WRITES_IN_FLIGHT = 32
const IN_FLIGHT_SHARE = 1 / 4
/** However slow the machine is, a turn of writes ends by its number. */
const WRITES_WITHIN_MS = 120_000
/** A turn of them may be over in half a second. */
const WRITES_LOOKED_AT_MS = 100
const STARTS = 3

export async function scale(options: ScaleOptions): Promise<BenchPart> {
  const small = await openBooks(options, 'small', options.small)
  const large = await openBooks(options, 'large', options.large)
  const reads = readsOf(large.fixtures).map(({ name }): Kind => ({
    name,
    scenario: 'reads',
    onlyRead: name,
    journeys: undefined,
    noun: 'read',
  }))
  const sections: Section[] = []
  const faults: string[] = []
  for (const kinds of [reads, writesOf(options.small)]) {
    const measured = await compareKinds(options, kinds, [small, large])
    sections.push(...measured.sections)
    faults.push(...measured.voidBecause)
  }
  sections.push(memorySection(sections))
  for (const books of [small, large]) {
    options.progress(`adding up the ${books.name} books`, undefined)
    const finalAccounts = await books.settle()
    const title = `what was written to the ${books.name} books`
    sections.push({ title, scenario: 'mixed', windows: [], findings: [], finalAccounts })
    faults.push(...finalAccounts.faults.map((fault) => `${books.name}: ${fault}`))
    await books.close()
  }
  sections.push(await restarts(options))
  return { sections, voidBecause: faults }
}

/** Few enough to leave the small books small, enough for their CPU time to be told in ticks. */
function writesOf(small: number): readonly Kind[] {
  const of = (scenario: ScenarioName, noun: string, share: number): Kind => ({
    name: `${noun}s`,
    scenario,
    journeys: Math.ceil(small * share),
    noun,
  })
  return [
    of('creates', 'create', 1 / 2),
    of('payouts', 'payout', 1 / 20),
    of('lifecycle', 'QR payment', 1 / 20),
  ]
}

/** A warm-up of all kinds, then all turns of one kind after the other. */
async function compareKinds(
  options: ScaleOptions,
  kinds: readonly Kind[],
  books: readonly [Books, Books],
): Promise<BenchPart> {
  const sections: Section[] = []
  const voidBecause: string[] = []
  const play = async (kind: Kind, one: Books, repeat: number): Promise<Measurement> => {
    const measurement = await runRound(options, kind, one, repeat)
    const turn = `${kind.name}, ${one.name} ${repeat}`
    voidBecause.push(...measurement.faults.map((fault) => `${turn}: ${fault}`))
    return measurement
  }
  for (const kind of kinds) {
    for (const one of books) await play(kind, one, 0)
  }
  for (const kind of kinds) {
    for (const one of books) await one.bringIn()
    const turns: Measurement[] = []
    for (let repeat = 1; repeat <= options.repeat; repeat += 1) {
      for (const one of repeat % 2 === 1 ? books : books.toReversed()) {
        turns.push(await play(kind, one, repeat))
      }
    }
    sections.push(sectionOf(kind, turns))
  }
  return { sections, voidBecause }
}

async function runRound(
  { windowMs, inFlight, client, machine, progress }: ScaleOptions,
  kind: Kind,
  books: Books,
  repeat: number,
): Promise<Measurement> {
  const { name: side, stack, receiver } = books
  const isWrite = kind.journeys !== undefined
  const measureMs = repeat === 0 ? Math.ceil(windowMs * WARM_UP_SHARE) : windowMs
  const measurement = await measure({
    side,
    repeat,
    order: {
      scenario: orderOf(kind, books),
      journeys: kind.journeys ?? Math.ceil((SIGNED_AHEAD_RATE * measureMs) / 1_000),
      lasts: !isWrite,
      window: {
        address: stack.address,
        connections: kind.journeys === undefined ? inFlight : writersOf(kind.journeys),
        schedule: undefined,
        leadInMs: isWrite ? 0 : LEAD_IN_MS,
        measureMs: isWrite ? WRITES_WITHIN_MS : measureMs,
      },
    },
    client,
    watched: [...stack.processes(), { name: 'client', pid: process.pid }],
    cores: machine.cores,
    opsUrl: stack.sandbox.ops_url,
    receiver: isWrite ? receiver : undefined,
    strict: true,
    ...(isWrite ? { everyMs: WRITES_LOOKED_AT_MS } : {}),
    tell: (intervalSample) => progress(`${kind.name}, ${side} ${repeat}`, intervalSample),
  })
  books.took(measurement.outcome)
  return measurement
}

const writersOf = (journeys: number): number =>
  Math.min(WRITES_IN_FLIGHT, Math.ceil(journeys * IN_FLIGHT_SHARE))

const orderOf = ({ scenario, onlyRead }: Kind, { stack, fixtures }: Books) => {
  const { host, key_id: keyId, signing_secret: secret } = stack.sandbox
  return {
    ...{ name: scenario, host, keyId, secret, fixtures },
    withIdempotencyKey: true,
    awaitsWebhooks: true,
    ...(onlyRead === undefined ? {} : { onlyRead }),
  }
}

function sectionOf(
  { name, scenario, journeys, noun }: Kind,
  turns: readonly Measurement[],
): Section {
  const windows = turns.map(({ result }) => result)
  const isWrite = journeys !== undefined
  return {
    title: isWrite ? `write: ${journeys.toLocaleString('en-US')} ${name} a turn` : `read: ${name}`,
    scenario,
    windows,
    findings: isWrite ? writeFindings(windows, noun) : readFindings(windows),
    finalAccounts: undefined,
  }
}

const memorySection = (sections: readonly Section[]): Section => ({
  title: 'memory of the processor, the largest seen',
  scenario: 'mixed',
  windows: [],
  findings: memoryFindings(sections.flatMap(({ windows }) => windows)),
  finalAccounts: undefined,
})

/** From the start of the supervisor until all processes serve. */
async function restarts(options: ScaleOptions): Promise<Section> {
  const { live, scratch, programs, progress } = options
  const { dataDir } = await booksOf(options, scratch, 'live', { count: live, live })
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
    scenario: 'mixed',
    windows: [],
    findings: [
      finding('ready after, median', median(seconds), 's', READY_WITHIN),
      finding('ready after, longest', Math.max(...seconds), 's'),
    ],
    finalAccounts: undefined,
  }
}
