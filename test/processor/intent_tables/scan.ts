/**
 * Scanning: accepted codes, and the order of the checks (code, amount, duplicates, limits, price).
 */
import type { ErrorCode } from '../../../src/base/errors.js'
import { ENVIRONMENTS, tenantOf, type PartnerId } from '../../../src/base/ids.js'
import { THB } from '../../../src/money/currency.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { setRate } from '../../../src/processor/commands/operators/rate_set.js'
import { rateKey } from '../../../src/quotes/rates.js'
import { sealed, thai, vietnamese } from '../../qr/payloads.js'
import { viewOf } from '../../support/world.js'
import {
  authorized,
  cancelled,
  captured,
  openTenant,
  overdue,
  paidBefore,
  scanned,
  usedUp,
  waiting,
} from '../intent_lifecycle.js'
import {
  ANOTHER_TOKEN,
  at,
  becomes,
  CLOSING,
  ENDED,
  NOT_ENABLED,
  refusal,
  OTHER_TENANT,
  suspended,
  SUSPENDED,
  UNAUTHENTICATED,
  UNKNOWN,
  withoutCorridor,
  type Row,
  type Table,
} from './row.js'

/** A valid code with a wrong checksum. */
const DAMAGED = thai().replace(/.{4}$/, (checksum) => (checksum === '0000' ? '0001' : '0000'))
const BAD_CODES: readonly (readonly [name: string, payload: string, code: ErrorCode])[] = [
  ['empty', '', 'qr_malformed'],
  ['not a payment', 'https://example.com', 'qr_malformed'],
  ['a line end', `${thai()}\n`, 'qr_malformed'],
  ['a length too long', sealed('000201010299'), 'qr_malformed'],
  ['damaged', DAMAGED, 'qr_checksum_invalid'],
  ['cut short', thai().slice(0, -1), 'qr_checksum_invalid'],
  ['of the other corridor', vietnamese(), 'qr_scheme_unsupported'],
  ['with a fee on top', thai(['55', '02'], ['56', '1.00']), 'qr_scheme_unsupported'],
  ['of another country', thai(['58', 'VN']), 'qr_country_mismatch'],
  ['in another currency', thai(['53', '840']), 'qr_currency_mismatch'],
  ['of no amount', thai(['54', '0']), 'qr_malformed'],
  ['dynamic without an amount', thai(['01', '12']), 'qr_malformed'],
]

/** Production has no default rates. */
const PRODUCTION = tenantOf('demo' as PartnerId, 'production')
const OPERATOR = { name: 'test', reason: 'a test' }

/** Valid except for a missing rate. */
const rateless =
  (request: Row['request']): Row['request'] =>
  async (lifecycle) => {
    const { rates } = lifecycle.world.memory()
    const keys = ENVIRONMENTS.map((each) => rateKey(each, THB))
    const known = keys.map((key) => [key, rates.get(key)!] as const)
    for (const key of keys) rates.delete(key)
    const answer = await request(lifecycle)
    for (const [key, rate] of known) rates.set(key, rate)
    return answer
  }

const MINUTE = 60_000
/** Sends the request with a rate that is `beyond` ms above (or below) its maximum age. */
const aged =
  (beyond: number, request: Row['request']): Row['request'] =>
  async (lifecycle) => {
    const { world } = lifecycle
    viewOf(await world.run(setRate(OPERATOR, 'THB', '36.00')))
    world.clock.pass(MINUTE + beyond)
    return request({
      ...lifecycle,
      scan: (amount) => world.run(underRules(lifecycle.calls.scan(amount))),
    })
  }

const underRules = (command: Command): Command => ({
  ...command,
  decide: (ctx) => command.decide({ ...ctx, rules: { ...ctx.rules, rateMaxAgeMs: MINUTE } }),
})

