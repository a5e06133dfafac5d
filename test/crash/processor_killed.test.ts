/**
 * The processor is killed again and again while clients pay: nothing acknowledged is lost, nothing
 * is paid twice.
 */
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/database.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { partnerOf } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { receiverOf } from '../support/receiver.js'
import { startStack } from '../support/stack.js'

interface Captured {
  readonly data: { readonly payment_intent: { readonly intent_id: string } }
}

const CLIENTS = 12
const PAYMENTS_EACH = 4
const KILLS = 3

t.test('kill -9 of the processor in the middle of payments', async (t) => {
  const stack = await startStack({ settings: { RAIL_DELAY_MS: '100', RATE_LIMIT: 'off' } })
  t.teardown(() => stack.stop())
  const partner = partnerOf(stack.sandbox)
  const receiver = await receiverOf(partner)
  t.teardown(() => receiver.close())
  const intents: string[] = []
  const payouts: string[] = []

  const client = async (name: number): Promise<void> => {
    for (let i = 0; i < PAYMENTS_EACH; i++) {
      intents.push((await payByQr(partner, `${name}-${i}`)).id)
      payouts.push(await payOut(partner, `${name}-${i}`))
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, name) => client(name)))
  for (let kill = 1; kill <= KILLS; kill++) {
    const enough = kill * ((CLIENTS * PAYMENTS_EACH) / (KILLS + 2))
    await eventually('some are paid', () => intents.length >= enough, 60_000)
    stack.kill('processor')
    await stack.untilServing()
  }
  await clients

  for (const id of intents) await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  for (const id of payouts) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
  t.equal(new Set([...intents, ...payouts]).size, 2 * CLIENTS * PAYMENTS_EACH)

  const rail = await openDatabase(join(stack.dataDir, FILES.railDatabase), { readOnly: true })
  const executed = await rail.all<{ id: string; executions: number }>(
    'SELECT id, executions FROM instructions',
  )
  await rail.close()
  t.equal(executed.length, intents.length + payouts.length, 'no instruction of nobody')
  t.ok(
    executed.every(({ executions }) => executions === 1),
    'each executed once',
  )

  const captured = (): string[] =>
    [...receiver.events.values()]
      .filter(({ eventType }) => eventType === 'payment_intent.captured')
      .map(({ body }) => (JSON.parse(body.toString()) as Captured).data.payment_intent.intent_id)
  await eventually('every capture was told', () => captured().length === intents.length, 30_000)
  t.same(new Set(captured()), new Set(intents), 'one event for each')
  const { body } = await partner.request('GET', '/v1/balances')
  const { data } = body as { data: { reserved: string }[] }
  t.ok(
    data.every(({ reserved }) => reserved === '0'),
    'nothing stays reserved',
  )

  const { clean, report } = await auditOf(stack.dataDir)
  t.ok(clean, report)
})
