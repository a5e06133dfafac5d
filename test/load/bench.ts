/**
 * Benchmarks in closed loops: every scenario and its ceiling, webhooks, two stores, two revisions.
 *
 * - Sides alternate within one run, so a change in the machine's speed affects both.
 * - Each scenario has its own stack, so no rows of another one.
 * - A run is void unless every request was answered as expected, the accounts add up, the audit is
 *   clean, a sample of acknowledged intents can be read back, and the data was on a disk.
 */
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
import type { EndpointPlan } from './receivers.js'
import {
  finding,
  ratioFindings,
  type Finding,
  type Part,
  type Section,
  type Target,
} from './result.js'
import { SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'
import type { StackOptions } from './stacks.js'
import { openSystem, type SystemUnderTest } from './system_under_test.js'

export interface BenchSettings {
  readonly scenarios: readonly ScenarioName[]
  readonly leadInMs: number
  readonly warmUpMs: number
  readonly measureMs: number
  readonly connections: number
  /** Windows of every side. */
  readonly repeat: number
  /** Open loop at this rate. Undefined means closed loop. */
  readonly ratePerSecond: number | undefined
}

/** Targets for two idle cores. */
const TARGETS: Partial<Record<ScenarioName, Target>> = {
  creates: { atLeast: 15_000 },
  lifecycle: { atLeast: 1_500 },
  payouts: { atLeast: 2_000 },
}
const CEILING_TARGETS: Partial<Record<ScenarioName, Target>> = { creates: { atLeast: 0.8 } }

type BenchScenario = (
  tools: Tools,
  settings: BenchSettings,
  scenario: ScenarioName,
) => Promise<Part>

/** One scenario after the other. */
const scenarioByScenario =
  (benchOne: BenchScenario) =>
  async (tools: Tools, settings: BenchSettings): Promise<Part> => {
    const parts: Part[] = []
    for (const scenario of settings.scenarios) parts.push(await benchOne(tools, settings, scenario))
    return joined(parts)
  }

const joined = (parts: readonly Part[]): Part => ({
  sections: parts.flatMap(({ sections }) => sections),
  voidBecause: parts.flatMap(({ voidBecause }) => voidBecause),
})

export const bench = scenarioByScenario((tools, settings, scenario) =>
  (scenario === 'webhooks' ? benchWebhooks : benchWithCeiling)(tools, settings, scenario),
)

export async function startSystem(
  { stacks, gateways, store, subscription, progress }: Tools,
  { settings = {}, ...options }: StackOptions = {},
  system?: Parameters<typeof openSystem>[1],
): Promise<SystemUnderTest> {
  progress('starting the stack')
  const given = { STORE: store, ...settings, GATEWAYS: String(gateways) }
  const stack = await stacks.start({ settings: given, ...options })
  return openSystem(stack, { subscription, ...system })
}

/** Settles and closes the system. Only the faults of the warm-up are reported. */
export async function finish(
  { machine, progress }: Tools,
  system: SystemUnderTest,
  measured: readonly Measured[],
  section: Pick<Section, 'title'> & Partial<Section>,
): Promise<Part> {
  progress('checking the accounts')
  const accounts = await system.settle()
  await system.close()
  const faults = [...measured.flatMap(({ faults: found }) => found), ...accounts.faults]
  if (machine.fileSystem === 'tmpfs') faults.push('the data is not on a disk')
  return {
    sections: [{ windows: windowsOf(measured), findings: [], ...section, accounts }],
    voidBecause: faults.map((fault) => `${section.title}: ${fault}`),
  }
}

const benchWithCeiling: BenchScenario = async (tools, settings, scenario) => {
  const system = await startSystem(tools)
  const ceiling = await tools.stacks.startNullBackend(system.stack, tools.gateways)
  const service = { system, alsoWatched: ceiling.processes() }
  const sides = { ceiling: { ...service, ceiling: ceiling.address }, service }
  const measured = await measureSides(tools, settings, scenario, sides)
  const windows = windowsOf(measured)
  const rateOf = (side: string): number =>
    median(windows.filter((one) => one.side === side).map(({ ratePerSecond }) => ratePerSecond))
  const rate = rateOf('service')
  const rates = [
    finding('rate', rate, '/s', TARGETS[scenario]),
    finding('service / ceiling', rate / rateOf('ceiling'), '', CEILING_TARGETS[scenario]),
  ]
  const findings = settings.ratePerSecond === undefined ? rates : []
  return finish(tools, system, measured, { title: SCENARIOS[scenario], findings })
}

type Side = Partial<WindowOptions> & { readonly system: SystemUnderTest }

/** A window begins when the system of the previous one is idle. */
export const measureSides = (
  tools: Tools,
  settings: BenchSettings,
  scenario: ScenarioName,
  sides: Readonly<Record<string, Side>>,
): Promise<Measured[]> =>
  alternate(Object.entries(sides), [0, settings.repeat], async ([side, given], repeat) => {
    const { system, ...more } = given
    const options = { ...windowOptions(settings, scenario, repeat), side, ...more }
    const measured = await measureWindow(tools, system, options)
    await system.quiet()
    return measured
  })

type OneWindow = Omit<BenchSettings, 'scenarios' | 'repeat'>
export const windowOptions = (settings: OneWindow, scenario: ScenarioName, repeat: number) => {
  const { ratePerSecond, connections, leadInMs } = settings
  return {
    ...{ scenario, repeat, connections, leadInMs, strict: true },
    measureMs: repeat === 0 ? settings.warmUpMs : settings.measureMs,
    phases: ratePerSecond === undefined ? undefined : [{ ms: Infinity, ratePerSecond }],
  }
}

const ENDPOINTS = 10
const DELIVERIES_A_PAYOUT = 3 * ENDPOINTS
const DELIVERIES_TARGET = 3_000
const endpoint = (behavior: EndpointPlan['behavior']): EndpointPlan => ({ behavior, events: [] })
export const TEN_ENDPOINTS = Array.from({ length: ENDPOINTS }, () => endpoint('healthy'))
const TWO_FAIL = [...TEN_ENDPOINTS.slice(2), endpoint('slow'), endpoint('dead')]

/**
 * Ten endpoints of one partner get every event. First the load is twice the target rate; then, at
 * half of the reached rate, the age of deliveries with and without failing endpoints, alternating.
 */
const benchWebhooks: BenchScenario = async (tools, settings) => {
  const system = await startSystem(tools, {}, { plans: TWO_FAIL })
  const measured: Measured[] = []
  const play = async (side: string, rate: number, repeat: number): Promise<WindowResult> => {
    const options = windowOptions({ ...settings, ratePerSecond: rate }, 'webhooks', repeat)
    const window = await measureWindow(tools, system, { ...options, side, withoutWebhooks: true })
    measured.push(window)
    return window.result
  }
  const full = (2 * DELIVERIES_TARGET) / DELIVERIES_A_PAYOUT
  await play('saturated', full / 2, 0)
  const saturated = await play('saturated', full, 1)
  const reached = (saturated.arrivals?.count ?? 0) / saturated.seconds
  const half = Math.max(1, reached / 2 / DELIVERIES_A_PAYOUT)
  await system.quiet()
  const sides = ['half load', 'half load, one dead, one slow'] as const
  await alternate(sides, [1, settings.repeat], async (side, repeat) => {
    await system.receivers.setFailures(side !== 'half load')
    await play(side, half, repeat)
    await system.receivers.setFailures(false)
    await system.quiet()
  })
  const [healthy = [], failing = []] = sides.map((side) =>
    measured.flatMap(({ result }) => (result.side === side ? (result.arrivals?.age.p95 ?? 0) : [])),
  )
  const ratios = failing.map((age, round) => age / (healthy[round] ?? 0))
  const findings = [
    finding('deliveries', reached, '/s', { atLeast: DELIVERIES_TARGET }),
    finding('age at half load, p95', median(healthy), 'ms', { atMost: 50 }),
    finding('age beside failing endpoints, p95', median(failing), 'ms'),
    finding('failing / healthy, p95', median(ratios), '×', { atMost: 1.1 }),
  ]
  return finish(tools, system, measured, { title: SCENARIOS.webhooks, findings })
}

/**
 * Two revisions in alternation (base, head, head, base …), each window on a fresh stack. The result
 * is the ratio of neighboring windows, with its spread. Accounts and audit are not checked, because
 * the databases may have the schema of another revision.
 *
 * @param revisions folders of built checkouts
 */
export const compare = (revisions: Readonly<Record<'base' | 'head', string>>) =>
  scenarioByScenario(async (tools, settings, scenario) => {
    const played = await alternate(REVISIONS, [1, settings.repeat], async (side, repeat) => {
      const system = await startSystem(tools, { root: revisions[side] })
      const play = (number: number): Promise<Measured> =>
        measureWindow(tools, system, { ...windowOptions(settings, scenario, number), side })
      const both = [await play(0), await play(repeat)]
      await system.close()
      return both
    })
    const windows = windowsOf(played.flat())
    const findings = pairRatios(windows, REVISIONS)
    return {
      sections: [{ title: `${scenario}: head against base`, windows, findings }],
      voidBecause: played.flat().flatMap(({ faults }) => faults),
    }
  })

const REVISIONS = ['base', 'head'] as const
const STORES = ['SQLite', 'PostgreSQL'] as const
const STORE_TARGETS: Partial<Record<string, Target>> = {
  rate: { atLeast: 0.75 },
  'CPU of the processor': { atMost: 1 },
}

/**
 * A stack on SQLite and one on PostgreSQL in alternation: SQLite, PostgreSQL, PostgreSQL, SQLite
 * and so on. The result is the ratio of neighboring windows.
 */
export const benchStores = scenarioByScenario(async (tools, settings, scenario) => {
  const sides = {
    SQLite: { system: await startSystem({ ...tools, store: 'sqlite' }) },
    PostgreSQL: { system: await startSystem({ ...tools, store: 'postgres' }) },
  }
  const measured = await measureSides(tools, settings, scenario, sides)
  const windows = windowsOf(measured)
  const parts: Part[] = []
  for (const side of STORES) {
    const title = `${SCENARIOS[scenario]}: ${side}`
    const shown = side === 'SQLite' ? [] : windows
    const findings = side === 'SQLite' ? [] : storeFindings(windows)
    const ofSide = measured.filter(({ result }) => result.side === side)
    const section = { title, windows: shown, findings }
    parts.push(await finish(tools, sides[side].system, ofSide, section))
  }
  return joined(parts)
})

export function storeFindings(windows: readonly WindowResult[]): Finding[] {
  const server = windows.filter(({ side }) => side === 'PostgreSQL')
  const cpu = median(server.map((window) => cpuOf(window, (name) => name === 'postgres')))
  return [
    ...pairRatios(windows, STORES, STORE_TARGETS),
    finding('CPU of the PostgreSQL server a journey', cpu, 'µs'),
  ]
}

export function pairRatios(
  windows: readonly WindowResult[],
  [baseSide, headSide]: readonly [string, string],
  targets: Partial<Record<string, Target>> = {},
): Finding[] {
  const figures: readonly (readonly [string, (of: WindowResult) => number])[] = [
    ['rate', ({ ratePerSecond }) => ratePerSecond],
    ['p50', ({ latency }) => latency.p50],
    ['p99', ({ latency }) => latency.p99],
    ['CPU a journey', (window) => cpuOf(window, (name) => name !== 'client')],
    ['CPU of the processor', (window) => cpuOf(window, (name) => name === 'processor')],
    ['RSS of the processor', ({ rssMiB }) => rssMiB['processor'] ?? Number.NaN],
  ]
  return figures.flatMap(([name, of]) => {
    const ratios = windows
      .filter(({ side }) => side === headSide)
      .map((head) => {
        const base = windows.find((one) => one.side === baseSide && one.repeat === head.repeat)
        return base === undefined ? Number.NaN : of(head) / of(base)
      })
    return ratioFindings(`${name}, ${headSide} / ${baseSide}`, ratios, targets[name])
  })
}

type IsChosen = (process: string) => boolean
/** CPU microseconds of a journey in the processes that are chosen by name. */
export const cpuOf = ({ cpuMicros }: WindowResult, isChosen: IsChosen): number =>
  Object.entries(cpuMicros)
    .filter(([name]) => isChosen(name))
    .reduce((sum, [, { main, others }]) => sum + main + others, 0)
