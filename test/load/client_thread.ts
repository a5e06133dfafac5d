/** The client's thread: signs the supply, runs the window, tells how it went. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import type { Note, Order, Outcome } from './client.js'
import { createIntents } from './create_intents.js'
import { runWindow } from './load.js'

const tell = (note: Note): void => parentPort?.postMessage(note)
const random = systemRandom()

async function run({ scenario: order, journeys, window }: Order): Promise<Outcome> {
  const scenario = createIntents({ ...order, lanes: window.lanes, clock: systemClock, random })
  scenario.prepare(journeys)
  tell({ kind: 'signed' })
  const tally = await runWindow(window, scenario, {
    opened: () => tell({ kind: 'opened' }),
    closed: () => tell({ kind: 'closed' }),
    progress: (progress) => tell({ kind: 'progress', progress }),
  })
  return { tally, samples: scenario.samples() }
}

/** A failure ends the thread, which whoever gave the order hears. */
parentPort?.on('message', (order: Order) => {
  void run(order).then((outcome) => tell({ kind: 'finished', outcome }))
})
