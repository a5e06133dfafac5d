/** The chart of accounts: keys and bounds. */
import t from 'tap'
import { tenantOf, type Environment, type PartnerId } from '../../src/base/ids.js'
import {
  ACCOUNT_KINDS,
  accountKey,
  ceilingOf,
  floorOf,
  partsOf,
  type AccountKind,
} from '../../src/ledger/accounts.js'
import { THB, USD } from '../../src/money/currency.js'
import { INT64_MAX, INT64_MIN } from '../../src/money/money.js'

const kinds = Object.keys(ACCOUNT_KINDS) as AccountKind[]
const environments: Environment[] = ['sandbox', 'production']
const demo = tenantOf('demo' as PartnerId, 'sandbox')

t.test('the chart of accounts is complete', async (t) => {
  const chart = ['prefund', 'reserved', 'fees', 'rail_clearing', 'funding', 'fx', 'suspense']
  t.same(kinds, chart)
})

t.test('an account key is unique for its tenant, currency and kind', async (t) => {
  const seen = new Set<string>()
  for (const partner of ['demo', 'demo_two', 'a-b']) {
    for (const environment of environments) {
      const tenant = tenantOf(partner as PartnerId, environment)
      for (const currency of [USD, THB]) {
        for (const kind of kinds) {
          const key = accountKey(tenant, currency, kind)
          t.same(partsOf(key), { tenant, currency, kind })
          seen.add(key)
        }
      }
    }
  }
  t.equal(seen.size, 3 * 2 * 2 * kinds.length)
  t.equal(accountKey(demo, THB, 'prefund'), 'demo_sandbox:THB:prefund')
})

t.test(
  'prefund and reserved cannot be overdrawn; funding and suspense stop short of int64',
  async (t) => {
    const floors = Object.fromEntries(kinds.map((k) => [k, floorOf(accountKey(demo, USD, k))]))
    t.strictSame(floors, {
      prefund: 0n,
      reserved: 0n,
      fees: INT64_MIN,
      rail_clearing: INT64_MIN,
      funding: 2n ** 53n - INT64_MAX,
      fx: INT64_MIN,
      suspense: -(2n ** 52n),
    })
    const ceilings = new Set(kinds.map((k) => ceilingOf(accountKey(demo, USD, k))))
    t.same([...ceilings], [INT64_MAX, 2n ** 52n])
    t.equal(ceilingOf(accountKey(demo, USD, 'suspense')), 2n ** 52n)
  },
)

t.test('an account keeps its parts beside any number of others', async (t) => {
  const wrong: string[] = []
  for (let number = 0; number < 12_000; number += 1) {
    const tenant = tenantOf(`partner-${number}` as PartnerId, 'production')
    const key = accountKey(tenant, number % 2 === 0 ? USD : THB, kinds[number % kinds.length]!)
    for (const parts of [partsOf(key), partsOf(key)]) {
      if (accountKey(parts.tenant, parts.currency, parts.kind) !== key) wrong.push(key)
    }
  }
  t.same(wrong, [])
})
