/**
 * Every answer of every intent command, as tables: what came before, what is asked, the code, and
 * the state afterwards.
 *
 * T1. A refusal changes nothing that can be seen: not the intent, the books, the events or the
 *     orders to the rail.
 * T2. Rows named `… before …` break two rules at once and fix which one is told.
 */
import t, { type Test } from 'tap'
import type { ErrorCode } from '../../src/base/errors.js'
import type { TenantId } from '../../src/base/ids.js'
import { currencyOf } from '../../src/money/currency.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { createIntent } from '../../src/processor/commands/intent_create.js'
import { setRate } from '../../src/processor/commands/rate_set.js'
import type { Answer } from '../../src/processor/cycle/group.js'
import { problemStatus } from '../../gateway/problem.js'
import { sealed, thai, vietnamese } from '../qr/payloads.js'
import { anIntent } from '../support/requests.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLife,
  cancelled,
  captured,
  expired,
  failed,
  openTenant,
  overdue,
  QUOTE_TTL,
  refunded,
  scanned,
  waiting,
  type Intent,
  type Life,
  type LifeOptions,
  type Stage,
} from './intent_life.js'

interface Refusal {
  readonly code: ErrorCode
  readonly status: number
}
interface Success {
  readonly code: 'ok'
  /** The state afterwards. */
  readonly then: string
}

type Row = (Refusal | Success) & {
  readonly name: string
  readonly options?: LifeOptions
  /** What came before. */
  readonly given?: (life: Life) => unknown
  readonly ask: (life: Life) => Promise<Answer>
}

const refusal = (code: ErrorCode, status: number): Refusal => ({ code, status })
const becomes = (then: string): Success => ({ code: 'ok', then })

const UNAUTHENTICATED = refusal('authentication_failed', 401)
const NOT_FOUND = refusal('payment_intent_not_found', 404)
const INVALID = refusal('invalid_request', 400)
const UNSATISFIED = refusal('attestation_not_satisfied', 403)
const SUSPENDED = refusal('partner_suspended', 403)
const CONFLICT = refusal('idempotency_conflict', 409)

const UNKNOWN = { id: 'pi_00000000000000000000000000' }
const STRANGER = { tenant: 'other_sandbox' as TenantId }
const UNVERIFIED = { kyc_attestation: { ...anIntent().kyc_attestation!, verified: false } }
const UNCLEAN = { sanctions_attestation: { ...anIntent().sanctions_attestation!, clean: false } }

/** The same question at several stages. */
const at = (
  given: Readonly<Record<string, Row['given']>>,
  row: Omit<Refusal & Row, 'name' | 'given'>,
): Row[] =>
  Object.entries(given).map(([name, given]) => ({ name, ...(given && { given }), ...row }))

const CLOSING = 'closing'
/** Asked while the partner of that name is suspended. */
const suspended =
  (ask: Row['ask']): Row['ask'] =>
  async (life) => {
    await openTenant(life.world, CLOSING, { suspended: true })
    const answer = await ask(life)
    await openTenant(life.world, CLOSING, {})
    return answer
  }

const ENDED = { captured, failed, refunded, cancelled, expired } as const

function table(endpoint: string, rows: (world: World) => readonly Row[] | Promise<Row[]>): void {
  void t.test(endpoint, async (t) => {
    const world = await createWorld(t)
    for (const row of await rows(world)) {
      await t.test(row.name, (t) => check(t, world, endpoint, row))
    }
  })
}

async function check(t: Test, world: World, endpoint: string, row: Row): Promise<void> {
  const life = await beginLife(world, row.options)
  await row.given?.(life)
  const before = await visible(life)
  const answer = await row.ask(life)
  t.equal(codeOf(answer), row.code)
  if (row.code === 'ok') return void t.equal((await life.see()).status, row.then)
  t.equal(problemStatus(row.code, endpoint === 'confirm'), row.status)
  t.same(await visible(life), before, 'nothing has changed')
}

/** What a caller, a partner or the rail could notice. */
const visible = async ({ world, see }: Life): Promise<object> => ({
  intent: await see(),
  events: world.events.length,
  orders: world.orders.length,
  balances: [...world.memory().balances],
})

const isReplayed = (answer: Answer): boolean => answer.ok && answer.replayed === true
const bytes = (answer: Answer): string => JSON.stringify(viewOf(answer))

