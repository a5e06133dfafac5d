/**
 * A load far above the capacity for a while: is it refused at once, and is all well afterwards?
 *
 * Owns: the three stretches and what is looked for in them. Does not own: the load (open_load).
 */
import { median } from './measures/machine.js'
import type { PulseResult, WindowResult } from './measures/measurement.js'
import { onSite, ride, type OpenLoadOptions, type OpenLoadPart } from './open_load.js'
import type { Stack } from './site/programs.js'
import { finding, type Finding } from './report/result.js'
import type { Site } from './site/site.js'

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
  return onSite(options, stack, async (site) => {
    const found = await capacityOf(options, site, plan)
    const capacity = plan.capacityPerSecond ?? found
    const calm = capacity * CALM_SHARE
    const { calmMs, spikeMs, afterMs } = plan
    const { result } = await ride(options, site, {
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

async function capacityOf(options: OpenLoadOptions, site: Site, plan: Spike): Promise<number> {
  const inFlight = Math.min(CAPACITY_IN_FLIGHT, options.inFlight)
  const { result } = await ride({ ...options, inFlight }, site, {
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
  { pulses, stretches: [allBefore, allDuring] }: WindowResult,
  { from, to }: { readonly from: number; readonly to: number },
  capacity: number,
): Finding[] {
  const within = (start: number, end: number): readonly PulseResult[] =>
    pulses.filter(({ at }) => at > start && at <= end)
  const sum = (some: readonly PulseResult[], of: (pulse: PulseResult) => number): number =>
    some.reduce((total, pulse) => total + of(pulse), 0)
  const before = within(0, from)
  const during = within(from, to)
  const accepted = sum(during, ({ perSecond }) => perSecond)
  const refused = sum(during, ({ failedPerSecond }) => failedPerSecond)
  const givenUp = sum(during, ({ givenUpPerSecond }) => givenUpPerSecond)
  const due = Math.max(1, accepted + refused + givenUp)
  const fromDue = ({ p99 }: PulseResult): number => p99
  const fromSent = ({ p99FromSent }: PulseResult): number => p99FromSent
  const ownDelay = (pulse: PulseResult): number => pulse.ownDelay
  const worst = (of: (pulse: PulseResult) => number): number => Math.max(0, ...during.map(of))
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
    finding('of it the client itself, median', typical(during, ownDelay), 'ms'),
    finding('recovered after', recovered === undefined ? Infinity : recovered.at - to, 'ms', {
      atMost: RECOVERED_WITHIN_MS,
    }),
  ]
}

/** The median of the pulses in which anything was completed. */
function typical(pulses: readonly PulseResult[], of: (pulse: PulseResult) => number): number {
  const values = pulses.map(of).filter((value) => value > 0)
  return values.length === 0 ? 0 : median(values)
}
