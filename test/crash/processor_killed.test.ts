/**
 * The processor is killed again and again while clients pay: nothing acknowledged is lost or paid
 * twice.
 */
import t from 'tap'
import { payWhileKilling } from './paying_clients.js'

void t.test('kill -9 of the processor in the middle of payments', (t) =>
  payWhileKilling(t, ['processor', 'processor', 'processor']),
)
