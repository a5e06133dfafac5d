/** The other processes are killed once each while clients pay: no payment is lost or doubled. */
import t from 'tap'
import { payWhileKilling } from './paying_clients.js'

void t.test('kill -9 of the rail, NATS, the webhook pool and the gateway', (t) =>
  payWhileKilling(t, ['rail', 'nats', 'webhooks', 'gateway']),
)
