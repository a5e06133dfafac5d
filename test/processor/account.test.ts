/** GET /v1/account: each setting of a partner, after changes by operators, without secrets. */
import t from 'tap'
import type { PartnerId } from '../../src/base/ids.js'
import { tenantOf } from '../../src/base/ids.js'
import { getAccount } from '../../src/processor/commands/partners/account_get.js'
import { setBalanceAlert } from '../../src/processor/commands/funds/balance_alert_set.js'
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { codeOf, createWorld, DEMO, PRODUCTION, viewOf } from '../support/world.js'
import { OPERATOR } from './scenarios.js'

t.test('the account shows the settings of the sandbox partner', async (t) => {
  const world = await createWorld(t)
  const account = viewOf<Record<string, unknown>>(await world.run(getAccount(DEMO)))
  t.match(account, {
    partner_id: 'demo',
    environment: 'sandbox',
    status: 'active',
    created_at: '2026-11-21T03:00:00.000Z',
    terms: {
      quote_spread_bps: 0,
      payouts: [{ country: 'TH', currency: 'THB', fee_handling: 'on_top', platform_fixed: '1000' }],
    },
    limits: { requests_per_second: 1_000, amount_usd_cents: 100_000_000 },
    keys: [{ key_id: 'demo_sandbox_2026q4', status: 'active', revoked_at: null }],
    allowed_ips: [],
    packages: [],
    balance_alerts: [],
  })
  t.same(account['corridors'], [
    {
      corridor: 'th_promptpay',
      enabled: true,
      currency: 'THB',
      minimum: '100',
      user_limit_payment: '5000000',
      user_limit_day: '20000000',
      user_limit_month: '100000000',
    },
    {
      corridor: 'vn_vietqr',
      enabled: true,
      currency: 'VND',
      minimum: '1000',
      user_limit_payment: '5000000',
      user_limit_day: '10000000',
      user_limit_month: '25000000',
    },
  ])
  const text = JSON.stringify(account)
  for (const { secret } of world.memory().keys.values()) t.notMatch(text, secret)
})

t.test('a change by an operator is shown to that partner and environment only', async (t) => {
  const world = await createWorld(t)
  const route = {
    country: 'TH',
    currency: 'THB',
    enabled: true,
    platform_fixed: '7',
    platform_bps: 1,
    rail_fixed: '9',
    handling: 'deducted',
    refund_fees_on_reversal: false,
    amount_max: '500',
    review_from: '400',
  }
  await world.run(setRoute(OPERATOR, DEMO, route))
  await world.run(setBalanceAlert(OPERATOR, DEMO, 'THB', '123'))
  await world.run(setBalanceAlert(OPERATOR, DEMO, 'USD', '0'))
  for (const change of [
    { kind: 'suspend' },
    { kind: 'allowed_ips', values: ['203.0.113.0/24'] },
    { kind: 'packages', values: ['com.example'] },
    { kind: 'corridors', values: ['vn_vietqr'] },
    { kind: 'rate_limit', perSecond: 7 },
  ] as const) {
    viewOf(await world.run(changePartner(OPERATOR, 'demo', change)))
  }
  world.clock.pass(1)
  viewOf(await world.run(issueKey(OPERATOR, DEMO)))
  const account = viewOf<{ terms: { payouts: object[] } }>(await world.run(getAccount(DEMO)))
  t.match(account, {
    status: 'suspended',
    limits: { requests_per_second: 7 },
    corridors: [{ enabled: false }, { enabled: true }],
    keys: [
      { key_id: 'demo_sandbox_2027q1', status: 'active', revoked_at: null },
      { key_id: 'demo_sandbox_2026q4', status: 'active', revoked_at: '2026-12-05T03:00:00.001Z' },
    ],
    allowed_ips: ['203.0.113.0/24'],
    packages: ['com.example'],
    balance_alerts: [{ currency: 'THB', threshold: '123' }],
  })
  t.same(account.terms.payouts[0], {
    country: 'TH',
    currency: 'THB',
    fee_handling: 'deducted',
    platform_fixed: '7',
    platform_bps: 1,
    rail_fixed: '9',
    refund_fees_on_reversal: false,
    amount_min: null,
    amount_max: '500',
  })
  t.equal(account.terms.payouts.length, 3)
  const production = viewOf(await world.run(getAccount(PRODUCTION)))
  t.match(production, { environment: 'production', terms: { payouts: [] }, keys: [] })
  t.match(production, { balance_alerts: [], packages: ['com.example'] })
  const unknownTenant = tenantOf('nobody' as PartnerId, 'sandbox')
  t.equal(codeOf(await world.run(getAccount(unknownTenant))), 'authentication_failed')
})
