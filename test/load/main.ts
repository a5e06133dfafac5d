/**
 * The load tool's command line: `node .build/test/load/main.js --help`.
 *
 * - Exit codes: 0 measured, 1 failed, 2 wrong flags, 3 void (measured, but the figures do not
 *   count), 130 interrupted.
 * - At any exit the started programs end and their data is removed; the result stays.
 * - With `--quick` every step is as short as possible, for tests; the figures have no meaning.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { systemClock, toRfc3339 } from '../../src/base/clock.js'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { FILES } from '../../src/base/subjects.js'
import { bench, benchStores, compare } from './bench.js'
import { benchCluster, clusterShards } from './bench_cluster.js'
import { startClient } from './client/client.js'
import { describeMachine } from './machine.js'
import type { StoreKind, Tools } from './measured_window.js'
import { soak, spike, SPIKE_FACTOR, steadyLoad } from './open_loop.js'
import { profile } from './profile.js'
import { measureRefusals } from './refusal_times.js'
import { report } from './report.js'
import { reportPage } from './report_page/report_page.js'
import { runBefore } from './report_page/run_before.js'
import { isVoid, type Part, type RunResult } from './result.js'
import { runningStack, type RunningStack } from './running_stack.js'
import { scale } from './scale.js'
import { isScenario, SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'
import { writeSeedData } from './seed_data/seed_data.js'
import { createStacks } from './stacks.js'
import type { Subscription } from './system_under_test.js'
import { measureShards } from './shard_writers.js'

/** With `--quick`, unless a flag says otherwise. */
const QUICK = {
  ...{ seconds: 0.4, repeat: 1, connections: 16, batches: 20, samples: 20 },
  ...{ small: 200, large: 2_000, open: 200, partners: 100 },
}
const QUICK_LEAD_IN_MS = 200
const QUICK_FILLING = 20
const ROWS_MAX = 100_000_000
/** Payouts a second: a closed loop would create more events than can be delivered. */
const WEBHOOKS_PROFILE_RATE = 100

const cleanups: (() => unknown)[] = []
let cleaning: Promise<void> | undefined
const cleanUp = (): Promise<void> => (cleaning ??= clean())
async function clean(): Promise<void> {
  for (const run of cleanups) await run()
}

type Flags<Names extends string, T> = Readonly<Record<Names, T>>
/** The flags; a command reads its own. */
type Given = Flags<'gateways' | 'count' | 'live' | 'times', number> &
  Flags<'what' | 'out', string> &
  Flags<'store', StoreKind> &
  Flags<'subscription', Subscription> &
  Partial<Flags<keyof typeof QUICK | 'rate', number>> &
  Partial<Flags<'base' | 'head' | 'keep' | 'dataDir', string>> &
  Partial<Flags<'running' | 'quick', true>> &
  Partial<Flags<'scenario', readonly ScenarioName[]>>

interface Plan {
  /** Description for the report. */
  readonly load: string
  run(tools: Tools): Promise<Part>
}

