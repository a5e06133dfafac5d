/** Fees: rounding, bounds, refusals. */
import fc from 'fast-check'
import t from 'tap'
import { feesFor, type FeeSchedule } from '../../src/money/fees.js'
import { fitsInt64, INT64_MAX } from '../../src/money/money.js'

const schedule = (changes: Partial<FeeSchedule>): FeeSchedule => ({
  platformFixed: 10_00n,
  platformBps: 20,
  railFixed: 5_00n,
  handling: 'on_top',
  refundFeesOnReversal: true,
  ...changes,
})

const notNegative = fc.oneof(
  fc.bigInt({ min: 0n, max: 10_000n }),
  fc.bigInt({ min: 0n, max: INT64_MAX }),
)
const amounts = fc.oneof(
  fc.bigInt({ min: 1n, max: 10_000n }),
  fc.bigInt({ min: 1n, max: INT64_MAX }),
  fc.bigInt({ min: INT64_MAX - 10_000n, max: INT64_MAX }),
)
const schedules = fc.record({
  platformFixed: notNegative,
  platformBps: fc.integer({ min: 0, max: 10_000 }),
  railFixed: notNegative,
  handling: fc.constantFrom('on_top', 'deducted'),
  refundFeesOnReversal: fc.boolean(),
})

t.test('fees match hand-computed figures', async (t) => {
  const onTop = schedule({})
  const deducted = schedule({ handling: 'deducted' })
  t.same(feesFor(1_000_00n, onTop), {
    ok: true,
    platform: 12_00n,
    rail: 5_00n,
    fee: 17_00n,
    recipient: 1_000_00n,
    total: 1_017_00n,
  })
  t.same(feesFor(1_000_00n, deducted), {
    ok: true,
    platform: 12_00n,
    rail: 5_00n,
    fee: 17_00n,
    recipient: 983_00n,
    total: 1_000_00n,
  })
})

t.test('a percentage rounds up to the minor unit', async (t) => {
  const only = (platformBps: number) => schedule({ platformFixed: 0n, railFixed: 0n, platformBps })
  const table = [
    [1n, 1, 1n],
    [10_000n, 1, 1n],
    [10_001n, 1, 2n],
    [500n, 20, 1n],
    [501n, 20, 2n],
    [1n, 0, 0n],
  ] as const
  for (const [amount, bps, fee] of table) {
    t.match(feesFor(amount, only(bps)), { ok: true, fee }, `${amount} at ${bps} bps`)
  }
})

t.test('total = recipient + fee, and the chosen side gets the amount', async () => {
  fc.assert(
    fc.property(amounts, schedules, (amount, given) => {
      const fees = feesFor(amount, given)
      if (!fees.ok) return true
      const { platform, rail, fee, recipient, total } = fees
      const asked = given.handling === 'on_top' ? recipient : total
      return fee === platform + rail && total === recipient + fee && asked === amount
    }),
  )
})

t.test('all results fit int64, and the recipient gets a positive amount', async () => {
  fc.assert(
    fc.property(amounts, schedules, (amount, given) => {
      const fees = feesFor(amount, given)
      if (!fees.ok) return true
      const { platform, rail, fee, recipient, total } = fees
      const parts = [platform, rail, fee, recipient, total]
      return parts.every((part) => part >= 0n && fitsInt64(part)) && recipient > 0n
    }),
  )
})

t.test('fees are refused exactly when they exceed the amount or overflow', async () => {
  fc.assert(
    fc.property(amounts, schedules, (amount, given) => {
      const exactBps = amount * BigInt(given.platformBps)
      const percentage = exactBps / 10_000n + (exactBps % 10_000n === 0n ? 0n : 1n)
      const fee = given.platformFixed + percentage + given.railFixed
      const outcome = feesFor(amount, given)
      if (given.handling === 'deducted') return outcome.ok === fee < amount
      return outcome.ok === fitsInt64(amount + fee)
    }),
  )
})

t.test('fees are exact at the bounds of the amount', async (t) => {
  const one = { platformFixed: 1n, platformBps: 0, railFixed: 0n }
  const onTop = schedule(one)
  const deducted = schedule({ ...one, handling: 'deducted' })
  t.match(feesFor(INT64_MAX - 1n, onTop), { ok: true, total: INT64_MAX })
  t.same(feesFor(INT64_MAX, onTop), { ok: false, reason: 'overflow' })
  t.match(feesFor(INT64_MAX, deducted), { ok: true, total: INT64_MAX, recipient: INT64_MAX - 1n })
  t.match(feesFor(2n, deducted), { ok: true, recipient: 1n })
  t.same(feesFor(1n, deducted), { ok: false, reason: 'fee_exceeds_amount' })
  for (const wrong of [0n, -1n, INT64_MAX + 1n]) t.throws(() => feesFor(wrong, onTop), `${wrong}`)
})
