/**
 * What the load tool can be asked for.
 *
 * Owns: each command's flags and their defaults. Does not own: what it measures (bench,
 * bench_webhooks, open_load, compare, scale, profile).
 *
 * - All flags are read before anything is started.
 * - With `--quick` every step is taken for a moment only, as tests need it; no figure of it means
 *   anything.
 */
import { basename, resolve } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { readSettings } from '../../src/base/settings.js'
import { findSandbox, isServing } from '../../src/operations/sandbox.js'
import { benchScenario, type BenchOptions, type BenchPart, type BenchSettings } from './bench.js'
import { benchWebhooks } from './bench_webhooks.js'
import type { Client } from './client/client.js'
import { compare } from './compare.js'
import { UsageError, type Flags } from './flags.js'
import type { Machine } from './measurement/machine.js'
import type { IntervalResult } from './measurement/measurement.js'
import { soak, steadyLoad, type OpenLoadPart } from './open_load.js'
import {
  addressOf,
  processesOf,
  type LoadSettings,
  type Programs,
  type Stack,
} from './system_under_test/programs.js'
import { profile } from './profile/profile.js'
import { revision } from './profile/revision.js'
import type { RunResult } from './report/result.js'
import { scale } from './scale.js'
import type { ScenarioName } from './scenarios/scenarios.js'
import { spike } from './spike.js'

export interface Tools {
  readonly folder: string
  readonly machine: Machine
  readonly programs: Programs
  readonly client: Client
  readonly progress: (step: string, intervalSample: IntervalResult | undefined) => void
}

export interface Plan {
  readonly kind: RunResult['kind']
  readonly clients: number
  /** For people. */
  readonly settings: Readonly<Record<string, string>>
  run(tools: Tools): Promise<BenchPart>
}

export const VALUES = [
  ...['scenario', 'rate', 'seconds', 'in-flight', 'repeat', 'clients', 'gateways', 'out'],
  ...['capacity', 'factor', 'base', 'head', 'small', 'large', 'live', 'books'],
  'every-micros',
]
export const SWITCHES = ['without-key', 'running', 'quick']

const BENCHED: readonly ScenarioName[] = ['creates', 'lifecycle', 'payouts', 'reads', 'webhooks']
/** What a window of a benchmark signs ahead is good for five minutes. */
const BENCH_SECONDS_MAX = 120
const SECONDS_MAX = 7 * 86_400
const IN_FLIGHT_MAX = 4_000
const REPEAT_MAX = 100
const RATE_MAX = 1_000_000
const CLIENTS_MAX = 16
const GATEWAYS_MAX = 16
const FACTOR_MAX = 100
const ROWS_MAX = 100_000_000

const IN_FLIGHT = 512
const QUICK_IN_FLIGHT = 16
/** As many connections as the gateway takes from one address, but some. */
const SPIKE_IN_FLIGHT = 3_000
const PROFILE_EVERY_MICROS = 500
const PROFILE_EVERY_MICROS_MAX = 100_000
/** Payouts a second: a closed loop would create far more than can be delivered. */
const PROFILE_RATES: Partial<Record<ScenarioName, number>> = { webhooks: 100 }
const LEAD_IN_MS = 1_000
const WARM_UP_MS = 3_000
const QUICK_MS = 200

export function planOf(flags: Flags): Plan {
  const common = {
    clients: flags.whole('clients', 1, CLIENTS_MAX),
    gateways: flags.whole('gateways', 1, GATEWAYS_MAX),
  }
  switch (flags.command) {
    case 'bench':
      return planBench(flags, common)
    case 'compare':
      return planCompare(flags, common)
    case 'load':
      return planLoad(flags, common)
    case 'soak':
      return planSoak(flags, common)
    case 'spike':
      return planSpike(flags, common)
    case 'scale':
      return planScale(flags, common)
    case 'profile':
      return planProfile(flags, common)
    default:
      throw new UsageError('a command is one of bench, load, soak, spike, compare, scale, profile')
  }
}

interface Common {
  readonly clients: number
  readonly gateways: number
}

function planBench(flags: Flags, common: Common): Plan {
  const settings = benchSettings(flags, common, BENCHED)
  return {
    kind: 'bench',
    clients: common.clients,
    settings: inWords(settings, common),
    run: async (tools) => {
      const options = benchOptions(settings, tools)
      return joined(settings.scenarios, (scenario) =>
        scenario === 'webhooks' ? benchWebhooks(options) : benchScenario(options, scenario),
      )
    },
  }
}

function planCompare(flags: Flags, common: Common): Plan {
  const settings = benchSettings(flags, common, ['creates'])
  const [base, head] = [flags.text('base'), flags.text('head')]
  if (base === undefined || head === undefined) {
    throw new UsageError('--base and --head are folders of built checkouts')
  }
  const roots = { base: resolve(base), head: resolve(head) }
  return {
    kind: 'compare',
    clients: common.clients,
    settings: {
      ...inWords(settings, common),
      revisions: `${basename(roots.base)}, ${basename(roots.head)}`,
    },
    run: async (tools) =>
      joined(settings.scenarios, (scenario) =>
        compare(benchOptions(settings, tools), roots, scenario),
      ),
  }
}

