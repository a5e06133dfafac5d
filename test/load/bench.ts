/**
 * The benchmark: every scenario beside its ceiling, in one run.
 *
 * Owns: which sides take turns, the supply, the findings, what makes a run void. Does not own: one
 * window (measurement), webhooks (bench_webhooks), how it is told (report).
 *
 * - The sides take turns, so that a machine that gets slower or faster does so for all of them.
 * - All sides get requests of the same kind, signed alike, from the same client.
 * - A run is void, whatever its figures, unless every request of every window, warm-up included,
 *   was answered as it should, all counts add up, the audit is clean, what was acknowledged can
 *   be read back, and the data was on a disk.
 * - Each scenario has a stack of its own, so none inherits another one's rows.
 */
import type { Clock } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import type { Client, Order } from './client/client.js'
import { median, type Machine } from './measurement/machine.js'
import {
  measure,
  type Measurement,
  type IntervalResult,
  type WindowResult,
} from './measurement/measurement.js'
import type { Programs, Running, Stack } from './system_under_test/programs.js'
import { readBack } from './system_under_test/read_back.js'
import { finding, type Finding, type Section, type Target } from './report/result.js'
import { SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'
import {
  ONE_RECEIVER,
  openSystem,
  type SystemUnderTest,
} from './system_under_test/system_under_test.js'

export interface BenchSettings {
  readonly scenarios: readonly ScenarioName[]
  /** Of each window's measured part, and of the lead-in before it. */
  readonly measureMs: number
  readonly leadInMs: number
  readonly warmUpMs: number
  /** Connections, each with one request out at most. */
  readonly inFlight: number
  /** Turns of every side. */
  readonly repeat: number
  /** Open loop at this rate; undefined: closed loop. */
  readonly ratePerSecond: number | undefined
  readonly withIdempotencyKey: boolean
  readonly gateways: number
}

export interface BenchOptions {
  readonly settings: BenchSettings
  readonly machine: Machine
  readonly programs: Programs
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly progress: (step: string, intervalSample: IntervalResult | undefined) => void
}

export interface BenchPart {
  readonly sections: readonly Section[]
  readonly voidBecause: readonly string[]
}

/** DESIGN figures; the rates are for two quiet cores. */
const TARGETS: Partial<Record<ScenarioName, Target>> = {
  creates: { atLeast: 15_000 },
  lifecycle: { atLeast: 1_500 },
  payouts: { atLeast: 2_000 },
}
const RATIO_TARGETS: Partial<Record<ScenarioName, Target>> = { creates: { atLeast: 0.8 } }
/** Signed ahead of the first window; then as much as the one before has shown to be used. */
const FIRST_RATE = 5_000
/** A later window is seldom faster by more; if it is, the client signs while it sends. */
const PRESIGNED_FACTOR = 1.3
const READ_BACK_MAX = 100

interface Side {
  readonly name: 'ceiling' | 'service' | 'baseline'
  readonly stack: Stack
  readonly running: Running
  readonly awaitsWebhooks: boolean
}

export async function benchScenario(
  options: BenchOptions,
  scenario: ScenarioName,
): Promise<BenchPart> {
  const { programs, client, settings, progress } = options
  progress(`${scenario}: starting the stack`, undefined)
  const stack = await programs.startStack({
    settings: { GATEWAYS: String(settings.gateways) },
  })
  const system = await openSystem(stack, client, ONE_RECEIVER)
  const sides = await sidesOf(scenario, stack, options)

  const all = await takeTurns(options, scenario, system, sides)
  progress(`${scenario}: adding up`, undefined)
  const finalAccounts = await system.settle()
  const missing = await readBackSome(options, stack, all)
  await system.close()
  await stack.stop()

  const counted = all.filter(({ result }) => result.repeat > 0)
  const windows = counted.map(({ result }) => result)
  const faults = [
    ...all.flatMap(({ faults: found, result }) =>
      found.map((fault) => `${stepOf(result)}: ${fault}`),
    ),
    ...missing,
    ...finalAccounts.faults,
  ]
  const section: Section = {
    title: SCENARIOS[scenario],
    scenario,
    windows,
    findings: findingsOf(scenario, windows, settings),
    finalAccounts,
  }
  return {
    sections: [section],
    voidBecause: [
      ...(options.machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []),
      ...faults.map((fault) => `${scenario}: ${fault}`),
    ],
  }
}

async function sidesOf(
  scenario: ScenarioName,
  stack: Stack,
  { programs, settings }: BenchOptions,
): Promise<readonly Side[]> {
  const ceiling = await programs.startNullBackendGateway(stack, settings.gateways)
  const sides: Side[] = [
    { name: 'ceiling', stack, running: ceiling, awaitsWebhooks: false },
    { name: 'service', stack, running: stack, awaitsWebhooks: true },
  ]
  if (scenario !== 'creates') return sides
  const baseline = await programs.startBaseline()
  return [...sides, { name: 'baseline', stack: baseline, running: baseline, awaitsWebhooks: false }]
}

/** The first round is the warm-up. */
async function takeTurns(
  options: BenchOptions,
  scenario: ScenarioName,
  system: SystemUnderTest,
  sides: readonly Side[],
): Promise<Measurement[]> {
  const { settings, client, progress } = options
  const { cores } = options.machine
  const expected = new Map<string, number>()
  const all: Measurement[] = []
  for (let repeat = 0; repeat <= settings.repeat; repeat += 1) {
    for (const side of sides) {
      const step = stepOf({ side: side.name, repeat })
      progress(`${scenario}, ${step}: signing`, undefined)
      const rate = expected.get(side.name) ?? FIRST_RATE
      const measurement = await measure({
        side: side.name,
        repeat,
        order: orderOf(options, scenario, system, side, { repeat, rate }),
        client,
        watched: watchedBy(sides),
        cores,
        opsUrl: side.stack.sandbox.ops_url,
        receiver: side.awaitsWebhooks ? system.receiver : undefined,
        strict: true,
        tell: (intervalSample) => progress(`${scenario}, ${step}`, intervalSample),
      })
      if (side.name === 'service') system.took(measurement.outcome)
      const { ratePerSecond } = measurement.result
      expected.set(side.name, Math.max(rate, ratePerSecond))
      all.push(measurement)
    }
  }
  return all
}

/** The baseline's two processes under names of their own. */
function watchedBy(sides: readonly Side[]): { name: string; pid: number }[] {
  const all = sides.flatMap(({ name, running }) =>
    running.processes().map((one) => ({
      ...one,
      name: name === 'baseline' ? `baseline ${one.name}` : one.name,
    })),
  )
  return [...all, { name: 'client', pid: process.pid }]
}

function orderOf(
  { settings }: BenchOptions,
  scenario: ScenarioName,
  system: SystemUnderTest,
  { stack, running, awaitsWebhooks }: Side,
  { repeat, rate }: { readonly repeat: number; readonly rate: number },
): Order {
  const { withIdempotencyKey, leadInMs, inFlight, ratePerSecond } = settings
  const measureMs = repeat === 0 ? settings.warmUpMs : settings.measureMs
  const perSecond = ratePerSecond ?? rate * PRESIGNED_FACTOR
  const { host, key_id: keyId, signing_secret: secret } = stack.sandbox
  return {
    scenario: {
      ...system.orderOf(scenario, { withIdempotencyKey, awaitsWebhooks }),
      host,
      keyId,
      secret,
    },
    journeys: Math.ceil((perSecond * (leadInMs + measureMs)) / 1_000) + inFlight,
    lasts: true,
    window: {
      address: running.address,
      connections: inFlight,
      schedule: ratePerSecond === undefined ? undefined : [{ ms: Infinity, ratePerSecond }],
      leadInMs,
      measureMs,
    },
  }
}

const stepOf = ({ side, repeat }: Pick<WindowResult, 'side' | 'repeat'>): string =>
  repeat === 0 ? `${side}, warm-up` : `${side} ${repeat}`

/** In a closed loop; at a given rate all sides are as fast. */
function findingsOf(
  scenario: ScenarioName,
  windows: readonly WindowResult[],
  { ratePerSecond }: BenchSettings,
): Finding[] {
  if (ratePerSecond !== undefined) return []
  const rate = (side: Side['name']): number | undefined => {
    const ofSide = windows.filter((window) => window.side === side)
    return ofSide.length === 0 ? undefined : median(ofSide.map((window) => window.ratePerSecond))
  }
  const service = rate('service') ?? 0
  const ceiling = rate('ceiling')
  const baseline = rate('baseline')
  return [
    finding('rate', service, '/s', TARGETS[scenario]),
    ...(ceiling === undefined
      ? []
      : [finding('service / ceiling', service / ceiling, '', RATIO_TARGETS[scenario])]),
    ...(baseline === undefined ? [] : [finding('service / baseline', service / baseline, '×')]),
  ]
}

async function readBackSome(
  { clock, random }: BenchOptions,
  { sandbox }: Stack,
  all: readonly Measurement[],
): Promise<string[]> {
  const ofService = all.filter(({ result }) => result.side === 'service')
  const samples = ofService.flatMap(({ outcome }) => outcome.acknowledged.samples)
  return readBack(spread(samples, READ_BACK_MAX), { sandbox, clock, random })
}

/** At most so many of them, from all over. */
function spread<T>(items: readonly T[], atMost: number): T[] {
  const distance = Math.max(1, items.length / atMost)
  return items.filter(
    (_, index) => Math.floor(index / distance) > Math.floor((index - 1) / distance),
  )
}
