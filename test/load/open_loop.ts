/**
 * Loads at a given rate: steady, long-running, and far above the capacity.
 *
 * - Rejections and journeys that got no connection are results here, not faults. A run is void when
 *   the accounts do not add up or the audit is not clean.
 */
import { finish, startSystem } from './bench.js'
import {
  deadRowFindings,
  growthFindings,
  heapFindings,
  sampleTables,
  startHeaps,
} from './long_load.js'
import { median } from './machine.js'
import {
  measureWindow,
  type Measured,
  type SampleResult,
  type Tools,
  type WindowResult,
} from './measured_window.js'
import { finding, loadOfShards, type Finding, type Part } from './result.js'
import { SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'
import type { Stack } from './stacks.js'
import { openSystem } from './system_under_test.js'

type Numbers = 'ratePerSecond' | 'seconds' | 'connections' | 'leadInMs'
type OpenLoopSettings = Readonly<Record<Numbers, number>> & { readonly scenario: ScenarioName }

/** @param running a running stack, which keeps the created data */
export async function steadyLoad(
  tools: Tools,
  settings: OpenLoopSettings,
  running?: Stack,
): Promise<Part> {
  const system = running ? await openSystem(running) : await startSystem(tools)
  const measured = await measureWindow(tools, system, steadyWindow(settings, 'load'))
  const findings = steadyFindings(measured.result, settings)
  return finish(tools, system, [measured], { title: SCENARIOS[settings.scenario], findings })
}

const steadyWindow = ({ ratePerSecond, seconds, ...settings }: OpenLoopSettings, side: string) => ({
  ...{ ...settings, side, phases: [{ ms: Infinity, ratePerSecond }] },
  measureMs: 1_000 * seconds,
})

function steadyFindings(result: WindowResult, { ratePerSecond }: OpenLoopSettings): Finding[] {
  const { latency, journeys } = result
  const { begun, completed, overdue, abandoned } = journeys
  const missing = (begun - completed + overdue + abandoned) / Math.max(1, begun)
  return [
    finding('rate', result.ratePerSecond, '/s', { atLeast: 0.98 * ratePerSecond }),
    finding('p50', latency.p50, 'ms'),
    finding('p99', latency.p99, 'ms'),
    finding('not completed', missing, '', { atMost: 0 }),
    ...loadOfShards([result]),
  ]
}

const FILLING = {
  ...{ side: 'filling', repeat: 0, leadInMs: 0, strict: true },
  /** As long as a signature is valid. */
  measureMs: 300_000,
}
/** Signed at once. */
const FILLING_STEP = 5_000
const COLLECTED_EVERY_MS = 60_000

/**
 * A steady load for long, and what grows in it.
 *
 * - The processor's caches of rows are at their bound before it: at the rate of a soak some would
 *   take an hour.
 *
 * @param settings `filling`: payouts, and as many QR payments, before it
 */
export async function soak(
  tools: Tools,
  settings: OpenLoopSettings & { readonly filling: number },
): Promise<Part> {
  const { filling, ...steady } = settings
  const sampleMs = Math.min(5_000, (1_000 * steady.seconds) / 30)
  const heaps = startHeaps(tools.folder, Math.min(COLLECTED_EVERY_MS, 250 * steady.seconds))
  const system = await startSystem(tools, { settings: heaps.settings })
  const measured: Measured[] = []
  for (const scenario of ['payouts', 'lifecycle'] as const) {
    for (let left = filling; left > 0; left -= FILLING_STEP) {
      const window = { ...FILLING, scenario, journeys: Math.min(left, FILLING_STEP) }
      const { connections } = steady
      measured.push(await measureWindow(tools, system, { ...window, connections }))
    }
  }
  await system.quiet()
  const tables = tools.store === 'postgres' ? sampleTables(system.stack, sampleMs) : undefined
  const watched = system.stack.processes()
  const from = Date.now()
  const window = { ...steadyWindow(steady, 'soak'), sampleMs }
  const { result, faults } = await measureWindow(tools, system, window)
  const findings = [
    ...steadyFindings(result, steady),
    ...growthFindings(result.resources),
    ...heapFindings(heaps.read(watched, from)),
    ...(tables === undefined ? [] : deadRowFindings(await tables())),
  ]
  measured.push({ result, faults })
  return finish(tools, system, measured, { title: SCENARIOS[steady.scenario], findings })
}

export const SPIKE_FACTOR = 10
/** A caller without a connection gives up after this time. */
const PATIENCE_MS = 1_000
/** Rate limits that no load reaches, so only the limits on requests in progress apply. */
const HIGH = '1000000'
const LIMITS = { RATE_LIMIT: 'on', RATE_LIMIT_PER_SECOND: HIGH, RATE_LIMIT_PER_ADDRESS: HIGH }

/** A load far above the capacity: how fast it is rejected, and how fast the service recovers. */
export async function spike(
  tools: Tools,
  settings: OpenLoopSettings & Readonly<Record<'calmMs' | 'afterMs', number>>,
): Promise<Part> {
  const system = await startSystem(tools, { settings: LIMITS })
  const { calmMs, afterMs } = settings
  const spikeMs = 1_000 * settings.seconds
  const closed = await measureWindow(tools, system, {
    ...settings,
    side: 'capacity',
    connections: Math.min(512, settings.connections),
    measureMs: Math.min(5_000, calmMs),
  })
  const capacity = closed.result.ratePerSecond
  const from = settings.leadInMs + calmMs
  const measured = await measureWindow(tools, system, {
    ...settings,
    side: 'spike',
    phases: [
      { ms: from, ratePerSecond: capacity / 2 },
      { ms: spikeMs, ratePerSecond: capacity * SPIKE_FACTOR },
      { ms: Infinity, ratePerSecond: capacity / 2 },
    ],
    measureMs: calmMs + spikeMs + afterMs,
    sampleMs: 250,
    patienceMs: PATIENCE_MS,
  })
  const findings = spikeFindings(measured.result, { from, to: from + spikeMs }, capacity)
  return finish(tools, system, [measured], { title: SCENARIOS[settings.scenario], findings })
}

/** Up to this factor of the earlier latency the service counts as recovered. */
const FACTOR_MAX = 2

/**
 * The target applies twice: to the median quarter of a second, and to the p99 of all accepted
 * requests of the spike, which in a short spike are mostly its first ones.
 */
export function spikeFindings(
  { samples, phases: [allBefore, allDuring], rejections }: WindowResult,
  { from, to }: { readonly from: number; readonly to: number },
  capacity: number,
): Finding[] {
  const within = (start: number, end: number): readonly SampleResult[] =>
    samples.filter(({ at }) => at > start && at <= end)
  const [before, during] = [within(0, from), within(from, to)]
  /** The mean over the seconds of the spike. */
  const mean = (of: (sample: SampleResult) => number): number =>
    during.reduce((sum, sample) => sum + of(sample), 0) / Math.max(1, during.length)
  const accepted = mean(({ perSecond }) => perSecond)
  const rejected = mean(({ failedPerSecond }) => failedPerSecond)
  const abandoned = mean(({ abandonedPerSecond }) => abandonedPerSecond)
  const demand = accepted + rejected + abandoned
  const fromSent = ({ p99FromSent }: SampleResult): number => p99FromSent
  const calm = typical(before, ({ p99 }) => p99)
  const [calmFromSent, spikeFromSent] = [typical(before, fromSent), typical(during, fromSent)]
  const [calmOfAll, spikeOfAll] = [allBefore?.p99 ?? 0, allDuring?.p99 ?? 0]
  const recovered = within(to, Infinity).find(
    ({ failedPerSecond, abandonedPerSecond, p99 }) =>
      failedPerSecond + abandonedPerSecond === 0 && p99 <= FACTOR_MAX * calm,
  )
  const twice = { atMost: FACTOR_MAX }
  return [
    finding('capacity', capacity, '/s'),
    finding('demand in the spike', demand, '/s'),
    finding('accepted in the spike', accepted, '/s'),
    finding('share rejected', rejected / demand, ''),
    finding('share that got no connection in 1 s', abandoned / demand, ''),
    finding('p99 of rejections, from sent', rejections.p99, 'ms'),
    finding('p99 before, from due', calm, 'ms'),
    finding('p99 before, from sent', calmFromSent, 'ms'),
    finding('p99 in the spike, from sent, worst', Math.max(0, ...during.map(fromSent)), 'ms'),
    finding('p99 in the spike, from sent, median', spikeFromSent, 'ms'),
    finding('spike / before', spikeFromSent / calmFromSent, '×', twice),
    finding('p99 of all before, from sent', calmOfAll, 'ms'),
    finding('p99 of all in the spike, from sent', spikeOfAll, 'ms'),
    finding('spike / before, of all', spikeOfAll / calmOfAll, '×', twice),
    finding(
      "the client's own delay, median",
      typical(during, (one) => one.clientDelayMs),
      'ms',
    ),
    finding('recovered after', (recovered?.at ?? Infinity) - to, 'ms', { atMost: 5_000 }),
  ]
}

/** The median of the samples in which anything was completed. */
const typical = (samples: readonly SampleResult[], of: (sample: SampleResult) => number): number =>
  median(samples.map(of).filter((value) => value > 0))
