/**
 * One window of load: connects, leads in, measures, drains.
 *
 * Owns: its stretches of time and the pulses. Does not own: schedules (pace), the journeys and what
 * is counted (load).
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Load, type News, type Pulse, type Target, type Tally } from './load.js'
import { closedLoop, openLoop, type Pace, type Stretch } from './pace.js'
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
  readonly pulseMs?: number
}

export interface Watch {
  /** All connections are open. */
  readonly begun: () => void
  /** The measured part begins and ends. */
  readonly opened: () => void
  readonly closed: () => void
  /** Each `pulseMs`, from the start of the lead-in to the end of the measured part. */
  readonly pulse: (pulse: Pulse) => void
  /** Brings news to the load, as long as it runs. */
  readonly news?: (listen: (news: News) => void) => void
}

/** Longer than the gateway takes to answer that it can not answer. */
const DRAIN_MS = 10_000
const PULSE_MS = 1_000
const NANOS_PER_MS = 1_000_000
/** How late an open loop may notice that a journey is due; it is part of the latency. */
const TICK_MS = 1

export async function runWindow(
  window: Window,
  scenario: Scenario,
  watch: Watch,
  drainMs = DRAIN_MS,
): Promise<Tally> {
  const load = new Load(window, scenario)
  await load.connect()
  const startedAt = performance.now()
  const pace = paceOf(window, startedAt)
  const ticks = pace.needsTicks
    ? setInterval(() => load.fill(performance.now()), TICK_MS)
    : undefined
  const delays = monitorEventLoopDelay({ resolution: TICK_MS })
  delays.enable()
  const pulses = startPulses(window.pulseMs ?? PULSE_MS, () => {
    watch.pulse(load.pulse(startedAt, delays.percentile(99) / NANOS_PER_MS))
    delays.reset()
  })
  watch.begun()
  watch.news?.((news) => load.hear(news))
  load.start(pace)

  await within(window.leadInMs, load.usedUp)
  load.measure()
  watch.opened()
  await within(window.measureMs, load.usedUp)
  load.finish()
  watch.closed()
  clearInterval(pulses)
  delays.disable()
  await within(drainMs, load.drained)

  clearInterval(ticks)
  return load.close()
}

/** A late pulse takes the place of the next one: the rate of a millisecond says nothing. */
function startPulses(everyMs: number, pulse: () => void): NodeJS.Timeout {
  let last = performance.now()
  return setInterval(() => {
    const now = performance.now()
    if (now - last < everyMs / 2) return
    last = now
    pulse()
  }, everyMs)
}

function paceOf({ schedule, shift = 0, patienceMs }: Window, startedAt: number): Pace {
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
