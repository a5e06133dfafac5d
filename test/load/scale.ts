/**
 * Compares the service on a small and on a large database.
 *
 * - Two stacks, on a small and on a large database, alternate with each kind of journey (large,
 *   small, small, large …) after a warm-up of all kinds on both.
 * - Before each kind the database is read once, as some systems drop idle pages after a minute.
 * - Writes come last, and a window of them is a number of journeys: the small database stays small.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cpuOf, finish, startSystem } from './bench.js'
import type { Fixtures } from './fixtures.js'
import { eventually } from '../support/eventually.js'
import { median } from './machine.js'
import {
  alternate,
  measureWindow,
  windowsOf,
  type Measured,
  type Tools,
  type WindowOptions,
  type WindowResult,
} from './measured_window.js'
import { usageNow } from './process_usage.js'
import { finding, type Finding, type Part, type Section, type Target } from './result.js'
import { readsOf, type ScenarioName } from './scenarios/scenarios.js'
import { SEED_FILE } from './seed_data/seed_data.js'
import { ownSeedData, readAll } from './seed_data/seeded_database.js'
import type { Stack } from './stacks.js'
import type { SystemUnderTest } from './system_under_test.js'

/** `small`, `large`: intents, and as many payouts; `open`, `partners`: at a start. */
type Numbers = 'small' | 'large' | 'open' | 'partners' | 'windowMs' | 'repeat' | 'connections'
type ScaleSettings = Readonly<Record<Numbers, number>> & {
  /** The folder of kept databases. Undefined means none are kept. */
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
  const open = async (side: 'small' | 'large') => {
    return { side, system: await openSeeded(tools, settings.kept, side, settings[side]) }
  }
  const sides = [await open('small'), await open('large')] as const
  const sections: Section[] = []
  const measured: Measured[] = []
  const play = async (window: Kind['window'], first: number, last: number) => {
    const played = await alternate(sides, [first, last], ({ side, system }, repeat) =>
      measureWindow(tools, system, { ...window, side, repeat }),
    )
    measured.push(...played)
    return windowsOf(played)
  }
  for (const kinds of kindsOf(settings, sides[1].system.partners[0]!.fixtures)) {
    for (const { window } of kinds) await play(window, 0, 0)
    for (const { title, noun, window } of kinds) {
      for (const { system } of sides) readAll(system.stack.dataDir)
      const windows = await play(window, 1, settings.repeat)
      sections.push({ title, windows, findings: scaleFindings(windows, noun) })
    }
  }
  const findings = memoryFindings(windowsOf(measured))
  sections.push({ title: 'memory of the processor, largest', windows: [], findings })
  const voidBecause: string[] = []
  for (const { side, system } of sides) {
    const ofSide = measured.filter(({ result }) => result.side === side)
    const section = { title: `accounts of the ${side} database`, windows: [] }
    const accounts = await finish(tools, system, ofSide, section)
    sections.push(...accounts.sections)
    voidBecause.push(...accounts.voidBecause)
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
  const cpu = (process: string): Figure => {
    return (window) => cpuOf(window, (name) => name.startsWith(process) && name !== 'client')
  }
  const figures: readonly (readonly [string, Figure, unit: string, target?: Target | undefined])[] =
    [
      ['rate', ({ ratePerSecond }) => ratePerSecond, '/s'],
      ['p50', ({ latency }) => latency.p50, 'ms'],
      // A window of writes has few journeys above its p99, so the figure is only indicative.
      ['p99', ({ latency }) => latency.p99, 'ms', noun === 'read' ? FLAT : undefined],
      ['CPU of the gateway', cpu('gateway'), 'µs'],
      ['CPU of the processor', cpu('processor'), 'µs'],
      [`CPU a ${noun}`, cpu(''), 'µs', FLAT],
    ]
  const of = (side: string, figure: Figure): number =>
    median(windows.filter((window) => window.side === side).map(figure))
  return [
    ...figures.map(([name, figure, unit]) => finding(`${name}, small`, of('small', figure), unit)),
    ...figures.map(([name, figure, , target]) => {
      const ratio = of('large', figure) / of('small', figure)
      return finding(`${name}, large / small`, ratio, '×', target)
    }),
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
async function measureStarts(tools: Tools, { open, partners }: ScaleSettings): Promise<Section> {
  const { stacks, store, progress } = tools
  progress('writing seed data for starts')
  const dataDir = await ownSeedData(tools, undefined, 'open', open, { open, partners })
  const seconds: number[] = []
  const connectMs: number[] = []
  for (let start = 1; start <= STARTS; start += 1) {
    progress(`start ${start} of ${STARTS}`)
    const startedAt = performance.now()
    const stack = await stacks.start({ dataDir, settings: { STORE: store } })
    seconds.push((performance.now() - startedAt) / 1_000)
    progress('a gateway connects again')
    connectMs.push(await connectCpu(stack))
    await stack.stop()
  }
  const findings = [
    finding('ready after, median', median(seconds), 's', { atMost: 3 }),
    finding('ready after, longest', Math.max(...seconds), 's'),
    finding('CPU of the processor, a gateway connects, median', median(connectMs), 'ms'),
    finding('the same, largest', Math.max(...connectMs), 'ms'),
  ]
  const title = `starts with ${open} open payments and ${partners} partners`
  return { title, windows: [], findings }
}

/**
 * The CPU time of the processor's main thread while a gateway is killed, started again by the
 * supervisor and sent all partners and keys.
 */
async function connectCpu(stack: Stack): Promise<number> {
  const find = (name: string) => stack.processes().find((one) => one.name === name)!
  const spent = () => usageNow([find('processor')]).processes['processor']!.mainCpuMs
  const { pid } = find('gateway')
  const before = spent()
  process.kill(pid, 'SIGKILL')
  await eventually('the gateway has the directory', async () => {
    if (find('gateway').pid === pid) return false
    const answer = await fetch(`${stack.sandbox.base_url}/v1/balances`).catch(() => undefined)
    return answer?.status === 401 // 503 until then.
  })
  return spent() - before
}

/** A stack on seed data; on a copy of it, when it is kept. */
export async function openSeeded(
  tools: Tools,
  kept: string | undefined,
  name: string,
  count: number,
): Promise<SystemUnderTest> {
  tools.progress(`preparing the ${name} database`)
  const dataDir = await ownSeedData(tools, kept, name, count)
  const seeded = JSON.parse(readFileSync(join(dataDir, SEED_FILE), 'utf8')) as Fixtures
  return startSystem(tools, { dataDir }, { seeded })
}
