/** The thread of the load client: presigns, runs the window, reports the outcome. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../../src/base/clock.js'
import { systemRandom } from '../../../src/base/random.js'
import type { Scenario } from '../scenarios/scenario.js'
import { createWorkloadMix } from '../scenarios/workload_mix.js'
import { createScenario } from '../scenarios/scenarios.js'
import type { Order, Outcome, ThreadEvent, ThreadOrder } from './client.js'
import type { WebhookNotice } from './load.js'
import { runWindow } from './window.js'

const tell = (event: ThreadEvent): void => parentPort?.postMessage(event)
const random = systemRandom()
let listener: (notice: WebhookNotice) => void = () => undefined

async function run({ scenarios, journeys, continues, window }: Order): Promise<Outcome> {
  const { connections } = window
  const ofPartners = scenarios.map((order) =>
    createScenario({ ...order, connections, clock: systemClock, random }),
  )
  const scenario = alternating(ofPartners)
  scenario.prepare(journeys, continues)
  const observer = {
    opened: () => tell({ kind: 'opened' }),
    closed: () => tell({ kind: 'closed' }),
    sample: (sample) => tell({ kind: 'sample', sample }),
  } satisfies Parameters<typeof runWindow>[2]
  const summary = await runWindow(window, scenario, observer, (wanted) => (listener = wanted))
  return { summary, accepted: scenario.accepted() }
}

const alternating = (scenarios: readonly Scenario[]): Scenario =>
  scenarios.length === 1
    ? scenarios[0]!
    : createWorkloadMix(scenarios.map((scenario) => ({ weight: 1, scenario })))

/** A failure ends the thread and is reported to its client. */
parentPort?.on('message', (message: ThreadOrder) => {
  if (message.kind === 'run') {
    void run(message.order).then((outcome) => tell({ kind: 'finished', outcome }))
  } else message.port.on('message', (notice: WebhookNotice) => listener(notice))
})
