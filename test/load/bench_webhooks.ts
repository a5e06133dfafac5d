/**
 * The benchmark of webhooks: ten endpoints of one partner, each of which gets every event.
 *
 * Owns: the windows, and what their receivers tell. Does not own: the pool alone
 * (deliveries).
 *
 * - Payouts are created at a given rate; each has three events, so thirty deliveries. At twice
 *   what is aimed at, what arrives a second is what the whole stack can deliver.
 * - At half of what was reached, the age of what arrives is what a receiver would feel. In turns
 *   with it, beside one endpoint that never answers and one that takes two seconds: the same
 *   stack, so that neither has code that is warmer.
 */
import type { BenchOptions, BenchPart } from './bench.js'
import { median } from './measurement/machine.js'
import { measure, type Measurement } from './measurement/measurement.js'
import type { EndpointPlan, Manner } from './system_under_test/webhook_receivers.js'
import { finding, type Finding, type Section } from './report/result.js'
import { SCENARIOS } from './scenarios/scenarios.js'
import { openSystem, type SystemUnderTest } from './system_under_test/system_under_test.js'

const ENDPOINTS = 10
const DELIVERIES_A_PAYOUT = 3 * ENDPOINTS
const AIM_PER_SECOND = 3_000
const AGE_AT_HALF_LOAD_MS = 50
const OTHERS_WITHIN = 1.1

const all = (manner: Manner): EndpointPlan => ({ manner, events: [] })
const PLANS = [
  ...Array.from({ length: ENDPOINTS - 2 }, () => all('prompt')),
  all('slow'),
  all('dead'),
]

export async function benchWebhooks(options: BenchOptions): Promise<BenchPart> {
  const full = (2 * AIM_PER_SECOND) / DELIVERIES_A_PAYOUT
  const { played, finalAccounts } = await onSystem(options, PLANS, async (system) => {
    await play(options, system, 'warm-up', full / 2)
    const saturated = await play(options, system, 'saturated', full)
    const half = arrivedPerSecond(saturated) / 2 / DELIVERIES_A_PAYOUT
    await system.quiet()
    const turns: Turn[] = []
    for (let turn = 1; turn <= options.settings.repeat; turn += 1) {
      turns.push(await runRound(options, system, half, turn))
    }
    return { saturated, turns }
  })
  const { saturated, turns } = played
  const windows = [saturated, ...turns.flatMap(({ healthy, ill }) => [healthy, ill])]
  const section: Section = {
    title: SCENARIOS.webhooks,
    scenario: 'webhooks',
    windows: windows.map(({ result }) => result),
    findings: findingsOf(saturated, turns),
    finalAccounts,
  }
  const faults = [...windows.flatMap(({ faults: found }) => found), ...finalAccounts.faults]
  return { sections: [section], voidBecause: faults.map((fault) => `webhooks: ${fault}`) }
}

interface Turn {
  readonly healthy: Measurement
  readonly ill: Measurement
}

/** Afterwards what was held back from the ill ones has reached them. */
async function runRound(
  options: BenchOptions,
  system: SystemUnderTest,
  half: number,
  turn: number,
): Promise<Turn> {
  const healthy = await play(options, system, 'half load', half, turn)
  system.receiver.fallIll()
  const ill = await play(options, system, 'half load, one dead, one slow', half, turn)
  system.receiver.recover()
  await system.quiet()
  return { healthy, ill }
}

async function onSystem<T>(
  { programs, client, progress, settings }: BenchOptions,
  plans: readonly EndpointPlan[],
  run: (system: SystemUnderTest) => Promise<T>,
) {
  progress('webhooks: starting a stack', undefined)
  const stack = await programs.startStack({ settings: { GATEWAYS: String(settings.gateways) } })
  const system = await openSystem(stack, client, plans)
  const played = await run(system)
  progress('webhooks: adding up', undefined)
  const finalAccounts = await system.settle()
  await system.close()
  await stack.stop()
  return { played, finalAccounts }
}

async function play(
  { settings, client, machine, progress }: BenchOptions,
  system: SystemUnderTest,
  step: string,
  payoutsPerSecond: number,
  repeat = 1,
): Promise<Measurement> {
  const measureMs = step === 'warm-up' ? settings.warmUpMs : settings.measureMs
  const { withIdempotencyKey, leadInMs, inFlight } = settings
  const measurement = await measure({
    side: step,
    repeat,
    order: {
      scenario: system.orderOf('webhooks', { withIdempotencyKey, awaitsWebhooks: false }),
      journeys: Math.ceil((payoutsPerSecond * (leadInMs + measureMs)) / 1_000),
      lasts: true,
      window: {
        address: system.stack.address,
        connections: inFlight,
        schedule: [{ ms: Infinity, ratePerSecond: payoutsPerSecond }],
        leadInMs,
        measureMs,
      },
    },
    client,
    watched: [...system.stack.processes(), { name: 'client', pid: process.pid }],
    cores: machine.cores,
    opsUrl: system.stack.sandbox.ops_url,
    receiver: system.receiver,
    strict: true,
    tell: (intervalSample) => progress(`webhooks, ${step}`, intervalSample),
  })
  system.took(measurement.outcome)
  return measurement
}

const arrivedPerSecond = ({ result }: Measurement): number =>
  (result.arrivals?.count ?? 0) / result.seconds

const ageP95 = ({ result }: Measurement): number => result.arrivals?.age.p95 ?? 0

function findingsOf(saturated: Measurement, turns: readonly Turn[]): readonly Finding[] {
  const over = (figure: (turn: Turn) => number): number => median(turns.map(figure))
  return [
    finding('deliveries', arrivedPerSecond(saturated), '/s', { atLeast: AIM_PER_SECOND }),
    finding(
      'age at half load, p95',
      over(({ healthy }) => ageP95(healthy)),
      'ms',
      {
        atMost: AGE_AT_HALF_LOAD_MS,
      },
    ),
    finding(
      'age beside ill endpoints, p95',
      over(({ ill }) => ageP95(ill)),
      'ms',
    ),
    finding(
      'ill / healthy, p95',
      over(({ healthy, ill }) => ageP95(ill) / ageP95(healthy)),
      '',
      {
        atMost: OTHERS_WITHIN,
      },
    ),
  ]
}
