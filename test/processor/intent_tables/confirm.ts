/** Confirmation: tokens, idempotency keys, the bound quote, and changes since the scan. */
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
  type Stage,
} from '../intent_lifecycle.js'
import {
  ANOTHER_TOKEN,
  at,
  becomes,
  CLOSING,
  created,
  inTurn,
  NOT_ENABLED,
  ofOthers,
  refusal,
  suspended,
  SUSPENDED,
  UNAUTHENTICATED,
  withoutCorridor,
  type Request,
  type Table,
} from './row.js'

const A = { idempotency_key: 'a' }
const B = { idempotency_key: 'b' }
const OTHER_QUOTE = { quote_id: 'qt_00000000000000000000000000' }

const confirmed =
  (over: object = {}): Request =>
  (lifecycle) =>
    lifecycle.confirm(over)
const withItsQuote: Request = async (lifecycle) =>
  lifecycle.confirm({ quote_id: (await lifecycle.see()).quote!.quote_id, quote_version: 1 })

const scannedAt =
  (amount: string, over = {}): Stage =>
  async (lifecycle) =>
    void viewOf(await lifecycle.scan(amount, over))
const acknowledged = scannedAt('36000', { duplicate_confirmed: true })
const stale: Stage = async (lifecycle) => {
  await scanned(lifecycle)
  lifecycle.world.clock.pass(QUOTE_TTL)
}
const keyed: Stage = async (lifecycle) => {
  await scanned(lifecycle)
  viewOf(await lifecycle.confirm(A))
}
const executed: Stage = (lifecycle) => lifecycle.executed()
const refused: Stage = (lifecycle) => lifecycle.refused()
const refusedUnscanned: Stage = async (lifecycle) => void (await lifecycle.confirm(A))
const refusedForCorridor: Stage = async (lifecycle) =>
  void (await withoutCorridor(confirmed(A))(lifecycle))
/** Four other intents have scanned before the last; each fits the limits alone. */
const scannedThenUsedUp = inTurn(scannedAt('5000000'), usedUp)

export const confirm: Table = async (world) => {
  const unfunded = { tenant: await openTenant(world, 'unfunded', {}) }
  // Exactly the cost of four payments of 50,000 baht.
  const saving = { tenant: await openTenant(world, 'saving', {}, 4n * 138_889n) }
  const closing = { tenant: await openTenant(world, CLOSING, {}, 1_000_000n) }
  const ok = becomes('authorized')
  const unconfirmable = refusal('payment_intent_not_confirmable', 409)
  const unquoted = refusal('quote_required', 409)
  const changed = refusal('quote_changed', 409)
  const late = refusal('quote_expired', 409)
  const duplicate = refusal('duplicate_scan', 409)
  const limited = refusal('user_limit_exceeded', 409)
  const insufficient = refusal('insufficient_balance', 409)
  const already = refusal('already_confirmed', 409)
  return [
    ['scanned', scanned, confirmed(), ok],
    ['the bound quote', scanned, withItsQuote, ok],
    ...ofOthers(confirmed(), UNAUTHENTICATED, scanned),
    ['the same key', keyed, confirmed(A), ok],
    [
      'the same key with a fresh token, captured',
      inTurn(keyed, executed),
      confirmed({ ...A, ...ANOTHER_TOKEN }),
      becomes('captured'),
    ],
    ['the same key, failed', inTurn(keyed, refused), confirmed(A), becomes('failed')],
    ['the token and the key of a refusal', inTurn(refusedUnscanned, scanned), confirmed(A), ok],
    ['a consumed token without a key', authorized, confirmed(), UNAUTHENTICATED],
    ['a consumed token with another key', keyed, confirmed(B), UNAUTHENTICATED],
    ['a consumed token, captured', captured, confirmed(), UNAUTHENTICATED],
    ['a fresh token, authorized', authorized, confirmed(ANOTHER_TOKEN), already],
    ['a fresh token, captured', captured, confirmed(ANOTHER_TOKEN), already],
    ['a fresh token with another key', keyed, confirmed({ ...B, ...ANOTHER_TOKEN }), already],
    [
      'suspended, before all that follows',
      created,
      suspended(confirmed(OTHER_QUOTE)),
      SUSPENDED,
      closing,
    ],
    [
      'without its corridor, before the quote',
      scanned,
      withoutCorridor(confirmed(OTHER_QUOTE)),
      NOT_ENABLED,
      closing,
    ],
    [
      'the token and the key of a refusal for its corridor',
      inTurn(scanned, refusedForCorridor),
      confirmed(A),
      ok,
      closing,
    ],
    [
      'authorized before its corridor was taken',
      keyed,
      withoutCorridor(confirmed({ ...A, ...ANOTHER_TOKEN })),
      ok,
      closing,
    ],
    ...at({ cancelled, expired }, confirmed(), unconfirmable),
    ['overdue, before the quote', overdue, confirmed(), unconfirmable],
    ['not scanned', created, confirmed(), unquoted],
    ['not scanned, before the quote', created, confirmed(OTHER_QUOTE), unquoted],
    ['another quote', scanned, confirmed(OTHER_QUOTE), changed],
    ['another version', scanned, confirmed({ quote_version: 2 }), changed],
    ['a replaced quote', inTurn(scanned, scanned), confirmed({ quote_version: 1 }), changed],
    ['another quote, before its end', stale, confirmed(OTHER_QUOTE), changed],
    ['an ended quote', stale, confirmed(), late],
    ['an ended quote, before a duplicate', inTurn(stale, paidBefore), confirmed(), late],
    ['a duplicate paid after the scan', inTurn(scanned, paidBefore), confirmed(), duplicate],
    [
      'a duplicate paid after the scan, acknowledged',
      inTurn(paidBefore, acknowledged),
      confirmed(),
      ok,
    ],
    [
      'a duplicate acknowledged for the replaced quote only',
      inTurn(acknowledged, scanned, paidBefore),
      confirmed(),
      duplicate,
    ],
    ['a duplicate, before the limits', scannedThenUsedUp, confirmed(), duplicate],
    ['the limits', inTurn(scannedAt('100'), usedUp), confirmed(), limited],
    [
      'the limits, before the money',
      inTurn(scannedAt('4999999'), usedUp),
      confirmed(),
      limited,
      saving,
    ],
    ['no money', scanned, confirmed(), insufficient, unfunded],
  ]
}