export const scan: Table = async (world) => {
  viewOf(await world.run(setRate(OPERATOR, 'THB', '36.00')))
  const real = { tenant: PRODUCTION }
  const closing = { tenant: await openTenant(world, CLOSING, {}) }
  const qr = (payload: string, amount: string | null = '36000'): Row['request'] => {
    return (lifecycle) => lifecycle.scan(amount, { qr_payload: payload })
  }
  const dynamic = thai(['01', '12'], ['54', '360.00'])
  const small = { over: { amount_usd_cents: 1 } }
  const duplicate = refusal('duplicate_scan', 409)
  const limited = refusal('user_limit_exceeded', 422)
  const unscannable = refusal('payment_intent_not_scannable', 409)
  const required = refusal('local_amount_required', 422)
  const wrongAmount = refusal('local_amount_invalid', 422)
  const mismatch = refusal('qr_amount_mismatch', 422)
  const low = refusal('amount_below_minimum', 422)
  const unpriced = refusal('configuration_error', 503)
  const aboveCeiling = refusal('quote_exceeds_intent_amount', 422)
  return [
    { name: 'static', request: qr(thai()), ...becomes('created') },
    { name: 'dynamic', request: qr(dynamic, null), ...becomes('created') },
    { name: 'dynamic, with its amount', request: qr(dynamic), ...becomes('created') },
    { name: 'once more', given: scanned, request: qr(thai(), '72000'), ...becomes('created') },
    { name: 'unknown', request: (lifecycle) => lifecycle.as(UNKNOWN).scan(), ...UNAUTHENTICATED },
    {
      name: "another tenant's",
      request: (lifecycle) => lifecycle.as(OTHER_TENANT).scan(),
      ...UNAUTHENTICATED,
    },
    ...at(
      { 'a consumed token, before the state': authorized, 'a consumed token, captured': captured },
      { request: (lifecycle) => lifecycle.scan(), ...UNAUTHENTICATED },
    ),
    ...at(
      { waiting, authorized, ...ENDED, overdue },
      { request: (lifecycle) => lifecycle.scan('36000', ANOTHER_TOKEN), ...unscannable },
    ),
    {
      name: 'the state, before the code',
      given: cancelled,
      request: qr('', '0'),
      ...unscannable,
    },
    {
      name: 'the state, before suspended',
      options: closing,
      given: cancelled,
      request: suspended(qr(thai())),
      ...unscannable,
    },
    {
      name: 'without its corridor, before the code',
      options: closing,
      request: withoutCorridor(qr('', '0')),
      ...NOT_ENABLED,
    },
    {
      name: 'suspended, before the code',
      options: closing,
      request: suspended(qr('', '0')),
      ...SUSPENDED,
    },
    ...BAD_CODES.map(([name, payload, code]) => ({
      name: `a code ${name}`,
      given: scanned,
      request: qr(payload),
      ...refusal(code, 422),
    })),
    { name: 'the code, before the amount', request: qr('', '0'), ...refusal('qr_malformed', 422) },
    { name: 'an amount of nothing', given: scanned, request: qr(thai(), '0'), ...wrongAmount },
    { name: 'a negative amount', request: qr(thai(), '-36000'), ...wrongAmount },
    { name: 'no amount', given: scanned, request: qr(thai(), null), ...required },
    { name: 'another amount', given: scanned, request: qr(dynamic, '36001'), ...mismatch },
    {
      name: 'another amount, before a duplicate',
      given: paidBefore,
      request: qr(dynamic, '50'),
      ...mismatch,
    },
    { name: 'a duplicate', given: paidBefore, request: qr(thai()), ...duplicate },
    { name: 'a duplicate by another code', given: paidBefore, request: qr(dynamic), ...duplicate },
    {
      name: 'a duplicate, acknowledged',
      given: paidBefore,
      request: (lifecycle) => lifecycle.scan('36000', { duplicate_confirmed: true }),
      ...becomes('created'),
    },
    {
      name: 'a duplicate, before the limits',
      given: usedUp,
      request: qr(thai(), '5000000'),
      ...duplicate,
    },
    { name: 'below the minimum', given: scanned, request: qr(thai(), '99'), ...low },
    {
      name: 'below the minimum, before the limits',
      given: usedUp,
      request: qr(thai(), '99'),
      ...low,
    },
    { name: 'above a transaction', given: scanned, request: qr(thai(), '5000001'), ...limited },
    { name: 'above the day', given: usedUp, request: qr(thai(), '100'), ...limited },
    { name: 'the limits, before the rate', request: rateless(qr(thai(), '5000001')), ...limited },
    {
      name: 'the limits, before the ceiling',
      options: small,
      request: qr(thai(), '5000001'),
      ...limited,
    },
    {
      name: 'no rate',
      options: real,
      given: scanned,
      request: rateless(qr(thai())),
      ...unpriced,
    },
    { name: 'a rate that is old', request: aged(0, (lifecycle) => lifecycle.scan()), ...unpriced },
    {
      name: 'a rate that is nearly old',
      request: aged(-1, (lifecycle) => lifecycle.scan()),
      ...becomes('created'),
    },
    {
      name: 'no rate, before the ceiling',
      options: { ...real, ...small },
      request: rateless(qr(thai())),
      ...unpriced,
    },
    { name: 'above the ceiling', options: small, request: qr(thai()), ...aboveCeiling },
  ]
}
