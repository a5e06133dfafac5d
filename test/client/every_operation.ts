/**
 * Calls every operation of the TypeScript client once, with the same calls, in the same order, as
 * python/every_operation.py.
 */
import { createClient } from '../../src/client/index.js'

export async function everyOperation(baseUrl: string): Promise<void> {
  const client = createClient(
    { baseUrl, keyId: 'a_sandbox_2026q4', secret: 'sk' },
    { requestId: () => 'trace-1' },
  )
  const { paymentIntents, beneficiaries, payouts, webhookEndpoints, sandbox } = client
  const app = client.session('token')
  const key = { idempotencyKey: 'key' }
  const readAll = async (list: AsyncIterable<unknown>): Promise<void> => {
    for await (const _item of list);
  }
  /** Short bodies: the server of this test does not read them. */
  const some = <T>(body: object): T => body as T

  await paymentIntents.create(some({ corridor: 'th_promptpay' }), key)
  await paymentIntents.get('id_1')
  await readAll(paymentIntents.list({ status: 'captured', partner_user_id: 'ü', limit: 2 }))
  await paymentIntents.cancel('id_1')
  await paymentIntents.refund('id_1', key)
  await paymentIntents.newSession('id_1', some({ partner_user_id: 'ü' }))
  await paymentIntents.receiptToken('id_1')
  await app.get('id_1')
  await app.scan('id_1', { qr_payload: 'x' })
  await app.confirm('id_1', 'key', { quote_id: 'q', quote_version: 1 })
  await client.receipts('token').get('id_1')
  await beneficiaries.create(some({ name: 'a' }))
  await beneficiaries.get('id_1')
  await beneficiaries.disable('id_1')
  await readAll(beneficiaries.list({ limit: 2 }))
  await payouts.create(some({ amount: '1' }), key)
  await payouts.get('id_1')
  await payouts.cancel('id_1')
  await readAll(payouts.list({ status: 'failed', reference: 'a b', limit: 2, cursor: 'c' }))
  await client.account()
  await client.balances()
  await readAll(client.balanceTransactions.list({ limit: 2 }))
  await client.fx.quote(some({ sell_currency: 'USD' }))
  await client.fx.convert('q', key)
  await webhookEndpoints.create({ url: 'http://x' }, key)
  await webhookEndpoints.get('id_1')
  await readAll(webhookEndpoints.list())
  await webhookEndpoints.update('id_1', { url: 'http://y' })
  await webhookEndpoints.delete('id_1')
  await webhookEndpoints.enable('id_1')
  await webhookEndpoints.disable('id_1')
  await webhookEndpoints.rotateSecret('id_1', { activate_at: '2026-01-05T09:30:00Z' })
  await webhookEndpoints.test('id_1')
  await readAll(webhookEndpoints.deliveries('id_1', { limit: 2 }))
  await webhookEndpoints.recover('id_1', '2026-01-05T09:30:00Z')
  await readAll(client.events.list({ after: 5, limit: 2 }))
  await client.events.resend('id_1', { endpoint_id: 'we_1' })
  await sandbox.deposit(some({ currency: 'VND' }), key)
  await sandbox.simulatePayout('id_1', 'failed')
  await sandbox.checkSignature(some({ method: 'GET' }))
  await sandbox.checkRequest({ method: 'GET', path: '/v1/balances' })
}
