/** Usage limits of users: periods, caps, counters. */
import fc from 'fast-check'
import t from 'tap'
import { HOUR, instant, type Instant } from '../../src/base/clock.js'
import { tenantOf, type PartnerId, type TenantId } from '../../src/base/ids.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import type { Caps } from '../../src/limits/usage.js'
import { checkLimits, limitKeys, periodsOf } from '../../src/limits/usage.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { CORRIDOR_NAMES, type Corridor } from '../../src/qr/corridor.js'

const at = (text: string) => instant(Date.parse(text))
const moments = fc
  .integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2100, 0, 1) })
  .map((ms) => instant(ms))
const corridors = fc.constantFrom(...CORRIDOR_NAMES)

t.test('day and month change at local midnight, 17:00 UTC', async (t) => {
  const table = [
    ['2026-11-21T04:35:40.123Z', '2026-11-21', '2026-11'],
    ['2026-11-21T16:59:59.999Z', '2026-11-21', '2026-11'],
    ['2026-11-21T17:00:00.000Z', '2026-11-22', '2026-11'],
    ['2026-11-30T16:59:59.999Z', '2026-11-30', '2026-11'],
    ['2026-11-30T17:00:00.000Z', '2026-12-01', '2026-12'],
    ['2026-12-31T17:00:00.000Z', '2027-01-01', '2027-01'],
    ['2028-02-28T17:00:00.000Z', '2028-02-29', '2028-02'],
    ['2028-02-29T17:00:00.000Z', '2028-03-01', '2028-03'],
  ] as const
  for (const [moment, day, month] of table) {
    t.same(periodsOf('vn_vietqr', at(moment)), { day, month }, moment)
  }
})

t.test('the calendar matches the local time zones', async () => {
  const zones = { th_promptpay: 'Asia/Bangkok', vn_vietqr: 'Asia/Ho_Chi_Minh' } as const
  for (const corridor of CORRIDOR_NAMES) {
    const timeZone = zones[corridor]
    const calendar = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
    const isRight = (moment: Instant): boolean =>
      periodsOf(corridor, moment).day === calendar.format(moment)
    fc.assert(fc.property(moments, isRight))
  }
})

t.test('a day belongs to its month and lasts 24 hours', async () => {
  fc.assert(
    fc.property(moments, (moment) => {
      const { day, month } = periodsOf('th_promptpay', moment)
      const next = periodsOf('th_promptpay', instant(moment + 24 * HOUR))
      return day.startsWith(`${month}-`) && next.day > day
    }),
  )
})

/** Defaults of the settings. */
const CAPS = rulesOf(readSettings({}, '')).caps
const vietnam = CAPS.vn_vietqr
const thailand = CAPS.th_promptpay

t.test(
  'a limit may be reached but not exceeded; the first exceeded limit is reported',
  async (t) => {
    const table: readonly [Caps, bigint, bigint, bigint, ReturnType<typeof checkLimits>][] = [
      // caps, used today, used this month, amount
      [vietnam, 0n, 0n, 5_000_000n, 'within'],
      [vietnam, 0n, 0n, 5_000_001n, 'per_transaction'],
      [vietnam, 5_000_000n, 5_000_000n, 5_000_000n, 'within'],
      [vietnam, 5_000_000n, 5_000_000n, 5_000_001n, 'per_transaction'],
      [vietnam, 5_000_001n, 5_000_001n, 5_000_000n, 'per_day'],
      [vietnam, 10_000_000n, 10_000_000n, 1n, 'per_day'],
      [vietnam, 0n, 20_000_000n, 5_000_000n, 'within'],
      [vietnam, 0n, 20_000_001n, 5_000_000n, 'per_month'],
      [vietnam, 10_000_000n, 25_000_000n, 1n, 'per_day'],
      [thailand, 0n, 0n, 50_000_00n, 'within'],
      [thailand, 0n, 0n, 50_000_01n, 'per_transaction'],
      [thailand, 150_000_00n, 150_000_00n, 50_000_00n, 'within'],
      [thailand, 150_000_01n, 150_000_01n, 50_000_00n, 'per_day'],
      [thailand, 0n, 950_000_00n, 50_000_00n, 'within'],
      [thailand, 0n, 950_000_01n, 50_000_00n, 'per_month'],
    ]
    for (const [caps, day, month, amount, verdict] of table) {
      t.equal(checkLimits(caps, { day, month }, amount), verdict, `${day} ${month} + ${amount}`)
    }
  },
)