function benchSettings(
  flags: Flags,
  { gateways }: Common,
  scenarios: readonly ScenarioName[],
): BenchSettings {
  const quick = flags.has('quick')
  return {
    scenarios: flags.scenarios(scenarios),
    measureMs: quick ? 2 * QUICK_MS : 1_000 * flags.whole('seconds', 10, BENCH_SECONDS_MAX),
    leadInMs: quick ? QUICK_MS : LEAD_IN_MS,
    warmUpMs: quick ? QUICK_MS : WARM_UP_MS,
    inFlight: flags.whole('in-flight', quick ? QUICK_IN_FLIGHT : IN_FLIGHT, IN_FLIGHT_MAX),
    repeat: flags.whole('repeat', quick ? 1 : 3, REPEAT_MAX),
    ratePerSecond: flags.wholeIfGiven('rate', RATE_MAX),
    withIdempotencyKey: !flags.has('without-key'),
    gateways,
  }
}

function inWords(settings: BenchSettings, { clients, gateways }: Common): Record<string, string> {
  const { measureMs, inFlight, repeat, ratePerSecond, withIdempotencyKey } = settings
  const loop =
    ratePerSecond === undefined
      ? `closed loop, ${inFlight} in flight`
      : `open loop, ${ratePerSecond}/s on at most ${inFlight} connections`
  const key = withIdempotencyKey ? 'a new Idempotency-Key each' : 'creates without Idempotency-Key'
  return {
    load: `${loop}; ${repeat} × ${measureMs / 1_000} s a side, in turns; ${key}`,
    programs: programsInWords(clients, gateways),
  }
}

const programsInWords = (clients: number, gateways: number): string =>
  `${several(gateways, 'gateway')}, ${several(clients, 'client thread')}`

const several = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const benchOptions = (settings: BenchSettings, tools: Tools): BenchOptions => ({
  ...tools,
  settings,
  clock: systemClock,
  random: systemRandom(),
})

async function joined(
  scenarios: readonly ScenarioName[],
  part: (scenario: ScenarioName) => Promise<BenchPart>,
): Promise<BenchPart> {
  const parts: BenchPart[] = []
  for (const scenario of scenarios) parts.push(await part(scenario))
  return {
    sections: parts.flatMap(({ sections }) => sections),
    voidBecause: parts.flatMap(({ voidBecause }) => voidBecause),
  }
}

interface OpenLoad {
  readonly scenario: ScenarioName
  readonly ratePerSecond: number
  readonly seconds: number
  readonly inFlight: number
  readonly leadInMs: number
}

function openLoadOf(
  flags: Flags,
  fallback: { scenario: ScenarioName; rate: number; seconds: number },
): OpenLoad {
  const [scenario = fallback.scenario, ...more] = flags.scenarios([fallback.scenario])
  if (more.length > 0) throw new UsageError('--scenario is one here')
  const quick = flags.has('quick')
  return {
    scenario,
    ratePerSecond: flags.whole('rate', fallback.rate, RATE_MAX),
    seconds: flags.whole('seconds', quick ? 1 : fallback.seconds, SECONDS_MAX),
    inFlight: flags.whole('in-flight', IN_FLIGHT, IN_FLIGHT_MAX),
    leadInMs: quick ? QUICK_MS : LEAD_IN_MS,
  }
}

function planLoad(flags: Flags, common: Common): Plan {
  const load = openLoadOf(flags, { scenario: 'mixed', rate: 200, seconds: 30 })
  const running = flags.has('running')
  return {
    kind: 'load',
    clients: common.clients,
    settings: {
      load: `${load.scenario}, open loop at ${load.ratePerSecond}/s for ${load.seconds} s`,
      programs: `${running ? 'a running stack' : programsInWords(common.clients, common.gateways)}`,
    },
    run: async (tools) => {
      const stack = running ? await runningStack() : await ephemeralStack(tools, common)
      return oneSection(await steadyLoad({ ...tools, ...load }, stack, load))
    },
  }
}

function planSoak(flags: Flags, common: Common): Plan {
  const load = openLoadOf(flags, { scenario: 'mixed', rate: 200, seconds: 1_800 })
  return {
    kind: 'soak',
    clients: common.clients,
    settings: {
      load: `${load.scenario}, open loop at ${load.ratePerSecond}/s for ${load.seconds} s`,
      programs: programsInWords(common.clients, common.gateways),
    },
    run: async (tools) =>
      oneSection(await soak({ ...tools, ...load }, await ephemeralStack(tools, common), load)),
  }
}

/** Rates are high enough for any load; what must hold are the caps on what is under way. */
const SPIKE_SETTINGS: LoadSettings = {
  RATE_LIMIT: 'on',
  RATE_LIMIT_PER_SECOND: '1000000',
  RATE_LIMIT_PER_ADDRESS: '1000000',
}

