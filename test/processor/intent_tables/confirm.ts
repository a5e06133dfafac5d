/**
 * The confirmation: tokens and keys, the bound quote, and what may have changed since the scan.
 */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { viewOf } from '../../support/world.js'
import {
  authorized,
  cancelled,
  captured,
  expired,
  openTenant,
  overdue,
  paidBefore,
  QUOTE_TTL,
  scanned,
  usedUp,
  type Life,
  type Stage,
} from '../intent_life.js'
import {
  ANOTHER_TOKEN,
  at,
  becomes,
  CLOSING,
  refusal,
  STRANGER,
  suspended,
  SUSPENDED,
  UNAUTHENTICATED,
  UNKNOWN,
  type Table,
} from './row.js'

export const confirm: Table = async (world) => {
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
}