/** Opens the tools, runs the measurement, writes and prints the result. @returns the exit code */
async function measure(kind: string, given: Given, { load, run }: Plan) {
  const { gateways, store, subscription, out } = given
  const folder = join(resolve(out), `run-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const [stacks, client] = [createStacks(folder), startClient()]
  // The client ends first, as it would report the end of the others as a failure.
  cleanups.push(client.stop, stacks.stop, () => rmSync(folder, { recursive: true, force: true }))
  const startedAt = toRfc3339(systemClock.now())
  const machine = describeMachine(folder)
  const tools = {
    folder,
    out: resolve(out),
    machine,
    stacks,
    client,
    gateways,
    store,
    subscription,
  }
  const ofFlags = { gateways: String(gateways), store, events: subscription }
  const measured = await run({ ...tools, progress: createProgress() })
  await cleanUp()
  const { notes = [], settings: stack = ofFlags, ...part } = measured
  const settings = { load, ...stack }
  const result: RunResult = { kind, startedAt, machine, settings, ...part }
  const file = join(resolve(out), `${kind}-${startedAt.replaceAll(':', '')}.json`)
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
  const page = join(resolve(out), 'report.html')
  writeFileSync(page, reportPage(result, runBefore(resolve(out), result)))
  say(['', report(result), '', `  ${file}`, `  ${page}`, ...notes].join('\n'))
  return isVoid(result) ? 3 : 0
}

function createProgress(): Tools['progress'] {
  const sayRate = seldom(1_000)
  return (step, sample) => {
    if (sample === undefined) return say(`${step} …`)
    const { perSecond, p99, failedPerSecond } = sample
    const failed = failedPerSecond === 0 ? '' : `, ${Math.round(failedPerSecond)}/s failed`
    sayRate(`  ${step}: ${Math.round(perSecond)}/s, p99 ${Math.round(p99)} ms${failed}`)
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Says lines that come sooner after the last one not at all. */
function seldom(everyMs: number): (line: string) => void {
  let saidAt = -Infinity
  return (line) => {
    if (performance.now() - saidAt < everyMs) return
    saidAt = performance.now()
    say(line)
  }
}

const whole = (flag: string, max: number, text: string, fallback?: number): Option =>
  new Option(`--${flag} <n>`, text).default(fallback).argParser((given) => {
    const value = /^[0-9]{1,9}$/.test(given) ? Number(given) : 0
    if (value >= 1 && value <= max) return value
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`)
  })

const NAMES = Object.keys(SCENARIOS).join(', ')
const OPTIONS = [
  new Option('--scenario <names>', `${NAMES}; several for bench and compare`).argParser((text) => {
    const names = text.split(',')
    if (names.every(isScenario)) return names
    throw new InvalidArgumentError(`It is one of ${NAMES}.`)
  }),
  whole('gateways', 16, 'gateway processes of the stack', 1),
  new Option('--store <kind>', 'store of the stacks; bench: postgres compares both')
    .choices(['sqlite', 'postgres'])
    .default('sqlite'),
  new Option('--subscription <which>', "events that the partner's endpoint subscribes to")
    .choices(['final', 'all'])
    .default('final'),
  whole('seconds', 7 * 86_400, 'duration of a measured window'),
  whole('connections', 4_000, 'number of connections, each with one request at a time'),
  whole('rate', 1_000_000, 'journeys a second; default for bench, compare, profile: closed loop'),
  whole('repeat', 100, 'bench, cluster, compare, scale, shards: windows of each side'),
  new Option('--base <folder>', 'compare: a built checkout'),
  new Option('--head <folder>', 'compare: another built checkout'),
  new Option('--running', 'load: uses the running stack of DATA_DIR, which keeps the created data'),
  whole('small', ROWS_MAX, 'scale: intents, and payouts, of the small database (10,000)'),
  whole('large', ROWS_MAX, 'scale: the same of the large database (1,000,000)'),
  whole('open', ROWS_MAX, 'scale: open payments at the measured starts (100,000)'),
  whole('partners', ROWS_MAX, 'scale: partners at the measured starts (10,000)'),
  new Option('--keep <folder>', 'scale: keeps the databases for the next run'),
  whole('samples', 1_000_000, 'refusals: requests of each cause (2,000)'),
  whole('batches', 10_000, 'shards: of each writer, measured (1,000)'),
  whole('count', ROWS_MAX, 'seed: number of payments of each kind', 10_000),
  new Option('--what <kind>', 'seed').choices(['payouts', 'intents', 'both']).default('both'),
  whole('live', ROWS_MAX, 'seed: number of payments that are still open', 0),
  whole(
    'times',
    1_000,
    'seed: repeats ended payments, each time a month later, as retention leaves them',
    1,
  ),
  new Option('--data-dir <folder>', 'seed: target folder; default: the setting DATA_DIR'),
  new Option('--out <folder>', 'folder for results').default(join(projectRoot(), '.build', 'load')),
  new Option('--quick').hideHelp(),
]

