/** Quotes: terms, rounding, ceiling. */
import fc from 'fast-check'
import t from 'tap'
import { AMOUNT_USD_CENTS_MAX } from '../../src/base/constants.js'
import { instant, MINUTE, plus } from '../../src/base/clock.js'
import type { QuoteId } from '../../src/base/ids.js'
import { THB, USD, VND, type Currency } from '../../src/money/currency.js'
import { INT64_MAX } from '../../src/money/money.js'
import { applySpread, convert, parseRate, type Rate } from '../../src/money/rate.js'
import { hasExpired, makeQuote, type QuoteTerms } from '../../src/quotes/quote.js'

function rateOf(text: string): Rate {
  const parsed = parseRate(text)
  if (parsed === undefined) throw new Error(`not a rate: ${text}`)
  return parsed
}

const terms = (changes: Partial<QuoteTerms>): QuoteTerms => ({
  id: 'qt_00000000000000000000000001' as QuoteId,
  version: 1,
  localMinor: 100_00n,
  currency: THB,
  rate: rateOf('36.00'),
  spreadBps: 0,
  ceilingCents: 10_000,
  expiresAt: instant(1_795_000_300_000),
  acknowledgedDuplicate: false,
  ...changes,
})

t.test('a quote keeps its terms and rate', async (t) => {
  const changes = { version: 3, spreadBps: 100, acknowledgedDuplicate: true }
  t.same(makeQuote(terms(changes)), {
    ok: true,
    quote: {
      id: 'qt_00000000000000000000000001',
      version: 3,
      cents: 281,
      localMinor: '10000',
      currency: 'THB',
      expiresAt: 1_795_000_300_000,
      rate: { numerator: '35640000', denominator: '1000000' },
      acknowledgedDuplicate: true,
    },
  })
})

t.test('a quote has expired from its moment on, and when its clock was ahead', async (t) => {
  const [ttl, now] = [5 * MINUTE, instant(1_795_000_000_000)]
  for (const [left, isOver] of [
    [-1, true],
    [0, true],
    [1, false],
    [ttl, false],
    [ttl + MINUTE, false], // clocks differ by less
    [ttl + MINUTE + 1, true],
  ] as const) {
    t.equal(hasExpired(plus(now, left), ttl, now), isOver, `${left} ms left`)
  }
})

t.test('a quote survives a JSON round trip', async (t) => {
  const dong = { localMinor: 125_000n, currency: VND, rate: rateOf('26500') }
  const made = makeQuote(terms(dong))
  if (!made.ok) return void t.fail(made.code)
  t.strictSame(JSON.parse(JSON.stringify(made.quote)), made.quote)
})

t.test('a quote may reach the ceiling but not exceed it', async (t) => {
  const table = [
    [278, true],
    [277, false],
    [1, false],
  ] as const
  for (const [ceilingCents, ok] of table) {
    t.equal(makeQuote(terms({ ceilingCents })).ok, ok, `ceiling ${ceilingCents}`)
  }
  t.same(makeQuote(terms({ ceilingCents: 277 })), {
    ok: false,
    code: 'quote_exceeds_intent_amount',
  })
})

t.test('a local amount is quoted in full or refused, never truncated', async () => {
  const amount = fc.oneof(
    fc.bigInt({ min: 1n, max: 10_000_000n }),
    fc.bigInt({ min: 1n, max: INT64_MAX }),
  )
  const corridor = fc.constantFrom<readonly [Currency, string]>([THB, '36.00'], [VND, '26500'])
  const ceiling = fc.integer({ min: 1, max: AMOUNT_USD_CENTS_MAX })
  const spread = fc.integer({ min: 0, max: 5_000 })
  fc.assert(
    fc.property(amount, corridor, ceiling, spread, (localMinor, [currency, text], max, bps) => {
      const given = { localMinor, currency, ceilingCents: max, spreadBps: bps }
      const made = makeQuote(terms({ ...given, rate: rateOf(text) }))
      const lowered = applySpread(rateOf(text), bps)
      if (!made.ok) return convert(BigInt(max), USD, currency, lowered) < localMinor
      const { cents, localMinor: kept } = made.quote
      const bought = convert(BigInt(cents), USD, currency, lowered)
      return cents >= 1 && cents <= max && kept === `${localMinor}` && bought >= localMinor
    }),
  )
})
