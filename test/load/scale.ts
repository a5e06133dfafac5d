/**
 * Compares the service on a small and on a large database.
 *
 * - Two stacks, on a small and on a large database, alternate with each kind of journey (large,
 *   small, small, large …) after a warm-up of all kinds on both.
 * - Before each kind the database is read once, as some systems drop idle pages after a minute.
 * - Writes come last, and a window of them is a number of journeys: the small database stays small.
 * - A run works on a copy of databases that are kept, so that the next run finds the same rows.
 * - Data is seeded on SQLite; for stacks on PostgreSQL it is then moved there.
 */
import { execFile } from 'node:child_process'
import { constants, createReadStream, existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { cpuOf } from './bench.js'
import type { Fixtures } from './fixtures.js'
import { median } from './machine.js'
import {
  measureWindow,
  type Tools,
  type WindowOptions,
  type WindowResult,
} from './measured_window.js'
import { finding, type Finding, type Part, type Section, type Target } from './result.js'
import { readsOf, type ScenarioName } from './scenarios/scenarios.js'
import { writeSeedData } from './seed_data/seed_data.js'
import { moveToPostgres } from './seed_data/seed_postgres.js'
import { openSystem, type SystemUnderTest } from './system_under_test.js'

/** `small`, `large`: intents, and as many payouts; `open`: payments at a start. */
type Numbers = 'small' | 'large' | 'open' | 'windowMs' | 'repeat' | 'connections'
type ScaleSettings = Readonly<Record<Numbers, number>> & {
  /** The folder of kept databases; undefined: none are kept. */
  readonly kept: string | undefined
}

interface Kind {
  readonly title: string
  readonly noun: string
  readonly window: Omit<WindowOptions, 'side'>
}

/** Enough for commit batches; few of a window's journeys are in progress at its end. */
const WRITERS = 32
const WRITES_WITHIN_MS = 120_000
const STARTS = 3
const FLAT = { atMost: 1.2 }
const READ_BYTES = 4 * 1024 * 1024
/** A running server removes and rewrites other files, such as `pg_internal.init`. */
const TABLE_FILE = /^\d+(\.\d+)?$/

function kindsOf({ small, windowMs, connections }: ScaleSettings, fixtures: Fixtures) {
  const reads = readsOf(fixtures).map(({ name: onlyRead }): Kind => {
    const measured = { connections, leadInMs: 200, measureMs: windowMs }
    const window = { scenario: 'reads', onlyRead, strict: true, ...measured } as const
    return { title: `read: ${onlyRead}`, noun: 'read', window }
  })
  const write = (noun: string, scenario: ScenarioName, share: number): Kind => {
    const journeys = Math.ceil(small * share)
    const writers = Math.min(WRITERS, Math.ceil(journeys / 4))
    const measured = { connections: writers, leadInMs: 0, measureMs: WRITES_WITHIN_MS }
    const window = { scenario, journeys, strict: true, sampleMs: 100, ...measured }
    return { title: `write: ${journeys} ${noun}s a window`, noun, window }
  }
  const [creates, payouts] = [write('create', 'creates', 1 / 2), write('payout', 'payouts', 1 / 20)]
  return [reads, [creates, payouts, write('QR payment', 'lifecycle', 1 / 20)]]
}

export async function scale(tools: Tools, settings: ScaleSettings): Promise<Part> {
  const sides = [
    { name: 'small', system: await openSeeded(tools, settings.kept, 'small', settings.small) },
    { name: 'large', system: await openSeeded(tools, settings.kept, 'large', settings.large) },
  ]
  const sections: Section[] = []
  const voidBecause: string[] = []
  const play = async (window: Kind['window'], repeat: number): Promise<WindowResult[]> => {
    const windows: WindowResult[] = []
    for (const { name: side, system } of repeat % 2 === 1 ? sides : sides.toReversed()) {
      const { result, faults } = await measureWindow(tools, system, { ...window, side, repeat })
      voidBecause.push(...faults)
      windows.push(result)
    }
    return windows
  }
  for (const kinds of kindsOf(settings, sides[1]!.system.partners[0]!.fixtures)) {
    for (const { window } of kinds) await play(window, 0)
    for (const { title, noun, window } of kinds) {
      for (const { system } of sides) await readAll(system.stack.dataDir)
      const windows: WindowResult[] = []
      for (let repeat = 1; repeat <= settings.repeat; repeat += 1) {
        windows.push(...(await play(window, repeat)))
      }
      sections.push({ title, windows, findings: scaleFindings(windows, noun) })
    }
  }
  const findings = memoryFindings(sections.flatMap(({ windows }) => windows))
  sections.push({ title: 'memory of the processor, largest', windows: [], findings })
  for (const { name, system } of sides) {
    const accounts = await system.settle()
    await system.close()
    const title = `accounts of the ${name} database`
    sections.push({ title, windows: [], findings: [], accounts })
    voidBecause.push(...accounts.faults.map((fault) => `${name}: ${fault}`))
  }
  sections.push(await measureStarts(tools, settings))
  return { sections, voidBecause }
}

/**
 * Ratios of the medians of each window's figures. A p99 over all windows would be that of the worst
 * window, which often shows another program on the machine.
 */
export function scaleFindings(windows: readonly WindowResult[], noun: string): Finding[] {
  type Figure = (window: WindowResult) => number
  const of = (side: string, figure: Figure): number =>
    median(windows.filter((window) => window.side === side).map(figure))
  const small = (name: string, figure: Figure, unit: string): Finding =>
    finding(`${name}, small`, of('small', figure), unit)
  const ratio = (name: string, figure: Figure, target?: Target): Finding =>
    finding(`${name}, large / small`, of('large', figure) / of('small', figure), '×', target)
  const p99: Figure = ({ latency }) => latency.p99
  const cpu = (process: string): Figure => {
    return (window) => cpuOf(window, (name) => name.startsWith(process) && name !== 'client')
  }
  return [
    small('rate', ({ ratePerSecond }) => ratePerSecond, '/s'),
    small('p50', ({ latency }) => latency.p50, 'ms'),
    ...[small('p99', p99, 'ms'), small(`CPU a ${noun}`, cpu(''), 'µs')],
    ratio('rate', ({ ratePerSecond }) => ratePerSecond),
    ratio('p50', ({ latency }) => latency.p50),
    // A window of writes has few journeys above its p99, so the figure is only indicative.
    ratio('p99', p99, noun === 'read' ? FLAT : undefined),
    ...[
      ratio('CPU of the gateway', cpu('gateway')),
      ratio('CPU of the processor', cpu('processor')),
    ],
    ratio(`CPU a ${noun}`, cpu(''), FLAT),
  ]
}

export function memoryFindings(windows: readonly WindowResult[]): Finding[] {
  const largest = (side: string): number =>
    Math.max(...windows.map((one) => (one.side === side ? (one.rssMiB['processor'] ?? 0) : 0)))
  return [
    finding('small', largest('small'), 'MiB'),
    finding('large', largest('large'), 'MiB', { atMost: 512 }),
  ]
}

/** From the start of the supervisor until all processes serve. */
async function measureStarts(tools: Tools, { open }: ScaleSettings) {
  const { stacks, store, progress } = tools
  progress('writing seed data for starts')
  const { dataDir } = await ownSeedData(tools, undefined, 'open', open, open)
  const seconds: number[] = []
  for (let start = 1; start <= STARTS; start += 1) {
    progress(`start ${start} of ${STARTS}`)
    const startedAt = performance.now()
    const stack = await stacks.start({ dataDir, settings: { STORE: store } })
    seconds.push((performance.now() - startedAt) / 1_000)
    await stack.stop()
  }
  const findings = [
    finding('ready after, median', median(seconds), 's', { atMost: 3 }),
    finding('ready after, longest', Math.max(...seconds), 's'),
  ]
  return { title: `starts with ${open} open payments`, windows: [], findings }
}

/** A stack on seed data; on a copy of it, when it is kept. */
export async function openSeeded(
  tools: Tools,
  kept: string | undefined,
  name: string,
  count: number,
): Promise<SystemUnderTest> {
  const { stacks, client, gateways, store, progress } = tools
  progress(`preparing the ${name} database`)
  const { dataDir, fixtures } = await ownSeedData(tools, kept, name, count, 0)
  progress(`starting on the ${name} database`)
  const settings = { STORE: store, GATEWAYS: String(gateways) }
  const stack = await stacks.start({ dataDir, settings })
  return openSystem(stack, client, { fixtures, audited: false })
}

/** Seeds data in the store of this run only. */
async function ownSeedData(
  { folder, store, progress }: Tools,
  kept: string | undefined,
  name: string,
  count: number,
  open: number,
) {
  const seeded = await seedData(kept ?? folder, name, count, open)
  const dataDir = kept === undefined ? seeded.dataDir : join(folder, `copy-${name}`)
  if (kept !== undefined)
    await cp(seeded.dataDir, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE })
  if (store === 'postgres') {
    progress(`moving the ${name} database to PostgreSQL`)
    await moveToPostgres(dataDir)
  }
  await promisify(execFile)('sync', ['-f', dataDir]) // Flushed to disk before the measurement.
  return { dataDir, fixtures: seeded.fixtures }
}

/** Existing data or new data. A folder gets its name once it is complete. */
async function seedData(folder: string, name: string, count: number, open: number) {
  const dataDir = join(folder, `${name}-${count}`)
  if (existsSync(dataDir)) {
    const fixtures = JSON.parse(await readFile(join(dataDir, 'seed.json'), 'utf8')) as Fixtures
    return { dataDir, fixtures }
  }
  const partial = `${dataDir}.partial`
  await rm(partial, { recursive: true, force: true })
  const fixtures = await writeSeedData({
    ...{ folder: partial, count, open, what: ['payouts', 'intents'], now: systemClock.now() },
    progress: () => undefined,
  })
  await rename(partial, dataDir)
  return { dataDir, fixtures }
}

async function readAll(dataDir: string): Promise<void> {
  const [file, cluster] = [join(dataDir, FILES.processorDatabase), join(dataDir, 'postgres/base')]
  const files = existsSync(file)
    ? [file]
    : (await readdir(cluster, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile() && TABLE_FILE.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
  for (const each of files) {
    for await (const _ of createReadStream(each, { highWaterMark: READ_BYTES }));
  }
}