void t.test('create', async (t) => {
  const world = await createWorld(t)
  const suspended = await openTenant(world, 'suspended', { suspended: true, corridors: [] })
  const thaiOnly = await openTenant(world, 'thaionly', { corridors: ['th_promptpay'] })
  const ask = async (over: object, tenant: TenantId = DEMO): Promise<Answer> =>
    world.run(createIntent(tenant, anIntent(over)))

  interface CreateRow {
    readonly name: string
    readonly tenant?: TenantId
    /** Asked before. */
    readonly first?: object
    readonly by?: TenantId
    readonly over: object
    readonly says: Refusal | Success
  }
  const ok = becomes('created')
  const disabled = refusal('corridor_not_enabled', 403)
  const rows: readonly CreateRow[] = [
    { name: 'the least', over: { partner_user_id: 'u', amount_usd_cents: 1 }, says: ok },
    { name: 'the most', over: { amount_usd_cents: 100_000_000 }, says: ok },
    { name: 'the other corridor', over: { corridor: 'vn_vietqr' }, says: ok },
    { name: 'nobody', over: { partner_user_id: '' }, says: INVALID },
    { name: 'nothing', over: { amount_usd_cents: 0 }, says: INVALID },
    { name: 'too much', over: { amount_usd_cents: 100_000_001 }, says: INVALID },
    { name: 'an unknown corridor', over: { corridor: 'us_ach' }, says: INVALID },
    { name: 'not verified', over: UNVERIFIED, says: UNSATISFIED },
    { name: 'no KYC', over: { kyc_attestation: null }, says: UNSATISFIED },
    { name: 'not clean', over: UNCLEAN, says: UNSATISFIED },
    { name: 'no screening', over: { sanctions_attestation: null }, says: UNSATISFIED },
    {
      name: 'a corridor that is not enabled, before attestations',
      tenant: thaiOnly,
      over: { corridor: 'vn_vietqr', ...UNVERIFIED },
      says: disabled,
    },
    { name: 'suspended, before the corridor', tenant: suspended, over: {}, says: SUSPENDED },
    {
      name: 'invalid, before suspended',
      tenant: suspended,
      over: { amount_usd_cents: 0 },
      says: INVALID,
    },
    { name: 'a key again', first: {}, over: {}, says: ok },
    { name: 'a key, other amount', first: {}, over: { amount_usd_cents: 1 }, says: CONFLICT },
    { name: 'a key, other user', first: {}, over: { partner_user_id: 'x' }, says: CONFLICT },
    { name: 'a key, other corridor', first: {}, over: { corridor: 'vn_vietqr' }, says: CONFLICT },
    {
      name: 'a key, other attestation',
      first: {},
      over: { sanctions_attestation: { clean: true, screened_at: '2026-11-20T00:00:01Z' } },
      says: CONFLICT,
    },
    {
      name: 'a key, and invalid: conflict before all else',
      first: {},
      over: { amount_usd_cents: 0, ...UNCLEAN },
      says: CONFLICT,
    },
    {
      name: "another tenant's key",
      by: thaiOnly,
      first: {},
      over: { amount_usd_cents: 1 },
      says: ok,
    },
    { name: 'the key of a refusal', first: UNCLEAN, over: {}, says: ok },
  ]
  for (const { name, tenant = DEMO, by = tenant, first, over, says } of rows) {
    await t.test(name, async (t) => {
      const key = { idempotency_key: name }
      const earlier = first === undefined ? null : await ask({ ...key, ...first }, by)
      const answer = await ask({ ...key, ...over }, tenant)
      t.equal(codeOf(answer), says.code)
      if (says.code !== 'ok') return void t.equal(problemStatus(says.code, false), says.status)
      const { status } = viewOf<Intent>(answer)
      t.equal(status, says.then)
      const isReplay = earlier?.ok === true && by === tenant
      t.equal(isReplayed(answer), isReplay)
      const isSame = earlier?.ok === true && bytes(earlier) === bytes(answer)
      t.equal(isSame, isReplay, 'byte for byte, or another intent')
    })
  }
})