const durations = ({ quick, seconds = 10 }: Given) => ({
  leadInMs: quick ? QUICK_LEAD_IN_MS : 1_000,
  warmUpMs: quick ? QUICK_LEAD_IN_MS : 3_000,
  measureMs: 1_000 * seconds,
})

function benchPlan(given: Given, scenarios: readonly ScenarioName[]) {
  const { scenario = scenarios, repeat = 3, rate, connections = 512 } = given
  const base = { ...durations(given), connections, repeat }
  const loop = rate === undefined ? 'closed loop' : `open loop at ${rate}/s`
  return {
    settings: { ...base, scenarios: scenario, ratePerSecond: rate },
    load: `${loop}, ${connections} connections, ${repeat} × ${base.measureMs} ms a side`,
  }
}

function openLoopPlan(given: Given, scenarios: readonly ScenarioName[], fallbackSeconds: number) {
  const [scenario = 'mixed', ...more] = given.scenario ?? scenarios
  if (more.length > 0) program.error('error: this command takes one --scenario')
  const { rate: ratePerSecond = 200, seconds = fallbackSeconds, connections = 512 } = given
  const { leadInMs } = durations(given)
  return {
    settings: { scenario, ratePerSecond, seconds, connections, leadInMs },
    load: `${scenario}, open loop at ${ratePerSecond}/s for ${seconds} s`,
  }
}

const PLANS: Readonly<Record<string, (given: Given) => Plan>> = {
  bench: (given) => {
    const payments = ['creates', 'lifecycle', 'payouts'] as const
    const isPostgres = given.store === 'postgres'
    const scenarios = isPostgres ? payments : ([...payments, 'reads', 'webhooks'] as const)
    const { settings, load } = benchPlan(given, scenarios)
    return { load, run: (tools) => (isPostgres ? benchStores : bench)(tools, settings) }
  },
  compare: (given) => {
    if (!given.base || !given.head) program.error('error: --base and --head are missing')
    const { settings, load } = benchPlan(given, ['creates'])
    const revisions = { base: resolve(given.base), head: resolve(given.head) }
    const names = `${basename(revisions.base)}, ${basename(revisions.head)}`
    return { load: `${load}; ${names}`, run: (tools) => compare(revisions)(tools, settings) }
  },
  load: (given) => {
    const { settings, load } = openLoopPlan(given, ['mixed'], 30)
    const run: Plan['run'] = (tools) =>
      given.running
        ? onRunning((running) => steadyLoad(tools, settings, running))
        : steadyLoad(tools, settings)
    return { load, run }
  },
  cluster: (given) => {
    const { settings, load } = benchPlan(given, ['creates'])
    const run: Plan['run'] = (tools) =>
      onRunning((stack) => benchCluster(tools, settings, stack), clusterShards)
    return { load, run }
  },
  soak: (given) => {
    const { settings, load } = openLoopPlan(given, ['mixed'], 1_800)
    const filling = given.quick ? QUICK_FILLING : Number(SETTINGS.WARM_ACTORS.fallback)
    return { load, run: (tools) => soak(tools, { ...settings, filling }) }
  },
  spike: (given) => {
    const { settings } = openLoopPlan(given, ['creates'], 5)
    // Slightly fewer connections than the gateway takes from one address.
    const most = { ...settings, connections: given.connections ?? 3_000 }
    const around = given.quick
      ? { calmMs: 500, afterMs: 1_000 }
      : { calmMs: 10_000, afterMs: 20_000 }
    const load = `${settings.scenario}, ${SPIKE_FACTOR} × the capacity for ${settings.seconds} s`
    return { load, run: (tools) => spike(tools, { ...most, ...around }) }
  },
  profile: (given) => {
    const { scenario, connections } = openLoopPlan(given, ['creates'], 10).settings
    const fallback = scenario === 'webhooks' ? WEBHOOKS_PROFILE_RATE : undefined
    const { rate: ratePerSecond = fallback } = given
    const settings = { ...durations(given), scenario, connections, ratePerSecond }
    const load = `${scenario}, ${settings.measureMs / 1_000} s`
    return { load, run: (tools) => profile(tools, settings) }
  },
  scale: (given) => {
    const { small = 10_000, large = 1_000_000, open = 100_000, keep, partners = 10_000 } = given
    const { repeat = 4, seconds = 2, connections = 8 } = given
    const settings = {
      ...{ small, large, open, partners, repeat, connections, windowMs: 1_000 * seconds },
      kept: keep === undefined ? undefined : resolve(keep),
    }
    const load = `databases of ${small} and ${large} intents and payouts`
    return { load, run: (tools) => scale(tools, settings) }
  },
  refusals: ({ samples = 2_000 }) => {
    const load = `${samples} requests of each cause, one at a time`
    return { load, run: (tools) => measureRefusals(tools, samples) }
  },
  shards: ({ repeat: pairs = 5, batches = 1_000 }) => {
    const load = `${batches} commits of each writer, ${pairs} pairs`
    return { load, run: (tools) => measureShards(tools, { pairs, batches }) }
  },
}

