/** Clients that pay while processes are killed, and the checks afterwards. */
import type { Test } from 'tap'
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { partnerOf } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { receiverOf } from '../support/receiver.js'
import { startStack } from '../support/stack.js'

const CLIENTS = 12
const PAYMENTS_EACH = 4
const DELIVERED_WITHIN_MS = 60_000

interface Captured {
  readonly data: { readonly payment_intent: { readonly intent_id: string } }
}

/** @param victims processes to kill, one after the other, spread over the payments */
export async function payWhileKilling(t: Test, victims: readonly string[]): Promise<void> {
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
  for (const [index, victim] of victims.entries()) {
    const enough = (index + 1) * ((CLIENTS * PAYMENTS_EACH) / (victims.length + 2))
    await eventually('enough payments are made', () => intents.length >= enough, 60_000)
    stack.kill(victim)
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
  t.equal(executed.length, intents.length + payouts.length, 'every instruction has a payment')
  t.ok(
    executed.every(({ executions }) => executions === 1),
    'each executed once',
  )

  const captured = (): string[] =>
    [...receiver.events.values()]
      .filter(({ eventType }) => eventType === 'payment_intent.captured')
      .map(({ body }) => (JSON.parse(body.toString()) as Captured).data.payment_intent.intent_id)
  await eventually(
    'every capture has a webhook',
    () => captured().length === intents.length,
    DELIVERED_WITHIN_MS,
  )
  t.same(new Set(captured()), new Set(intents), 'one event per capture')
  const { body } = await partner.request('GET', '/v1/balances')
  const { data } = body as { data: { reserved: string }[] }
  t.ok(
    data.every(({ reserved }) => reserved === '0'),
    'no reserved balance is left',
  )
  await assertCleanAudit(t, stack.dataDir)
}