table('re-mint', async (world) => {
  const ask = (life: Life): Promise<Answer> => life.remint()
  const terminal = refusal('payment_intent_terminal', 409)
  const closing = { tenant: await openTenant(world, CLOSING, {}, 100_000n) }
  return [
    { name: 'created', ask, ...becomes('created') },
    { name: 'scanned', given: scanned, ask, ...becomes('created') },
    { name: 'waiting for the rail', given: waiting, ask, ...becomes('authorized') },
    { name: 'handed over', given: authorized, ask, ...becomes('authorized') },
    ...at({ ...ENDED, overdue }, { ask, ...terminal }),
    { name: 'suspended', options: closing, ask: suspended(ask), ...SUSPENDED },
    {
      name: 'suspended, and paid already',
      options: closing,
      given: authorized,
      ask: suspended(ask),
      ...becomes('authorized'),
    },
    {
      name: 'terminal, before suspended',
      options: closing,
      given: cancelled,
      ask: suspended(ask),
      ...terminal,
    },
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).remint(), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => life.as(STRANGER).remint(), ...NOT_FOUND },
    {
      name: 'another user, before attestations, before terminal',
      given: cancelled,
      ask: (life) => life.remint({ partner_user_id: 'x', ...UNVERIFIED }),
      ...refusal('user_mismatch', 403),
    },
    {
      name: 'not verified, before terminal',
      given: cancelled,
      ask: (life) => life.remint(UNVERIFIED),
      ...UNSATISFIED,
    },
    { name: 'not clean', ask: (life) => life.remint(UNCLEAN), ...UNSATISFIED },
    { name: 'no KYC', ask: (life) => life.remint({ kyc_attestation: null }), ...UNSATISFIED },
  ]
})

const MINUTE = 60_000
const ANOTHER_TOKEN = { session_jti: 'token-2' }
/** A good code under another checksum. */
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

/** With nothing but a rate missing. */
const rateless =
  (ask: Row['ask']): Row['ask'] =>
  async (life) => {
    const { rates } = life.world.memory()
    const currency = currencyOf('THB')!
    const rate = rates.get(currency)!
    rates.delete(currency)
    const answer = await ask(life)
    rates.set(currency, rate)
    return answer
  }

/** At the last moment of a rate's age, or just before it. */
const aged =
  (beyond: number, ask: Row['ask']): Row['ask'] =>
  async (life) => {
    const { world } = life
    const operator = { name: 'test', reason: 'age' }
    viewOf(await world.run(setRate(operator, 'THB', '36.00')))
    world.clock.pass(MINUTE + beyond)
    return ask({ ...life, scan: (amount) => world.run(underRules(life.calls.scan(amount))) })
  }

const underRules = (command: Command): Command => ({
  ...command,
  decide: (desk) => command.decide({ ...desk, rules: { ...desk.rules, rateMaxAgeMs: MINUTE } }),
})

/** The same user has just paid 360 baht to the same merchant. */
const paidBefore = async (life: Life): Promise<void> => authorized(await life.another())
/** A user who has paid all that a day allows. */
const usedUp = async (life: Life): Promise<void> => {
  for (const number of [1, 2, 3, 4]) {
    const other = await life.another()
    viewOf(await other.scan('5000000', { duplicate_confirmed: number > 1 }))
    viewOf(await other.confirm())
  }
}