/** Repetitions end with a whole one, so that the data can be used. */
const ending = new AbortController()
let isEndedWhole = false

async function seed({ count, what, live, times, dataDir }: Given): Promise<void> {
  const folder = resolve(dataDir ?? readSettings().DATA_DIR)
  if (existsSync(join(folder, FILES.processorDatabase))) {
    program.error(`error: ${folder} has a database already: choose a new DATA_DIR`)
  }
  const kinds = (['payouts', 'intents'] as const).filter((kind) => ['both', kind].includes(what))
  const open = Math.min(live, count * kinds.length)
  const sayDone = seldom(2_000)
  const progress = (done: number, of: number): void => sayDone(`  ${done} of ${of}`)
  if (times > 1 && live > 0)
    program.error('error: --times repeats ended payments only: omit --live')
  const now = systemClock.now()
  const how = { folder, count, what: kinds, open, times, now, progress, signal: ending.signal }
  isEndedWhole = times > 1
  const data = await writeSeedData(how)
  say(`${folder}: ${count * data.times} ${kinds.join(' and ')}, ${open} of them open`)
}

const program: Command = new Command('load')
  .description('measures a whole stack under the load of partners')
  .addArgument(new Argument('<command>').choices([...Object.keys(PLANS), 'seed']))
  .allowExcessArguments(false)
  .exitOverride()
  .configureOutput({ outputError: () => undefined })
  .action(async (command: string, given: Given) => {
    const plan = PLANS[command]
    if (plan === undefined) return seed(given)
    const ofQuick = given.quick ? QUICK : {}
    process.exitCode = await measure(command, given, plan({ ...ofQuick, ...given }))
  })
for (const option of OPTIONS) program.addOption(option)

/** On the stack of the DATA_DIR that the environment names. */
async function onRunning(
  run: (stack: RunningStack) => Promise<Part>,
  placed?: Parameters<typeof runningStack>[0],
): Promise<Part> {
  const stack = await runningStack(placed)
  if (stack !== undefined) return { ...(await run(stack)), settings: stack.settings }
  program.error('error: no stack runs on this DATA_DIR: make run, or omit --running')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    if (isEndedWhole) ending.abort()
    else void cleanUp().finally(() => process.exit(130))
  })
}
try {
  await program.parseAsync()
} catch (error) {
  await cleanUp()
  const isUsage = error instanceof CommanderError
  process.exitCode = isUsage ? (error.exitCode === 0 ? 0 : 2) : 1
  if (process.exitCode > 0) process.stderr.write(`${isUsage ? error.message : inspect(error)}\n`)
}
process.exit()
