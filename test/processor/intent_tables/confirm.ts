/** Confirmation: tokens, idempotency keys, the bound quote, and changes since the scan. */
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
  type Lifecycle,
  type Stage,
} from '../intent_lifecycle.js'
import {
  ANOTHER_TOKEN,
  at,
  becomes,
  CLOSING,
  NOT_ENABLED,
  refusal,
  OTHER_TENANT,
  suspended,
  SUSPENDED,
  UNAUTHENTICATED,
  UNKNOWN,
  withoutCorridor,
  type Table,
} from './row.js'

export const confirm: Table = async (world) => {
  const unfunded = await openTenant(world, 'unfunded', {})
  // Exactly the cost of four payments of 50,000 baht.
  const saving = await openTenant(world, 'saving', {}, 4n * 138_889n)
  const request = (lifecycle: Lifecycle): Promise<Answer> => lifecycle.confirm()
  const withoutFunds = { tenant: unfunded }
  const unconfirmable = refusal('payment_intent_not_confirmable', 409)
  const unquoted = refusal('quote_required', 409)
  const changed = refusal('quote_changed', 409)
  const late = refusal('quote_expired', 409)
  const duplicate = refusal('duplicate_scan', 409)
  const limited = refusal('user_limit_exceeded', 409)
  const insufficient = refusal('insufficient_balance', 409)
  const confirmed = refusal('already_confirmed', 409)
  const OTHER_QUOTE = { quote_id: 'qt_00000000000000000000000000' }

  const stale = async (lifecycle: Lifecycle): Promise<void> => {
    await scanned(lifecycle)
    lifecycle.world.clock.pass(QUOTE_TTL)
  }
  const scannedThenPaid = async (lifecycle: Lifecycle): Promise<void> => {
    await scanned(lifecycle)
    await paidBefore(lifecycle)
  }
  /** Four other intents have scanned before the last; each fits the limits alone. */
  const scannedThenUsedUp = async (lifecycle: Lifecycle): Promise<void> => {
    viewOf(await lifecycle.scan('5000000'))
    await usedUp(lifecycle)
  }
  const keyed: Stage = async (lifecycle) => {
    await scanned(lifecycle)
    viewOf(await lifecycle.confirm({ idempotency_key: 'a' }))
  }
  const keyedAnd = (then: Stage): Stage => {
    return async (lifecycle) => {
      await keyed(lifecycle)
      await then(lifecycle)
    }
  }
  return [
    { name: 'scanned', given: scanned, request, ...becomes('authorized') },
    {
      name: 'the bound quote',
      given: scanned,
      request: async (lifecycle) =>
        lifecycle.confirm({ quote_id: (await lifecycle.see()).quote!.quote_id, quote_version: 1 }),
      ...becomes('authorized'),
    },
    {
      name: 'unknown',
      request: (lifecycle) => lifecycle.as(UNKNOWN).confirm(),
      ...UNAUTHENTICATED,
    },
    {
      name: "another tenant's",
      given: scanned,
      request: (lifecycle) => lifecycle.as(OTHER_TENANT).confirm(),
      ...UNAUTHENTICATED,
    },
    {
      name: 'the same key',
      given: keyed,
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'a' }),
      ...becomes('authorized'),
    },
    {
      name: 'the same key with a fresh token, captured',
      given: keyedAnd((lifecycle) => lifecycle.executed()),
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'a', ...ANOTHER_TOKEN }),
      ...becomes('captured'),
    },
    {
      name: 'the same key, failed',
      given: keyedAnd((lifecycle) => lifecycle.refused()),
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'a' }),
      ...becomes('failed'),
    },
    {
      name: 'the token and the key of a refusal',
      given: async (lifecycle) => {
        await lifecycle.confirm({ idempotency_key: 'a' })
        await scanned(lifecycle)
      },
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'a' }),
      ...becomes('authorized'),
    },
    { name: 'a consumed token without a key', given: authorized, request, ...UNAUTHENTICATED },
    {
      name: 'a consumed token with another key',
      given: keyed,
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'b' }),
      ...UNAUTHENTICATED,
    },
    { name: 'a consumed token, captured', given: captured, request, ...UNAUTHENTICATED },
    ...at(
      { 'a fresh token, authorized': authorized, 'a fresh token, captured': captured },
      { request: (lifecycle) => lifecycle.confirm(ANOTHER_TOKEN), ...confirmed },
    ),
    {
      name: 'a fresh token with another key',
      given: keyed,
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'b', ...ANOTHER_TOKEN }),
      ...confirmed,
    },
    {
      name: 'suspended, before all that follows',
      options: { tenant: await openTenant(world, CLOSING, {}) },
      request: suspended((lifecycle) => lifecycle.confirm(OTHER_QUOTE)),
      ...SUSPENDED,
    },
    {
      name: 'without its corridor, before the quote',
      options: { tenant: await openTenant(world, CLOSING, {}) },
      given: scanned,
      request: withoutCorridor((lifecycle) => lifecycle.confirm(OTHER_QUOTE)),
      ...NOT_ENABLED,
    },
    {
      name: 'the token and the key of a refusal for its corridor',
      options: { tenant: await openTenant(world, CLOSING, {}, 1_000_000n) },
      given: async (lifecycle) => {
        await scanned(lifecycle)
        await withoutCorridor(() => lifecycle.confirm({ idempotency_key: 'a' }))(lifecycle)
      },
      request: (lifecycle) => lifecycle.confirm({ idempotency_key: 'a' }),
      ...becomes('authorized'),
    },
    {
      name: 'authorized before its corridor was taken',
      options: { tenant: await openTenant(world, CLOSING, {}) },
      given: keyed,
      request: withoutCorridor((lifecycle) =>
        lifecycle.confirm({ idempotency_key: 'a', ...ANOTHER_TOKEN }),
      ),
      ...becomes('authorized'),
    },
    ...at({ cancelled, expired }, { request, ...unconfirmable }),
    { name: 'overdue, before the quote', given: overdue, request, ...unconfirmable },
    { name: 'not scanned', request, ...unquoted },
    {
      name: 'not scanned, before the quote',
      request: (lifecycle) => lifecycle.confirm(OTHER_QUOTE),
      ...unquoted,
    },
    {
      name: 'another quote',
      given: scanned,
      request: (lifecycle) => lifecycle.confirm(OTHER_QUOTE),
      ...changed,
    },
    {
      name: 'another version',
      given: scanned,
      request: (lifecycle) => lifecycle.confirm({ quote_version: 2 }),
      ...changed,
    },
    {
      name: 'a replaced quote',
      given: async (lifecycle) => {
        await scanned(lifecycle)
        await scanned(lifecycle)
      },
      request: (lifecycle) => lifecycle.confirm({ quote_version: 1 }),
      ...changed,
    },
    {
      name: 'another quote, before its end',
      given: stale,
      request: (lifecycle) => lifecycle.confirm(OTHER_QUOTE),
      ...changed,
    },
    { name: 'an ended quote', given: stale, request, ...late },
    {
      name: 'an ended quote, before a duplicate',
      given: async (lifecycle) => {
        await stale(lifecycle)
        await paidBefore(lifecycle)
      },
      request,
      ...late,
    },
    { name: 'a duplicate paid after the scan', given: scannedThenPaid, request, ...duplicate },
    {
      name: 'a duplicate paid after the scan, acknowledged',
      given: async (lifecycle) => {
        await paidBefore(lifecycle)
        viewOf(await lifecycle.scan('36000', { duplicate_confirmed: true }))
      },
      request,
      ...becomes('authorized'),
    },
    {
      name: 'a duplicate acknowledged for the replaced quote only',
      given: async (lifecycle) => {
        viewOf(await lifecycle.scan('36000', { duplicate_confirmed: true }))
        await scanned(lifecycle)
        await paidBefore(lifecycle)
      },
      request,
      ...duplicate,
    },
    { name: 'a duplicate, before the limits', given: scannedThenUsedUp, request, ...duplicate },
    {
      name: 'the limits',
      given: async (lifecycle) => {
        viewOf(await lifecycle.scan('100'))
        await usedUp(lifecycle)
      },
      request,
      ...limited,
    },
    {
      name: 'the limits, before the money',
      options: { tenant: saving },
      given: async (lifecycle) => {
        viewOf(await lifecycle.scan('4999999'))
        await usedUp(lifecycle)
      },
      request,
      ...limited,
    },
    { name: 'no money', options: withoutFunds, given: scanned, request, ...insufficient },
  ]
}
