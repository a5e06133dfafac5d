/** One window of load: connect, lead-in, measurement, drain. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { closedLoop, openLoop, type Phase } from './arrival_schedule.js'
import type { Address } from './http_socket.js'
import { Load, type Sample, type Summary, type WebhookNotice } from './load.js'
import type { Scenario } from '../scenarios/scenario.js'

export interface Window {
  readonly address: Address
  /** Connections take turns between all. */
  readonly otherAddresses?: readonly Address[]
  /** Each has one request out at most. */
  readonly connections: number
  /** Open loop, from the lead-in on; undefined: closed loop. */
  readonly phases: readonly Phase[] | undefined
  readonly patienceMs?: number | undefined
  readonly leadInMs: number
  readonly measureMs: number
  readonly sampleMs: number
}

export interface Observer {
  /** The measured part begins and ends. */
  readonly opened: () => void
  readonly closed: () => void
  /** Each `sampleMs`, from the lead-in to the end of the measured part. */
  readonly sample: (sample: Sample) => void
}

/** Longer than the gateway's own timeout. */
const DRAIN_MS = 10_000
const NANOS_PER_MS = 1_000_000
/** The largest delay of an open loop in starting a due journey; it is part of the latency. */
const TICK_MS = 1

export async function runWindow(
  window: Window,
  scenario: Scenario,
  observer: Observer,
  listenForWebhooks?: (listener: (notice: WebhookNotice) => void) => void,
): Promise<Summary> {
  const load = new Load(window, scenario)
  await load.connect()
  const startedAt = performance.now()
  const { phases, patienceMs } = window
  const schedule = phases ? openLoop(startedAt, phases, patienceMs) : closedLoop()
  const ticks = phases ? setInterval(() => load.fill(), TICK_MS) : undefined
  const delays = monitorEventLoopDelay({ resolution: TICK_MS })
  delays.enable()
  const samples = every(window.sampleMs, () => {
    observer.sample(load.sample(startedAt, delays.percentile(99) / NANOS_PER_MS))
    delays.reset()
  })
  listenForWebhooks?.((notice) => load.webhooks(notice))
  load.start(schedule)

  await within(window.leadInMs, load.usedUp)
  load.measure()
  observer.opened()
  await within(window.measureMs, load.usedUp)
  load.finish()
  observer.closed()
  clearInterval(samples)
  delays.disable()
  await within(DRAIN_MS, load.drained)

  clearInterval(ticks)
  return load.close()
}

/** A late sample replaces the next one, as the rate of a millisecond has no meaning. */
function every(ms: number, sample: () => void): NodeJS.Timeout {
  let last = performance.now()
  return setInterval(() => {
    const now = performance.now()
    if (now - last < ms / 2) return
    last = now
    sample()
  }, ms)
}

/** Resolves at the event or after the timeout. */
function within(milliseconds: number, event: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    void event.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
