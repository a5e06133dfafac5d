/** A client's thread: signs the supply, runs the window, tells how it went. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../../src/base/clock.js'
import { systemRandom } from '../../../src/base/random.js'
import type { Note, Order, Outcome, ThreadOrder } from './client.js'
import type { WebhookReport } from './load.js'
import { runWindow } from './window.js'
import { createScenario } from '../scenarios/scenarios.js'

const tell = (note: Note): void => parentPort?.postMessage(note)
const random = systemRandom()
let listening: (webhookReports: WebhookReport) => void = () => undefined

async function run({ scenario: order, journeys, lasts, window }: Order): Promise<Outcome> {
  const { connections } = window
  const scenario = createScenario({ ...order, connections, clock: systemClock, random })
  scenario.prepare(journeys)
  if (lasts) scenario.last()
  const summary = await runWindow(window, scenario, {
    begun: () => tell({ kind: 'begun' }),
    opened: () => tell({ kind: 'opened' }),
    closed: () => tell({ kind: 'closed' }),
    intervalSample: (intervalSample) => tell({ kind: 'sample', intervalSample }),
    webhookReports: (listen) => {
      listening = listen
    },
  })
  return { summary, acknowledged: scenario.acknowledged() }
}

/** A failure ends the thread, which whoever gave the order hears. */
parentPort?.on('message', (message: ThreadOrder) => {
  if (message.kind === 'reports_from') {
    message.port.on('message', (webhookReports: WebhookReport) => listening(webhookReports))
    return
  }
  void run(message.order).then((outcome) => tell({ kind: 'finished', outcome }))
})
