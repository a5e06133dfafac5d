/**
 * A load far above the capacity for a while: is it refused at once, and is all well afterwards?
 *
 * Owns: the three stretches and what is looked for in them. Does not own: the load (open_load).
 */
import { median } from './measurement/machine.js'
import type { IntervalResult, WindowResult } from './measurement/measurement.js'
import { onSystem, ride, type OpenLoadOptions, type OpenLoadPart } from './open_load.js'
import type { Stack } from './system_under_test/programs.js'
import { finding, type Finding } from './report/result.js'
import type { SystemUnderTest } from './system_under_test/system_under_test.js'

export interface Spike {
  /** Undefined: what a closed loop reaches just before, which is also the warm-up. */
  readonly capacityPerSecond: number | undefined
  readonly factor: number
  readonly calmMs: number
  readonly spikeMs: number
  readonly afterMs: number
}

const CALM_SHARE = 0.5
const SPIKE_EVERY_MS = 250
/** A caller who gets no connection for so long tries elsewhere. */
const PATIENCE_MS = 1_000
const CAPACITY_MS = 5_000
/** More only make it wait. */
const CAPACITY_IN_FLIGHT = 512

export async function spike(
  options: OpenLoadOptions,
  stack: Stack,
  plan: Spike,
): Promise<OpenLoadPart> {
  return onSystem(options, stack, async (system) => {
    const found = await capacityOf(options, system, plan)
    const capacity = plan.capacityPerSecond ?? found
    const calm = capacity * CALM_SHARE
    const { calmMs, spikeMs, afterMs } = plan
    const { result } = await ride(options, system, {
      name: 'spike',
      schedule: [
        { ms: options.leadInMs + calmMs, ratePerSecond: calm },
        { ms: spikeMs, ratePerSecond: capacity * plan.factor },
        { ms: Infinity, ratePerSecond: calm },
      ],
      measureMs: calmMs + spikeMs + afterMs,
      everyMs: SPIKE_EVERY_MS,
      patienceMs: PATIENCE_MS,
    })
    const from = options.leadInMs + calmMs
    const findings = spikeFindings(result, { from, to: from + spikeMs }, capacity)
    return { windows: [result], findings: [...findings, ...refusalFindings(result)] }
  })
}

async function capacityOf(
  options: OpenLoadOptions,
  system: SystemUnderTest,
  plan: Spike,
): Promise<number> {
  const inFlight = Math.min(CAPACITY_IN_FLIGHT, options.inFlight)
  const { result } = await ride({ ...options, inFlight }, system, {
    name: 'capacity',
    schedule: [],
    measureMs: Math.min(CAPACITY_MS, plan.calmMs),
  })
  return result.ratePerSecond
}

const refusalFindings = ({ refusals, refusalsFromDue }: WindowResult): Finding[] => [
  finding('p99 of the refused, from due', refusalsFromDue.p99, 'ms'),
  finding('p99 of the refused, from sent', refusals.p99, 'ms'),
]

/** Twice as slow as before is no longer as before. */
const BEARABLE_FACTOR = 2
const RECOVERED_WITHIN_MS = 5_000

export function spikeFindings(
  { intervalSamples, stretches: [allBefore, allDuring] }: WindowResult,
  { from, to }: { readonly from: number; readonly to: number },
  capacity: number,
): Finding[] {
  const within = (start: number, end: number): readonly IntervalResult[] =>
    intervalSamples.filter(({ at }) => at > start && at <= end)
  const sum = (
    some: readonly IntervalResult[],
    of: (intervalSample: IntervalResult) => number,
  ): number => some.reduce((total, intervalSample) => total + of(intervalSample), 0)
  const before = within(0, from)
  const during = within(from, to)
  const accepted = sum(during, ({ perSecond }) => perSecond)
  const refused = sum(during, ({ failedPerSecond }) => failedPerSecond)
  const givenUp = sum(during, ({ givenUpPerSecond }) => givenUpPerSecond)
  const due = Math.max(1, accepted + refused + givenUp)
  const fromDue = ({ p99 }: IntervalResult): number => p99
  const fromSent = ({ p99FromSent }: IntervalResult): number => p99FromSent
  const clientDelay = (intervalSample: IntervalResult): number => intervalSample.clientDelay
  const worst = (of: (intervalSample: IntervalResult) => number): number =>
    Math.max(0, ...during.map(of))
  const calm = typical(before, fromDue)
  const calmFromSent = typical(before, fromSent)
  const floodFromSent = typical(during, fromSent)
  const allCalm = allBefore?.p99 ?? 0
  const allFlood = allDuring?.p99 ?? 0
  const recovered = within(to, Infinity).find(
    ({ failedPerSecond, givenUpPerSecond, p99 }) =>
      failedPerSecond + givenUpPerSecond === 0 && p99 <= BEARABLE_FACTOR * calm,
  )
  return [
    finding('capacity', capacity, '/s'),
    finding('asked for in the spike', due / Math.max(1, during.length), '/s'),
    finding('accepted in the spike', accepted / Math.max(1, during.length), '/s'),
    finding('refused at once', refused / due, ''),
    finding('gave up waiting for a connection', givenUp / due, ''),
    finding('p99 before, from due', calm, 'ms'),
    finding('p99 before, from sent', calmFromSent, 'ms'),
    finding('p99 of the accepted, from due, at worst', worst(fromDue), 'ms'),
    finding('p99 of the accepted, from sent, at worst', worst(fromSent), 'ms'),
    finding('p99 of the accepted, from sent, median', floodFromSent, 'ms'),
    finding('in times of that before', floodFromSent / calmFromSent, '×', {
      atMost: BEARABLE_FACTOR,
    }),
    finding('p99 of all before, from sent', allCalm, 'ms'),
    finding('p99 of all accepted, from sent', allFlood, 'ms'),
    finding('in times of all before', allFlood / allCalm, '×', { atMost: BEARABLE_FACTOR }),
    finding('of it the client itself, median', typical(during, clientDelay), 'ms'),
    finding('recovered after', recovered === undefined ? Infinity : recovered.at - to, 'ms', {
      atMost: RECOVERED_WITHIN_MS,
    }),
  ]
}

/** The median of the samples in which anything was completed. */
function typical(
  intervalSamples: readonly IntervalResult[],
  of: (intervalSample: IntervalResult) => number,
): number {
  const values = intervalSamples.map(of).filter((value) => value > 0)
  return values.length === 0 ? 0 : median(values)
}
