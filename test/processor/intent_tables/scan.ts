/**
 * Scanning: accepted codes, and the order of the checks (code, amount, duplicates, limits, price).
 */
import type { ErrorCode } from '../../../src/base/errors.js'
import { ENVIRONMENTS } from '../../../src/base/ids.js'
import { THB } from '../../../src/money/currency.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import { setRate } from '../../../src/processor/commands/operators/rate_set.js'
import { rateKey } from '../../../src/quotes/rates.js'
import { sealed, thai, vietnamese } from '../../qr/payloads.js'
import { viewOf, PRODUCTION } from '../../support/world.js'
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
  created,
  ENDED,
  NOT_ENABLED,
  ofOthers,
  refusal,
  suspended,
  SUSPENDED,
  UNAUTHENTICATED,
  withoutCorridor,
  type Request,
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
const OPERATOR = { name: 'test', reason: 'a test' }

/** Valid except for a missing rate. */
const rateless =
  (request: Request): Request =>
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
/** Scans with a rate that is `beyond` ms above (or below) its maximum age. */
const aged =
  (beyond: number): Request =>
  async (lifecycle) => {
    const { world } = lifecycle
    viewOf(await world.run(setRate(OPERATOR, 'THB', '36.00')))
    world.clock.pass(MINUTE + beyond)
    return world.run(underRules(lifecycle.calls.scan()))
  }

const underRules = (command: Command): Command => ({
  ...command,
  decide: (ctx) => command.decide({ ...ctx, rules: { ...ctx.rules, rateMaxAgeMs: MINUTE } }),
})

const scannedAs =
  (amount?: string | null, over = {}): Request =>
  (lifecycle) =>
    lifecycle.scan(amount, over)
const qr = (payload: string, amount: string | null = '36000'): Request =>
  scannedAs(amount, { qr_payload: payload })

export const scan: Table = async (world) => {
  viewOf(await world.run(setRate(OPERATOR, 'THB', '36.00')))
  const real = { tenant: PRODUCTION }
  const closing = { tenant: await openTenant(world, CLOSING, {}) }
  const dynamic = thai(['01', '12'], ['54', '360.00'])
  const small = { over: { amount_usd_cents: 1 } }
  const ok = becomes('created')
  const duplicate = refusal('duplicate_scan', 409)
  const limited = refusal('user_limit_exceeded', 422)
  const unscannable = refusal('payment_intent_not_scannable', 409)
  const malformed = refusal('qr_malformed', 422)
  const required = refusal('local_amount_required', 422)
  const wrongAmount = refusal('local_amount_invalid', 422)
  const mismatch = refusal('qr_amount_mismatch', 422)
  const low = refusal('amount_below_minimum', 422)
  const unpriced = refusal('configuration_error', 503)
  const aboveCeiling = refusal('quote_exceeds_intent_amount', 422)
  const unscannableStates = { waiting, authorized, ...ENDED, overdue }
  const acknowledged = scannedAs('36000', { duplicate_confirmed: true })
  return [
    ['static', created, qr(thai()), ok],
    ['dynamic', created, qr(dynamic, null), ok],
    ['dynamic, with its amount', created, qr(dynamic), ok],
    ['once more', scanned, qr(thai(), '72000'), ok],
    ...ofOthers(scannedAs(), UNAUTHENTICATED),
    ['a consumed token, before the state', authorized, scannedAs(), UNAUTHENTICATED],
    ['a consumed token, captured', captured, scannedAs(), UNAUTHENTICATED],
    ...at(unscannableStates, scannedAs('36000', ANOTHER_TOKEN), unscannable),
    ['the state, before the code', cancelled, qr('', '0'), unscannable],
    ['the state, before suspended', cancelled, suspended(qr(thai())), unscannable, closing],
    [
      'without its corridor, before the code',
      created,
      withoutCorridor(qr('', '0')),
      NOT_ENABLED,
      closing,
    ],
    ['suspended, before the code', created, suspended(qr('', '0')), SUSPENDED, closing],
    ...BAD_CODES.map(([name, payload, code]): Row => [
      `a code ${name}`,
      scanned,
      qr(payload),
      refusal(code, 422),
    ]),
    ['the code, before the amount', created, qr('', '0'), malformed],
    ['an amount of nothing', scanned, qr(thai(), '0'), wrongAmount],
    ['a negative amount', created, qr(thai(), '-36000'), wrongAmount],
    ['no amount', scanned, qr(thai(), null), required],
    ['another amount', scanned, qr(dynamic, '36001'), mismatch],
    ['another amount, before a duplicate', paidBefore, qr(dynamic, '50'), mismatch],
    ['a duplicate', paidBefore, qr(thai()), duplicate],
    ['a duplicate by another code', paidBefore, qr(dynamic), duplicate],
    ['a duplicate, acknowledged', paidBefore, acknowledged, ok],
    ['a duplicate, before the limits', usedUp, qr(thai(), '5000000'), duplicate],
    ['below the minimum', scanned, qr(thai(), '99'), low],
    ['below the minimum, before the limits', usedUp, qr(thai(), '99'), low],
    ['above a transaction', scanned, qr(thai(), '5000001'), limited],
    ['above the day', usedUp, qr(thai(), '100'), limited],
    ['the limits, before the rate', created, rateless(qr(thai(), '5000001')), limited],
    ['the limits, before the ceiling', created, qr(thai(), '5000001'), limited, small],
    ['no rate', scanned, rateless(qr(thai())), unpriced, real],
    ['a rate that is old', created, aged(0), unpriced],
    ['a rate that is nearly old', created, aged(-1), ok],
    ['no rate, before the ceiling', created, rateless(qr(thai())), unpriced, { ...real, ...small }],
    ['above the ceiling', created, qr(thai()), aboveCeiling, small],
  ]
}
