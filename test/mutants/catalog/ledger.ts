/** Faults of the area `ledger`. */
import type { Mutant } from '../mutant.js'

export const LEDGER: readonly Mutant[] = [
  {
    fault: 'A completed payout leaves the fee in the reservation.',
    file: 'src/ledger/plans.ts',
    text: "    ['rail_clearing', '+', 'recipient'],\n" + "    ['fees', '+', 'fee'],",
    replacement: "    ['rail_clearing', '+', 'total'],",
    test: 'test/ledger/plans',
  },
  {
    fault: 'A failed payout is credited to fees.',
    file: 'src/ledger/plans.ts',
    text:
      '  payout_failed: [\n' +
      "    ['reserved', '-', 'total'],\n" +
      "    ['prefund', '+', 'total'],",
    replacement:
      '  payout_failed: [\n' + "    ['reserved', '-', 'total'],\n" + "    ['fees', '+', 'total'],",
    test: 'test/ledger/plans',
  },
  {
    fault: 'A refund leaves the local amount at the rail.',
    file: 'src/ledger/plans.ts',
    text:
      "    ['rail_clearing', '-', 'local'],\n" +
      "    ['fx', '+', 'local'],\n" +
      "    ['fx', '-', 'quote'],",
    replacement: "    ['fx', '-', 'quote'],",
    test: 'test/ledger/plans',
  },
  {
    fault: 'Lines of a plan need not sum to zero.',
    file: 'src/ledger/plans.ts',
    text: 'assert(sum === 0n,',
    replacement: 'assert(sum === sum,',
    test: 'test/ledger/plans',
  },
  {
    fault: 'A negative part is posted.',
    file: 'src/ledger/plans.ts',
    text: "assert(minor >= 0n, 'the parts",
    replacement: "assert(minor === minor, 'the parts",
    test: 'test/ledger/plans',
  },
  {
    fault: 'The reservation may be overdrawn.',
    file: 'src/ledger/accounts.ts',
    text: "kind === 'prefund' || kind === 'reserved'",
    replacement: "kind === 'prefund'",
    test: 'test/ledger/accounts',
  },
  {
    fault: 'Suspense has no upper bound.',
    file: 'src/ledger/accounts.ts',
    text: "partsOf(account).kind === 'suspense' ? SUSPENSE_MOST : INT64_MAX",
    replacement: 'INT64_MAX',
    test: 'test/ledger/accounts',
  },
  {
    fault: 'Two lines of one account are checked apart.',
    file: 'src/ledger/posting.ts',
    text: '(after.get(account) ?? balanceOf(account)) + amount',
    replacement: 'balanceOf(account) + amount',
    test: 'test/ledger/posting',
  },
  {
    fault: 'A balance may fall below its floor by one.',
    file: 'src/ledger/posting.ts',
    text: 'if (balance < floor) {',
    replacement: 'if (balance < floor - 1n) {',
    test: 'test/ledger/posting',
  },
  {
    fault: 'A balance may exceed its ceiling.',
    file: 'src/ledger/posting.ts',
    text: 'if (balance > ceilingOf(account)) return',
    replacement: 'if (balance > ceilingOf(account) * 2n) return',
    test: 'test/ledger/posting',
  },
  {
    fault: 'A fee of a fraction is rounded down.',
    file: 'src/money/fees.ts',
    text: 'roundUp(amount * BigInt(schedule.platformBps), 10_000n)',
    replacement: '(amount * BigInt(schedule.platformBps)) / 10_000n',
    test: 'test/money/fees',
  },
  {
    fault: 'A deducted fee may take the whole amount.',
    file: 'src/money/fees.ts',
    text: 'if (fee >= amount) return',
    replacement: 'if (fee > amount) return',
    test: 'test/money/fees',
  },
  {
    fault: 'A total beyond int64 is accepted.',
    file: 'src/money/fees.ts',
    text: "if (!fitsInt64(total)) return { ok: false, reason: 'overflow' }\n",
    replacement: '',
    test: 'test/money/fees',
  },
  {
    fault: 'A quote is rounded down.',
    file: 'src/money/rate.ts',
    text: 'return (dividend + divisor - 1n) / divisor',
    replacement: 'return dividend / divisor',
    test: 'test/money/rate',
  },
  {
    fault: 'The spread is to the payer.',
    file: 'src/money/rate.ts',
    text: 'numerator * (BPS - BigInt(bps))',
    replacement: 'numerator * (BPS + BigInt(bps))',
    test: 'test/money/rate',
  },
  {
    fault: 'A conversion is rounded up.',
    file: 'src/money/rate.ts',
    text: 'return dividend / (rate.denominator * 10n ** BigInt(exponentOf(from)))',
    replacement:
      'return roundUp(dividend, rate.denominator * 10n ** ' + 'BigInt(exponentOf(from)))',
    test: 'test/money/rate',
  },
  {
    fault: 'A quote above the ceiling is accepted.',
    file: 'src/quotes/quote.ts',
    text: 'if (cents > BigInt(terms.ceilingCents)) return',
    replacement: 'if (cents < 0n) return',
    test: 'test/quotes/quote',
  },
  {
    fault: 'A quote ignores the spread.',
    file: 'src/quotes/quote.ts',
    text: 'applySpread(terms.rate, terms.spreadBps)',
    replacement: 'applySpread(terms.rate, 0)',
    test: 'test/quotes/quote',
  },
]
