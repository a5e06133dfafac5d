/**
 * The benchmark of webhooks: ten endpoints of one partner, each of which gets every event.
 *
 * Owns: the windows, and what their receivers tell. Does not own: the pool alone
 * (deliveries).
 *
 * H1. Payouts are created at a given rate; each has three events, so thirty deliveries. At twice
 *     what is aimed at, what arrives a second is what the whole stack can deliver.
 * H2. At half of what was reached, the age of what arrives is what a receiver would feel. In turns
 *     with it, beside one endpoint that never answers and one that takes two seconds: the same
 *     stack, so that neither has code that is warmer.
 */
import type { BenchOptions, BenchPart } from './bench.js'
import { median } from './measures/machine.js'
import { measure, type Measurement } from './measures/measurement.js'
import type { EndpointPlan, Manner } from './site/receiver.js'
import { finding, type Finding, type Section } from './report/result.js'
import { SCENARIOS } from './scenarios/scenarios.js'
import { openSite, type Site } from './site/site.js'

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
  const { played, reckoning } = await onSite(options, PLANS, async (site) => {
    await play(options, site, 'warm-up', full / 2)
    const saturated = await play(options, site, 'saturated', full)
    const half = arrivedPerSecond(saturated) / 2 / DELIVERIES_A_PAYOUT
    await site.quiet()
    const turns: Turn[] = []
    for (let turn = 1; turn <= options.settings.repeat; turn += 1) {
      turns.push(await playTurn(options, site, half, turn))
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
    reckoning,
  }
  const faults = [...windows.flatMap(({ faults: found }) => found), ...reckoning.faults]
  return { sections: [section], voidBecause: faults.map((fault) => `webhooks: ${fault}`) }
}

interface Turn {
  readonly healthy: Measurement
  readonly ill: Measurement
}

/** Afterwards what was held back from the ill ones has reached them. */
async function playTurn(
  options: BenchOptions,
  site: Site,
  half: number,
  turn: number,
): Promise<Turn> {
  const healthy = await play(options, site, 'half load', half, turn)
  site.receiver.fallIll()
  const ill = await play(options, site, 'half load, one dead, one slow', half, turn)
  site.receiver.recover()
  await site.quiet()
  return { healthy, ill }
}

async function onSite<T>(
  { programs, client, progress, settings }: BenchOptions,
  plans: readonly EndpointPlan[],
  play_: (site: Site) => Promise<T>,
) {
  progress('webhooks: starting a stack', undefined)
  const stack = await programs.startStack({ settings: { GATEWAYS: String(settings.gateways) } })
  const site = await openSite(stack, client, plans)
  const played = await play_(site)
  progress('webhooks: adding up', undefined)
  const reckoning = await site.settle()
  await site.close()
  await stack.stop()
  return { played, reckoning }
}

async function play(
  { settings, client, machine, progress }: BenchOptions,
  site: Site,
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
      scenario: site.orderOf('webhooks', { withIdempotencyKey, awaitsWebhooks: false }),
      journeys: Math.ceil((payoutsPerSecond * (leadInMs + measureMs)) / 1_000),
      lasts: true,
      window: {
        address: site.stack.address,
        lanes: inFlight,
        schedule: [{ ms: Infinity, ratePerSecond: payoutsPerSecond }],
        leadInMs,
        measureMs,
      },
    },
    client,
    watched: [...site.stack.processes(), { name: 'client', pid: process.pid }],
    cores: machine.cores,
    opsUrl: site.stack.sandbox.ops_url,
    receiver: site.receiver,
    strict: true,
    tell: (pulse) => progress(`webhooks, ${step}`, pulse),
  })
  site.took(measurement.outcome)
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
