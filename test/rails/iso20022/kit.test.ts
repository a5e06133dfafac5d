/** The ISO 20022 adapter passes every line of the kit, with the switch as its counterpart. */
import t from 'tap'
import type { Behaviors } from '../../../src/rails/check/behaviors.js'
import { LINES } from '../../../src/rails/check/run.js'
import { check, namesOf } from '../check_harness.js'
import { aNetwork } from './network.js'

t.setTimeout(0)

const to = (account: string) => ({ destination: { account } })
const BEHAVIORS: Behaviors = {
  paid: {
    ...{ kind: 'payout', amount: '12345', currency: 'THB', reference: 'rail-check' },
    ...{ hint: '', environment: 'sandbox' },
    destination: {
      ...{ scheme: 'bank_account', country: 'TH', bank_code: '004', account: '1234567890' },
      name: 'RAIL CHECK',
    },
  },
  refused: to('9990000001'),
  late: to('9990000010'),
  pending: to('9990000008'),
  returned: to('9990000005'),
  recall_refused: to('9990000009'),
}

t.test('every line, with restarts of the adapter', async (t) => {
  const { address, restartAdapter } = await aNetwork(t)
  const results = await check(t, { address, restart: restartAdapter, behaviors: BEHAVIORS })
  t.same(
    results.filter(({ result }) => result !== 'pass'),
    [],
  )
  t.equal(namesOf(results, 'pass').length, LINES.length)
})
