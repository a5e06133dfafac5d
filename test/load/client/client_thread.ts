/** The thread of the load client: presigns, runs the window, reports the outcome. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../../src/base/clock.js'
import { systemRandom } from '../../../src/base/random.js'
import { createScenario } from '../scenarios/scenarios.js'
import type { Order, Outcome, ThreadEvent, ThreadOrder } from './client.js'
import type { WebhookNotice } from './load.js'
import { runWindow } from './window.js'

const tell = (event: ThreadEvent): void => parentPort?.postMessage(event)
const random = systemRandom()
let listener: (notice: WebhookNotice) => void = () => undefined

async function run({ scenario: order, journeys, continues, window }: Order): Promise<Outcome> {
  const { connections } = window
  const scenario = createScenario({ ...order, connections, clock: systemClock, random })
  scenario.prepare(journeys, continues)
  const observer = {
    opened: () => tell({ kind: 'opened' }),
    closed: () => tell({ kind: 'closed' }),
    sample: (sample) => tell({ kind: 'sample', sample }),
  } satisfies Parameters<typeof runWindow>[2]
  const summary = await runWindow(window, scenario, observer, (wanted) => (listener = wanted))
  return { summary, accepted: scenario.accepted() }
}

/** A failure ends the thread and is reported to its client. */
parentPort?.on('message', (message: ThreadOrder) => {
  if (message.kind === 'run') {
    void run(message.order).then((outcome) => tell({ kind: 'finished', outcome }))
  } else message.port.on('message', (notice: WebhookNotice) => listener(notice))
})
