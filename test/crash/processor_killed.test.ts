/** The processor is killed three times while clients pay: no payment is lost or doubled. */
import t from 'tap'
import { payWhileKilling } from './paying_clients.js'

void t.test('kill -9 of the processor in the middle of payments', (t) =>
  payWhileKilling(t, ['processor', 'processor', 'processor']),
)