table('scan', async (world) => {
  const closing = { tenant: await openTenant(world, CLOSING, {}) }
  const qr = (payload: string, amount: string | null = '36000'): Row['ask'] => {
    return (life) => life.scan(amount, { qr_payload: payload })
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
  const dear = refusal('quote_exceeds_intent_amount', 422)
  return [
    { name: 'static', ask: qr(thai()), ...becomes('created') },
    { name: 'dynamic', ask: qr(dynamic, null), ...becomes('created') },
    { name: 'dynamic, with its amount', ask: qr(dynamic), ...becomes('created') },
    { name: 'once more', given: scanned, ask: qr(thai(), '72000'), ...becomes('created') },
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).scan(), ...UNAUTHENTICATED },
    { name: "another tenant's", ask: (life) => life.as(STRANGER).scan(), ...UNAUTHENTICATED },
    ...at(
      { 'a consumed token, before the state': authorized, 'a consumed token, captured': captured },
      { ask: (life) => life.scan(), ...UNAUTHENTICATED },
    ),
    ...at(
      { waiting, authorized, ...ENDED, overdue },
      { ask: (life) => life.scan('36000', ANOTHER_TOKEN), ...unscannable },
    ),
    {
      name: 'the state, before the code',
      given: cancelled,
      ask: qr('', '0'),
      ...unscannable,
    },
    {
      name: 'the state, before suspended',
      options: closing,
      given: cancelled,
      ask: suspended(qr(thai())),
      ...unscannable,
    },
    {
      name: 'suspended, before the code',
      options: closing,
      ask: suspended(qr('', '0')),
      ...SUSPENDED,
    },
    ...BAD_CODES.map(([name, payload, code]) => ({
      name: `a code ${name}`,
      given: scanned,
      ask: qr(payload),
      ...refusal(code, 422),
    })),
    { name: 'the code, before the amount', ask: qr('', '0'), ...refusal('qr_malformed', 422) },
    { name: 'an amount of nothing', given: scanned, ask: qr(thai(), '0'), ...wrongAmount },
    { name: 'a negative amount', ask: qr(thai(), '-36000'), ...wrongAmount },
    { name: 'no amount', given: scanned, ask: qr(thai(), null), ...required },
    { name: 'another amount', given: scanned, ask: qr(dynamic, '36001'), ...mismatch },
    {
      name: 'another amount, before a duplicate',
      given: paidBefore,
      ask: qr(dynamic, '50'),
      ...mismatch,
    },
    { name: 'a duplicate', given: paidBefore, ask: qr(thai()), ...duplicate },
    { name: 'a duplicate by another code', given: paidBefore, ask: qr(dynamic), ...duplicate },
    {
      name: 'a duplicate, acknowledged',
      given: paidBefore,
      ask: (life) => life.scan('36000', { duplicate_confirmed: true }),
      ...becomes('created'),
    },
    {
      name: 'a duplicate, before the limits',
      given: usedUp,
      ask: qr(thai(), '5000000'),
      ...duplicate,
    },
    { name: 'below the minimum', given: scanned, ask: qr(thai(), '99'), ...low },
    {
      name: 'below the minimum, before the limits',
      given: usedUp,
      ask: qr(thai(), '99'),
      ...low,
    },
    { name: 'above a transaction', given: scanned, ask: qr(thai(), '5000001'), ...limited },
    { name: 'above the day', given: usedUp, ask: qr(thai(), '100'), ...limited },
    { name: 'the limits, before the rate', ask: rateless(qr(thai(), '5000001')), ...limited },
    {
      name: 'the limits, before the ceiling',
      options: small,
      ask: qr(thai(), '5000001'),
      ...limited,
    },
    { name: 'no rate', given: scanned, ask: rateless(qr(thai())), ...unpriced },
    { name: 'a rate that is old', ask: aged(0, (life) => life.scan()), ...unpriced },
    {
      name: 'a rate that is nearly old',
      ask: aged(-1, (life) => life.scan()),
      ...becomes('created'),
    },
    {
      name: 'no rate, before the ceiling',
      options: small,
      ask: rateless(qr(thai())),
      ...unpriced,
    },
    { name: 'above the ceiling', options: small, ask: qr(thai()), ...dear },
  ]
})

