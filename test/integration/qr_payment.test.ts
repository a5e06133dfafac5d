/** QR payments and a payout on a real stack, with their webhooks. */
import t from 'tap'
import { assertCleanAudit } from '../support/audit.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { startStack } from '../support/stack.js'

const dataOf = (body: Buffer): Record<string, { status: string } & Record<string, unknown>> =>
  (JSON.parse(body.toString()) as { data: never }).data

t.test('payments of both corridors and a payout, each with its webhooks', async (t) => {
  const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '50' } })
  const { partner } = stack
  const receiver = await stack.receiver()

  for (const corridor of ['th_promptpay', 'vn_vietqr']) {
    const { id, token } = await payByQr(partner, corridor, { corridor })
    const path = `/v1/payment_intents/${id}`
    const paid = await untilStatus(partner, path, 'captured')
    t.match(paid, { intent_id: id, corridor, captured_at: /Z$/ })
    const polled = await partner.session(token).request('GET', path)
    t.match(polled.body, { status: 'captured' }, 'a consumed token still polls')
    const event = await receiver.until(
      'captured',
      ({ eventType, body }) =>
        eventType === 'payment_intent.captured' &&
        dataOf(body)['payment_intent']?.['intent_id'] === id,
    )
    t.equal(event.verdict, 'valid')
    t.equal(event.headers['x-service-webhook-event-type'], 'payment_intent.captured')
  }

  const payout = await payOut(partner, 'first')
  t.match(await untilStatus(partner, `/v1/payouts/${payout}`, 'completed'), { id: payout })
  await receiver.until('completed', ({ eventType }) => eventType === 'payout.completed')
  const types = [...receiver.events.values()].map(({ eventType }) => eventType).sort()
  t.same(
    types,
    [
      'payment_intent.captured',
      'payment_intent.captured',
      'payout.completed',
      'payout.created',
      'payout.processing',
    ],
    'authorized is opt-in',
  )
  t.ok(receiver.deliveries.every(({ verdict }) => verdict !== 'wrong_signature'))

  const { body } = await partner.request('GET', '/v1/balances')
  t.match(body, {
    data: [{ currency: 'THB' }, { currency: 'USD', reserved: '0' }, { currency: 'VND' }],
  })

  await assertCleanAudit(t, stack.dataDir)
})