function planSpike(flags: Flags, common: Common): Plan {
  const quick = flags.has('quick')
  const load: OpenLoad = {
    ...openLoadOf(flags, { scenario: 'creates', rate: 1, seconds: 5 }),
    inFlight: flags.whole('in-flight', quick ? QUICK_IN_FLIGHT : SPIKE_IN_FLIGHT, IN_FLIGHT_MAX),
  }
  const plan = {
    capacityPerSecond: flags.wholeIfGiven('capacity', RATE_MAX),
    factor: flags.whole('factor', 10, FACTOR_MAX),
    calmMs: quick ? 500 : 10_000,
    spikeMs: 1_000 * load.seconds,
    afterMs: quick ? 1_000 : 20_000,
  }
  return {
    kind: 'spike',
    clients: common.clients,
    settings: {
      load:
        `${load.scenario}, open loop at half of the capacity, then ${plan.factor} times the ` +
        `capacity for ${load.seconds} s, then half of it`,
      programs: programsInWords(common.clients, common.gateways),
    },
    run: async (tools) => {
      const stack = await ephemeralStack(tools, common, SPIKE_SETTINGS)
      return oneSection(await spike({ ...tools, ...load }, stack, plan))
    },
  }
}

function planScale(flags: Flags, common: Common): Plan {
  const quick = flags.has('quick')
  const sizes = {
    small: flags.whole('small', quick ? 200 : 10_000, ROWS_MAX),
    large: flags.whole('large', quick ? 2_000 : 1_000_000, ROWS_MAX),
    live: flags.whole('live', quick ? 200 : 100_000, ROWS_MAX),
  }
  const books = flags.text('books')
  const windowMs = quick ? QUICK_MS : 1_000 * flags.whole('seconds', 2, BENCH_SECONDS_MAX)
  const repeat = flags.whole('repeat', quick ? 1 : 4, REPEAT_MAX)
  const inFlight = flags.whole('in-flight', 8, IN_FLIGHT_MAX)
  return {
    kind: 'scale',
    clients: common.clients,
    settings: {
      load:
        `reads, then writes of ${sizes.small.toLocaleString('en-US')} and of ` +
        `${sizes.large.toLocaleString('en-US')} intents and payouts; closed loop, ` +
        `${inFlight} reads in flight; ${repeat} turns a side`,
      programs: programsInWords(common.clients, common.gateways),
    },
    run: (tools) =>
      scale({
        ...tools,
        ...sizes,
        ...{ gateways: common.gateways, repeat, inFlight, windowMs },
        kept: books === undefined ? undefined : resolve(books),
        scratch: tools.folder,
        clock: systemClock,
      }),
  }
}

function planProfile(flags: Flags, common: Common): Plan {
  const [scenario = 'creates', ...more] = flags.scenarios(['creates'])
  if (more.length > 0) throw new UsageError('--scenario is one here')
  const quick = flags.has('quick')
  const settings = {
    scenario,
    gateways: common.gateways,
    measureMs: quick ? 5 * QUICK_MS : 1_000 * flags.whole('seconds', 10, BENCH_SECONDS_MAX),
    leadInMs: quick ? QUICK_MS : LEAD_IN_MS,
    warmUpMs: quick ? QUICK_MS : WARM_UP_MS,
    inFlight: flags.whole('in-flight', quick ? QUICK_IN_FLIGHT : IN_FLIGHT, IN_FLIGHT_MAX),
    ratePerSecond: flags.wholeIfGiven('rate', RATE_MAX) ?? PROFILE_RATES[scenario],
    everyMicros: flags.whole('every-micros', PROFILE_EVERY_MICROS, PROFILE_EVERY_MICROS_MAX),
  }
  const { ratePerSecond, inFlight, measureMs } = settings
  const loop = ratePerSecond === undefined ? 'closed loop' : `${ratePerSecond}/s`
  return {
    kind: 'profile',
    clients: common.clients,
    settings: {
      load: `${scenario}, ${loop}, ${inFlight} connections, ${measureMs / 1_000} s`,
      programs: programsInWords(common.clients, common.gateways),
      revision: revision(),
    },
    run: (tools) => profile({ ...tools, ...settings }),
  }
}

const oneSection = ({ section, voidBecause }: OpenLoadPart): BenchPart => ({
  sections: [section],
  voidBecause,
})

function ephemeralStack(
  { programs, progress }: Tools,
  { gateways }: Common,
  settings: LoadSettings = {},
): Promise<Stack> {
  progress('starting the stack', undefined)
  return programs.startStack({ settings: { ...settings, GATEWAYS: String(gateways) } })
}

/** Of the DATA_DIR that the environment names. What the load creates there stays there. */
async function runningStack(): Promise<Stack> {
  const sandbox = findSandbox()
  if (sandbox === undefined || !(await isServing(sandbox))) {
    throw new UsageError('no stack is running there: make run, or leave out --running')
  }
  const dataDir = resolve(readSettings().DATA_DIR)
  return {
    address: addressOf(sandbox.base_url),
    sandbox,
    dataDir,
    processes: () => processesOf(dataDir),
    stop: () => Promise.resolve(),
  }
}
