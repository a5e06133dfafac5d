/** The thread of the load client: presigns, runs the window, reports the outcome. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { BroadcastChannel, parentPort } from 'node:worker_threads'
import { nothingAccepted, type Scenario } from '../scenarios/scenario.js'
import { createScenario, createWorkloadMix } from '../scenarios/scenarios.js'
import type { Observer, Order, ThreadEvent, Window } from './client.js'
import { createLoad, type Summary, type WebhookNotice } from './load.js'

/** Longer than the gateway's own timeout. */
const DRAIN_MS = 10_000
const NANOS_PER_MS = 1_000_000
/** The largest delay of an open loop in starting a due journey; it is part of the latency. */
const TICK_MS = 1

const tell = (event: ThreadEvent): void => parentPort?.postMessage(event)

/** A failure ends the thread and is reported to its client. */
parentPort?.on('message', (order: Order) => void run(order))

async function run({ scenarios, journeys, continues, ...window }: Order): Promise<void> {
  const accepted = nothingAccepted()
  const scenario = createWorkloadMix(
    scenarios.map((order) => ({ weight: 1, scenario: createScenario(order, accepted) })),
  )
  scenario.prepare(journeys, continues)
  const summary = await runWindow(window, scenario, {
    edge: () => tell('edge'),
    sample: (sample) => tell({ sample }),
  })
  tell({ outcome: { summary, accepted } })
}

/** Connects, leads in, measures, drains. */
export async function runWindow(
  window: Window,
  scenario: Scenario,
  { edge, sample }: Observer,
): Promise<Summary> {
  const { phases, leadInMs, measureMs, sampleMs } = window
  const load = createLoad(window, scenario)
  await load.connect()
  const notices = new BroadcastChannel(window.notices)
  notices.onmessage = ({ data }) => load.webhooks(data as WebhookNotice)
  const delays = monitorEventLoopDelay({ resolution: TICK_MS })
  delays.enable()
  let sampledAt = performance.now()
  const samples = setInterval(() => {
    // A late sample replaces the next one, as the rate of a millisecond has no meaning.
    if (performance.now() - sampledAt < sampleMs / 2) return
    sampledAt = performance.now()
    sample(load.sample(delays.percentile(99) / NANOS_PER_MS))
    delays.reset()
  }, sampleMs)
  const ticks = phases && setInterval(load.fill, TICK_MS)
  load.start()

  await within(leadInMs, load.usedUp)
  load.measure()
  edge()
  await within(measureMs, load.usedUp)
  load.finish()
  edge()
  clearInterval(samples)
  delays.disable()
  await within(DRAIN_MS, load.drained)

  clearInterval(ticks)
  notices.close()
  return load.close()
}

/** Resolves at the signal or after the timeout. */
const within = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined)
