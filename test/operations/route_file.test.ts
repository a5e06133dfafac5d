/** Faults of a route file are reported before any call. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readRoute } from '../../src/operations/payments/route_file.js'

const file = join(t.testdir(), 'route.json')
const ROUTE = {
  country: 'VN',
  currency: 'VND',
  enabled: true,
  platform_fixed: '5000',
  platform_bps: 20,
  rail_fixed: '0',
  handling: 'on_top',
  refund_fees_on_reversal: false,
}
const BOUNDED = { ...ROUTE, amount_min: '1', amount_max: '9', review_from: '5' }
const TENANT = { partner_id: 'acme', environment: 'sandbox' }

function faultOf(given: unknown): string {
  writeFileSync(file, typeof given === 'string' ? given : JSON.stringify(given))
  try {
    readRoute(file)
    return ''
  } catch (error) {
    t.match(error, { name: 'CommandFault' })
    return (error as Error).message
  }
}

t.test('a complete route is accepted', async (t) => {
  const listed = { ...BOUNDED, tenant: TENANT }
  for (const given of [ROUTE, BOUNDED, listed, { ...ROUTE, tenant: null, amount_max: null }]) {
    t.equal(faultOf(given), '')
  }
  writeFileSync(file, JSON.stringify(listed))
  t.strictSame(readRoute(file), listed)
})

t.test('only the tenant and the bounds are optional', async (t) => {
  for (const name of Object.keys(ROUTE)) {
    const less = Object.entries(ROUTE).filter(([other]) => other !== name)
    t.equal(faultOf(Object.fromEntries(less)), `${file}: ${name} is missing.`)
  }
})

t.test('a wrong member is named with the allowed values', async (t) => {
  for (const [name, value, fault] of [
    ['country', 'XX', 'a country of ISO 3166, not "XX"'],
    ['currency', 'XYZ', 'a currency of ISO 4217, not "XYZ"'],
    ['enabled', 'true', 'true or false, not "true"'],
    ['platform_fixed', '-1', 'minor units in quotes, 0 or more, not "-1"'],
    ['platform_bps', 10_001, 'a whole number from 0 to 10000, not 10001'],
    ['platform_bps', 0.5, 'a whole number from 0 to 10000, not 0.5'],
    ['rail_fixed', 3300, 'minor units in quotes, 0 or more, not 3300'],
    ['handling', 'top', 'on_top or deducted, not "top"'],
    ['refund_fees_on_reversal', 1, 'true or false, not 1'],
    ['amount_min', '0', 'minor units in quotes, above 0, not "0"'],
    ['amount_max', '1.5', 'minor units in quotes, above 0, not "1.5"'],
    ['review_from', '9223372036854775808', 'minor units in quotes, above 0'],
    ['tenant', 'acme', 'a partner_id and an environment, not "acme"'],
    ['tenant', { partner_id: 'acme' }, 'a partner_id and an environment'],
  ] as const) {
    const message = faultOf({ ...BOUNDED, [name]: value })
    t.ok(message.startsWith(`${file}: ${name} must be ${fault}`), message)
  }
  const message = faultOf({ ...ROUTE, enabled: 1, handling: undefined, amount_mn: '1' })
  t.match(
    message,
    /enabled must be .+; handling is missing; amount_mn is not a member of a route\.$/,
  )
  t.match(faultOf({ ...BOUNDED, amount_min: '10' }), 'amount_min is above amount_max')
})

t.test('a file without a route', async (t) => {
  t.match(faultOf('{'), `${file} cannot be read as a route: `)
  for (const given of ['[]', 'null', '1'])
    t.equal(faultOf(given), `${file} does not contain a JSON object.`)
  t.throws(() => readRoute(`${file}.none`), { name: 'CommandFault', message: /ENOENT/ })
})
