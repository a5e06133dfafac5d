/**
 * Loads at a given rate: `load` and `soak`, and what every such load has in common.
 *
 * Owns: one long window of one scenario on one stack, and its accounts. Does not own: the window
 * (measurement), the spike (spike).
 *
 * - Journeys are due by the schedule, whatever the service does, and timed from when they were
 *   due.
 * - Refusals and callers who gave up are results here, not faults. The run is void when counts do
 *   not add up or the audit is not clean.
 */
import type { Client } from './client/client.js'
import type { Machine } from './measurement/machine.js'
import {
  measure,
  type Measurement,
  type IntervalResult,
  type WindowResult,
} from './measurement/measurement.js'
import type { Stretch } from './client/arrival_schedule.js'
import type { Stack } from './system_under_test/programs.js'
import { finding, type Finding, type Section } from './report/result.js'
import { SCENARIOS, type ScenarioName } from './scenarios/scenarios.js'
import {
  ONE_RECEIVER,
  openSystem,
  type SystemUnderTest,
} from './system_under_test/system_under_test.js'
import { growthFindings } from './measurement/slopes.js'

export interface OpenLoadOptions {
  readonly scenario: ScenarioName
  readonly inFlight: number
  readonly leadInMs: number
  readonly machine: Machine
  readonly client: Client
  readonly progress: (step: string, intervalSample: IntervalResult | undefined) => void
}

export interface OpenLoadPart {
  readonly section: Section
  readonly voidBecause: readonly string[]
}

export interface Wave {
  readonly name: string
  readonly schedule: readonly Stretch[]
  readonly measureMs: number
  readonly everyMs?: number
  readonly patienceMs?: number
}

export async function steadyLoad(
  options: OpenLoadOptions,
  stack: Stack,
  { ratePerSecond, seconds }: { readonly ratePerSecond: number; readonly seconds: number },
): Promise<OpenLoadPart> {
  const schedule = [{ ms: Infinity, ratePerSecond }]
  return onSystem(options, stack, async (system) => {
    const wave: Wave = { name: 'load', schedule, measureMs: seconds * 1_000 }
    const { result } = await ride(options, system, wave)
    return { windows: [result], findings: loadFindings(result, ratePerSecond) }
  })
}

function loadFindings(result: WindowResult, ratePerSecond: number): Finding[] {
  const { begun, completed, overdue, givenUp } = result.journeys
  return [
    finding('rate', result.ratePerSecond, '/s', { atLeast: 0.98 * ratePerSecond }),
    finding('p50', result.latency.p50, 'ms'),
    finding('p99', result.latency.p99, 'ms'),
    finding('not completed', (begun - completed + overdue + givenUp) / begun, '', { atMost: 0 }),
  ]
}

const SOAK_EVERY_MS = 5_000
const SOAK_LOOKS_MIN = 30

/** A steady load for long: what grows? */
export async function soak(
  options: OpenLoadOptions,
  stack: Stack,
  { ratePerSecond, seconds }: { readonly ratePerSecond: number; readonly seconds: number },
): Promise<OpenLoadPart> {
  return onSystem(options, stack, async (system) => {
    const { result } = await ride(options, system, {
      name: 'soak',
      schedule: [{ ms: Infinity, ratePerSecond }],
      measureMs: seconds * 1_000,
      everyMs: Math.min(SOAK_EVERY_MS, (seconds * 1_000) / SOAK_LOOKS_MIN),
    })
    const growth = growthFindings(result.samples)
    return { windows: [result], findings: [...loadFindings(result, ratePerSecond), ...growth] }
  })
}

export interface Played {
  readonly windows: readonly WindowResult[]
  readonly findings: readonly Finding[]
}

export async function onSystem(
  options: OpenLoadOptions,
  stack: Stack,
  play: (system: SystemUnderTest) => Promise<Played>,
): Promise<OpenLoadPart> {
  const { scenario, client, progress } = options
  const system = await openSystem(stack, client, ONE_RECEIVER)
  const { windows, findings } = await play(system)
  progress('adding up', undefined)
  const finalAccounts = await system.settle()
  await system.close()
  const faults = windows.flatMap(({ journeys }) =>
    journeys.completed === 0 ? ['nothing was completed'] : [],
  )
  return {
    section: { title: SCENARIOS[scenario], scenario, windows, findings, finalAccounts },
    voidBecause: [...faults, ...finalAccounts.faults],
  }
}

/** An empty schedule is a closed loop. */
export async function ride(
  { scenario, inFlight, leadInMs, machine, client, progress }: OpenLoadOptions,
  system: SystemUnderTest,
  { name, schedule, measureMs, everyMs, patienceMs }: Wave,
): Promise<Measurement> {
  const measurement = await measure({
    side: name,
    repeat: 1,
    order: {
      scenario: system.orderOf(scenario, { withIdempotencyKey: true, awaitsWebhooks: true }),
      journeys: signedAhead(schedule, leadInMs + measureMs),
      lasts: true,
      window: {
        address: system.stack.address,
        connections: inFlight,
        schedule: schedule.length === 0 ? undefined : schedule,
        leadInMs,
        measureMs,
        ...(patienceMs === undefined ? {} : { patienceMs }),
      },
    },
    client,
    watched: [...system.stack.processes(), { name: 'client', pid: process.pid }],
    cores: machine.cores,
    opsUrl: system.stack.sandbox.ops_url,
    receiver: system.receiver,
    strict: false,
    ...(everyMs === undefined ? {} : { everyMs }),
    tell: (intervalSample) => progress(name, intervalSample),
  })
  system.took(measurement.outcome)
  return measurement
}

/** A signature is good for five minutes, and a record takes some 300 bytes. */
const AHEAD_MAX_MS = 60_000
const AHEAD_MAX = 400_000
const CLOSED_LOOP_AHEAD = 50_000

function signedAhead(schedule: readonly Stretch[], windowMs: number): number {
  if (schedule.length === 0) return CLOSED_LOOP_AHEAD
  let left = Math.min(windowMs, AHEAD_MAX_MS)
  let journeys = 0
  for (const { ms, ratePerSecond } of schedule) {
    const part = Math.min(ms, left)
    journeys += (part * ratePerSecond) / 1_000
    left -= part
  }
  return Math.ceil(Math.min(AHEAD_MAX, journeys))
}
