/** Processes of a stack are killed while clients pay: no payment is lost or doubled. */
import t from 'tap'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { eventually } from '../support/eventually.js'
import { startStack } from '../support/stack.js'
import { runFinalChecks } from '../workload/final_checks.js'
import { startPayers, usualOutcome } from '../workload/payers.js'

const PAYERS = 12
/** A payer waits so long after a payment: they make about 50 a second, and each kill meets some. */
const PAUSE_MS = 200
/** Before each kill, and after the last one. */
const PAYMENTS = 16

const VICTIMS = ['processor', 'processor', 'processor', 'rail', 'nats', 'webhooks', 'gateway']

const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '100', RATE_LIMIT: 'off' } })
const { partner } = stack
const receiver = await stack.receiver()
const random = (payer: number) => createSeededRandom(1, payer + 1)
const payers = startPayers(PAYERS, usualOutcome(partner, random), PAUSE_MS)

for (const victim of VICTIMS) {
  t.test(`kill -9 of the ${victim}`, async (t) => {
    await payers.until(payers.payments.length + PAYMENTS)
    const killed = stack.pidOf(victim)
    stack.kill(victim)
    const isReplaced = (): boolean => stack.pidOf(victim) !== killed
    t.ok(await eventually(`${victim} is another process`, isReplaced))
    await stack.untilServing()
  })
}

t.test('no payment is lost or doubled, and the audit is clean', async (t) => {
  await payers.until(payers.payments.length + PAYMENTS)
  await payers.stop()
  const { lost, doubled, clean, audit } = await runFinalChecks(
    ...([stack.dataDir, partner, receiver, payers] as const),
  )
  t.same(
    { lost, doubled, unanswered: payers.unanswered },
    { lost: [], doubled: [], unanswered: [] },
  )
  t.ok(clean, audit)
})
