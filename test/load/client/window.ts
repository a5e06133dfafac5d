/**
 * One window of load: connects, leads in, measures, drains.
 *
 * Owns: its stretches of time and the samples. Does not own: schedules (arrival_schedule), the
 * journeys and what is counted (load).
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Load, type WebhookReport, type IntervalSample, type Target, type Summary } from './load.js'
import { closedLoop, openLoop, type ArrivalSchedule, type Stretch } from './arrival_schedule.js'
import type { Scenario } from '../scenarios/scenario.js'

export interface Window extends Target {
  /** Open loop, beginning with the lead-in; undefined: closed loop. */
  readonly schedule: readonly Stretch[] | undefined
  /** Of the distance between two journeys: how much later the first one is due. */
  readonly shift?: number
  /** Callers give up who got no connection in this time. */
  readonly patienceMs?: number
  readonly leadInMs: number
  readonly measureMs: number
  readonly intervalMs?: number
}

export interface Watch {
  /** All connections are open. */
  readonly begun: () => void
  /** The measured part begins and ends. */
  readonly opened: () => void
  readonly closed: () => void
  /** Each `intervalMs`, from the start of the lead-in to the end of the measured part. */
  readonly intervalSample: (intervalSample: IntervalSample) => void
  /** Brings reports to the load, as long as it runs. */
  readonly webhookReports?: (listen: (webhookReports: WebhookReport) => void) => void
}

/** Longer than the gateway takes to answer that it cannot answer. */
const DRAIN_MS = 10_000
const INTERVAL_MS = 1_000
const NANOS_PER_MS = 1_000_000
/** How late an open loop may notice that a journey is due; it is part of the latency. */
const TICK_MS = 1

export async function runWindow(
  window: Window,
  scenario: Scenario,
  watch: Watch,
  drainMs = DRAIN_MS,
): Promise<Summary> {
  const load = new Load(window, scenario)
  await load.connect()
  const startedAt = performance.now()
  const arrivalSchedule = scheduleOf(window, startedAt)
  const ticks = arrivalSchedule.needsTicks
    ? setInterval(() => load.fill(performance.now()), TICK_MS)
    : undefined
  const delays = monitorEventLoopDelay({ resolution: TICK_MS })
  delays.enable()
  const intervalSamples = startPulses(window.intervalMs ?? INTERVAL_MS, () => {
    watch.intervalSample(load.intervalSample(startedAt, delays.percentile(99) / NANOS_PER_MS))
    delays.reset()
  })
  watch.begun()
  watch.webhookReports?.((webhookReports) => load.hear(webhookReports))
  load.start(arrivalSchedule)

  await within(window.leadInMs, load.usedUp)
  load.measure()
  watch.opened()
  await within(window.measureMs, load.usedUp)
  load.finish()
  watch.closed()
  clearInterval(intervalSamples)
  delays.disable()
  await within(drainMs, load.drained)

  clearInterval(ticks)
  return load.close()
}

/** A late sample takes the place of the next one: the rate of a millisecond says nothing. */
function startPulses(everyMs: number, intervalSample: () => void): NodeJS.Timeout {
  let last = performance.now()
  return setInterval(() => {
    const now = performance.now()
    if (now - last < everyMs / 2) return
    last = now
    intervalSample()
  }, everyMs)
}

function scheduleOf(
  { schedule, shift = 0, patienceMs }: Window,
  startedAt: number,
): ArrivalSchedule {
  const [first] = schedule ?? []
  if (schedule === undefined || first === undefined) return closedLoop()
  return openLoop(startedAt + (shift * 1_000) / first.ratePerSecond, schedule, patienceMs)
}

/** Resolves at the event, or after the time without it. */
function within(milliseconds: number, event: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    void event.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