table('confirm', async (world) => {
  const poor = await openTenant(world, 'poor', {})
  // What four payments of 50,000 baht cost, and not a cent more.
  const saving = await openTenant(world, 'saving', {}, 4n * 138_889n)
  const ask = (life: Life): Promise<Answer> => life.confirm()
  const broke = { tenant: poor }
  const unconfirmable = refusal('payment_intent_not_confirmable', 409)
  const unquoted = refusal('quote_required', 409)
  const changed = refusal('quote_changed', 409)
  const late = refusal('quote_expired', 409)
  const duplicate = refusal('duplicate_scan', 409)
  const limited = refusal('user_limit_exceeded', 409)
  const poverty = refusal('insufficient_balance', 409)
  const confirmed = refusal('already_confirmed', 409)
  const OTHER_QUOTE = { quote_id: 'qt_00000000000000000000000000' }

  const stale = async (life: Life): Promise<void> => {
    await scanned(life)
    life.world.clock.pass(QUOTE_TTL)
  }
  const scannedThenPaid = async (life: Life): Promise<void> => {
    await scanned(life)
    await paidBefore(life)
  }
  /** Four others have scanned before the last; each may pay alone. */
  const scannedThenUsedUp = async (life: Life): Promise<void> => {
    viewOf(await life.scan('5000000'))
    await usedUp(life)
  }
  const keyed: Stage = async (life) => {
    await scanned(life)
    viewOf(await life.confirm({ idempotency_key: 'a' }))
  }
  const keyedAnd = (then: Stage): Stage => {
    return async (life) => {
      await keyed(life)
      await then(life)
    }
  }
  return [
    { name: 'scanned', given: scanned, ask, ...becomes('authorized') },
    {
      name: 'the bound quote',
      given: scanned,
      ask: async (life) =>
        life.confirm({ quote_id: (await life.see()).quote!.quote_id, quote_version: 1 }),
      ...becomes('authorized'),
    },
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).confirm(), ...UNAUTHENTICATED },
    {
      name: "another tenant's",
      given: scanned,
      ask: (life) => life.as(STRANGER).confirm(),
      ...UNAUTHENTICATED,
    },
    {
      name: 'the same key',
      given: keyed,
      ask: (life) => life.confirm({ idempotency_key: 'a' }),
      ...becomes('authorized'),
    },
    {
      name: 'the same key with a fresh token, captured',
      given: keyedAnd((life) => life.executed()),
      ask: (life) => life.confirm({ idempotency_key: 'a', ...ANOTHER_TOKEN }),
      ...becomes('captured'),
    },
    {
      name: 'the same key, failed',
      given: keyedAnd((life) => life.refused()),
      ask: (life) => life.confirm({ idempotency_key: 'a' }),
      ...becomes('failed'),
    },
    {
      name: 'the token and the key of a refusal',
      given: async (life) => {
        await life.confirm({ idempotency_key: 'a' })
        await scanned(life)
      },
      ask: (life) => life.confirm({ idempotency_key: 'a' }),
      ...becomes('authorized'),
    },
    { name: 'a consumed token without a key', given: authorized, ask, ...UNAUTHENTICATED },
    {
      name: 'a consumed token with another key',
      given: keyed,
      ask: (life) => life.confirm({ idempotency_key: 'b' }),
      ...UNAUTHENTICATED,
    },
    { name: 'a consumed token, captured', given: captured, ask, ...UNAUTHENTICATED },
    ...at(
      { 'a fresh token, authorized': authorized, 'a fresh token, captured': captured },
      { ask: (life) => life.confirm(ANOTHER_TOKEN), ...confirmed },
    ),
    {
      name: 'a fresh token with another key',
      given: keyed,
      ask: (life) => life.confirm({ idempotency_key: 'b', ...ANOTHER_TOKEN }),
      ...confirmed,
    },
    {
      name: 'suspended, before all that follows',
      options: { tenant: await openTenant(world, CLOSING, {}) },
      ask: suspended((life) => life.confirm(OTHER_QUOTE)),
      ...SUSPENDED,
    },
    ...at({ cancelled, expired }, { ask, ...unconfirmable }),
    { name: 'overdue, before the quote', given: overdue, ask, ...unconfirmable },
    { name: 'not scanned', ask, ...unquoted },
    {
      name: 'not scanned, before the quote',
      ask: (life) => life.confirm(OTHER_QUOTE),
      ...unquoted,
    },
    {
      name: 'another quote',
      given: scanned,
      ask: (life) => life.confirm(OTHER_QUOTE),
      ...changed,
    },
    {
      name: 'another version',
      given: scanned,
      ask: (life) => life.confirm({ quote_version: 2 }),
      ...changed,
    },
    {
      name: 'the quote before the last',
      given: async (life) => {
        await scanned(life)
        await scanned(life)
      },
      ask: (life) => life.confirm({ quote_version: 1 }),
      ...changed,
    },
    {
      name: 'another quote, before its end',
      given: stale,
      ask: (life) => life.confirm(OTHER_QUOTE),
      ...changed,
    },
    { name: 'an ended quote', given: stale, ask, ...late },
    {
      name: 'an ended quote, before a duplicate',
      given: async (life) => {
        await stale(life)
        await paidBefore(life)
      },
      ask,
      ...late,
    },
    { name: 'paid meanwhile', given: scannedThenPaid, ask, ...duplicate },
    {
      name: 'paid meanwhile, and acknowledged',
      given: async (life) => {
        await paidBefore(life)
        viewOf(await life.scan('36000', { duplicate_confirmed: true }))
      },
      ask,
      ...becomes('authorized'),
    },
    {
      name: 'acknowledged for the quote before the last only',
      given: async (life) => {
        viewOf(await life.scan('36000', { duplicate_confirmed: true }))
        await scanned(life)
        await paidBefore(life)
      },
      ask,
      ...duplicate,
    },
    { name: 'a duplicate, before the limits', given: scannedThenUsedUp, ask, ...duplicate },
    {
      name: 'the limits',
      given: async (life) => {
        viewOf(await life.scan('100'))
        await usedUp(life)
      },
      ask,
      ...limited,
    },
    {
      name: 'the limits, before the money',
      options: { tenant: saving },
      given: async (life) => {
        viewOf(await life.scan('4999999'))
        await usedUp(life)
      },
      ask,
      ...limited,
    },
    { name: 'no money', options: broke, given: scanned, ask, ...poverty },
  ]
})

