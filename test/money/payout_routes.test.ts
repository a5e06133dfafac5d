/** The default routes of payouts: their environment and their fees. */
import t from 'tap'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { IDR, THB, VND } from '../../src/money/currency.js'
import { createRouteTable } from '../../src/money/payout_routes.js'

const [SANDBOX, PRODUCTION] = (['sandbox', 'production'] as const).map((environment) =>
  tenantOf('acme' as PartnerId, environment),
)

t.test('the sandbox has routes with fees, production has none', async (t) => {
  const { find } = createRouteTable()
  for (const [country, currency, platformFixed, platformBps, railFixed] of [
    ['TH', THB, 10_00n, 20, 5_00n],
    ['VN', VND, 5_000n, 20, 3_300n],
    ['ID', IDR, 2_500_00n, 20, 2_500_00n],
  ] as const) {
    const common = { handling: 'on_top', refundFeesOnReversal: true } as const
    const fees = { platformFixed, platformBps, railFixed, ...common }
    t.match(find(SANDBOX!, country, currency), { enabled: true, fees, reviewFrom: null }, country)
    t.equal(find(PRODUCTION!, country, currency), null, country)
  }
  t.equal(find(SANDBOX!, 'TH', VND), null, 'no route of this currency')
})