const isDay = (key: string): boolean => /\d{4}-\d{2}-\d{2}$/.test(key)

t.test('payments in any order never exceed the day or month cap', async () => {
  const payment = fc.record({ at: moments, share: fc.integer({ min: 1, max: 100 }) })
  fc.assert(
    fc.property(
      corridors,
      fc.array(payment, { minLength: 40, maxLength: 60 }),
      (corridor, payments) => {
        const caps = CAPS[corridor]
        const used = new Map<string, bigint>()
        for (const { at, share } of payments) {
          // Twelve days around the end of a month, so that days and months fill up.
          const moment = instant(Date.UTC(2026, 0, 26) + (at % (12 * 24 * HOUR)))
          const keys = limitKeys('demo_sandbox' as TenantId, 'user', corridor, moment)
          const amount = (caps.perTransaction * BigInt(share)) / 100n
          const before = { day: used.get(keys.day) ?? 0n, month: used.get(keys.month) ?? 0n }
          if (checkLimits(caps, before, amount) !== 'within') continue
          used.set(keys.day, before.day + amount)
          used.set(keys.month, before.month + amount)
        }
        return [...used].every(([key, sum]) => sum <= (isDay(key) ? caps.perDay : caps.perMonth))
      },
    ),
  )
})

t.test('caps are in order, and the minimum can be paid', async (t) => {
  for (const { minimum, perTransaction, perDay, perMonth } of Object.values(CAPS)) {
    t.ok(0n < minimum && minimum <= perTransaction)
    t.ok(perTransaction <= perDay && perDay <= perMonth)
  }
  t.equal(thailand.minimum, 100n, '1.00 THB')
  t.equal(vietnam.minimum, 1_000n, '1,000 VND')
})

t.test('counters of two users never share a key', async () => {
  interface Owner {
    readonly partner: string
    readonly environment: 'sandbox' | 'production'
    readonly user: string
    readonly corridor: Corridor
  }
  const owner: fc.Arbitrary<Owner> = fc.record({
    partner: fc.constantFrom('a', 'ab', 'a_b'),
    environment: fc.constantFrom('sandbox', 'production'),
    user: fc.oneof(
      fc.constantFrom('u', 'u:th_promptpay', '"u"', 'u","th_promptpay"]', 'u 2026-11-21'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
    ),
    corridor: corridors,
  })
  const keysOf = ({ partner, environment, user, corridor }: Owner) =>
    limitKeys(tenantOf(partner as PartnerId, environment), user, corridor, at('2026-11-21'))
  const change = fc.oneof(
    owner,
    ...(['partner', 'environment', 'user', 'corridor'] as const).map((member) =>
      owner.map((other) => ({ [member]: other[member] })),
    ),
  )
  fc.assert(
    fc.property(owner, change, (one, changed) => {
      const other = { ...one, ...changed }
      const same = JSON.stringify(one) === JSON.stringify(other)
      const [a, b] = [keysOf(one), keysOf(other)]
      return (a.day === b.day) === same && (a.month === b.month) === same && a.day !== b.month
    }),
  )
})

t.test('a key changes only with its period', async (t) => {
  const keysAt = (text: string) =>
    limitKeys('demo_sandbox' as TenantId, 'user', 'vn_vietqr', at(text))
  const morning = keysAt('2026-11-21T01:00:00Z')
  t.same(keysAt('2026-11-21T16:00:00Z'), morning)
  const nextDay = keysAt('2026-11-21T17:00:00Z')
  t.not(nextDay.day, morning.day)
  t.equal(nextDay.month, morning.month)
  t.not(keysAt('2026-12-21T01:00:00Z').month, morning.month)
})