table('cancel', () => {
  const ask = (life: Life): Promise<Answer> => life.cancel()
  return [
    { name: 'created', ask, ...becomes('cancelled') },
    { name: 'scanned', given: scanned, ask, ...becomes('cancelled') },
    { name: 'waiting for the rail', given: waiting, ask, ...becomes('cancelled') },
    ...at(
      { authorized, ...ENDED, overdue },
      { ask, ...refusal('payment_intent_not_cancelable', 409) },
    ),
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).cancel(), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => life.as(STRANGER).cancel(), ...NOT_FOUND },
  ]
})

table('refund', () => {
  const ask = (life: Life): Promise<Answer> => life.refund('a key of another intent')
  const unrefundable = refusal('payment_intent_not_refundable', 409)
  const recalled = async (life: Life): Promise<void> => {
    await captured(life)
    viewOf(await life.refund(life.id))
  }
  const { failed, refunded, cancelled, expired } = ENDED
  const keyed = (key: (life: Life) => string): Row['ask'] => {
    return (life) => life.refund(key(life))
  }
  return [
    { name: 'captured', given: captured, ask: keyed(({ id }) => id), ...becomes('captured') },
    {
      name: 'without a key',
      given: captured,
      ask: (life) => life.refund(),
      ...becomes('captured'),
    },
    { name: 'the same key', given: recalled, ask: keyed(({ id }) => id), ...becomes('captured') },
    {
      name: 'the same key, refunded',
      given: async (life) => {
        await recalled(life)
        await life.returned()
      },
      ask: keyed(({ id }) => id),
      ...becomes('refunded'),
    },
    {
      name: 'another key, when the recall was refused',
      given: async (life) => {
        await recalled(life)
        await life.recallRefused()
      },
      ask: keyed(({ id }) => `${id} again`),
      ...becomes('captured'),
    },
    {
      name: 'another key, under way',
      given: recalled,
      ask: keyed(({ id }) => `${id}+`),
      ...unrefundable,
    },
    {
      name: "another intent's key, before the state",
      given: async (life) => {
        const other = await life.another()
        await captured(other)
        viewOf(await other.refund('a key of another intent'))
      },
      ask,
      ...CONFLICT,
    },
    ...at(
      { scanned, waiting, authorized, failed, refunded, cancelled, expired },
      { ask: keyed(({ id }) => id), ...unrefundable },
    ),
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).refund('k'), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => life.as(STRANGER).refund('k'), ...NOT_FOUND },
  ]
})

for (const [endpoint, ask] of Object.entries({
  get: (life: Life) => life.get(),
  receipt: (life: Life) => life.receipt(),
  'receipt token': (life: Life) => life.mintReceipt(),
})) {
  table(endpoint, () => [
    { name: 'created', ask, ...becomes('created') },
    { name: 'authorized', given: authorized, ask, ...becomes('authorized') },
    ...Object.entries(ENDED).map(([name, given]) => ({ name, given, ask, ...becomes(name) })),
    { name: 'unknown', ask: (life) => ask(life.as(UNKNOWN)), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => ask(life.as(STRANGER)), ...NOT_FOUND },
  ])
}

table("another user's receipt", () => [
  { name: 'captured', given: captured, ask: (life) => life.receipt('x'), ...NOT_FOUND },
])
