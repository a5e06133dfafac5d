/** Faults of the area `ledger`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const LEDGER: readonly Mutant[] = [
  ...faultsIn('src/ledger/plans.ts', 'ledger/plans', {
    'A completed payout leaves the fee in the reservation.': [
      "    ['rail_clearing', '+', 'recipient'],\n" + "    ['fees', '+', 'fee'],",
      "    ['rail_clearing', '+', 'total'],",
    ],
    'A failed payout is credited to fees.': [
      '  payout_failed: [\n' +
        "    ['reserved', '-', 'total'],\n" +
        "    ['prefund', '+', 'total'],",
      '  payout_failed: [\n' + "    ['reserved', '-', 'total'],\n" + "    ['fees', '+', 'total'],",
    ],
    'A refund leaves the local amount at the rail.': [
      "    ['rail_clearing', '-', 'local'],\n" +
        "    ['fx', '+', 'local'],\n" +
        "    ['fx', '-', 'quote'],",
      "    ['fx', '-', 'quote'],",
    ],
    'Lines of a plan need not sum to zero.': ['assert(sum === 0n,', 'assert(sum === sum,'],
    'A negative part is posted.': [
      "assert(minor >= 0n, 'the parts",
      "assert(minor === minor, 'the parts",
    ],
  }),
  ...faultsIn('src/ledger/accounts.ts', 'ledger/accounts', {
    'The reservation may be overdrawn.': [
      "kind === 'prefund' || kind === 'reserved'",
      "kind === 'prefund'",
    ],
    'Suspense has no upper bound.': [
      "partsOf(account).kind === 'suspense' ? SUSPENSE_MOST : INT64_MAX",
      'INT64_MAX',
    ],
  }),
  ...faultsIn('src/ledger/posting.ts', 'ledger/posting', {
    'Two lines of one account are checked apart.': [
      '(after.get(account) ?? balanceOf(account)) + amount',
      'balanceOf(account) + amount',
    ],
    'A balance may fall below its floor by one.': [
      'if (balance < floor) {',
      'if (balance < floor - 1n) {',
    ],
    'A balance may exceed its ceiling.': [
      'if (balance > ceilingOf(account)) return',
      'if (balance > ceilingOf(account) * 2n) return',
    ],
  }),
  ...faultsIn('src/money/fees.ts', 'money/fees', {
    'A fee of a fraction is rounded down.': [
      'roundUp(amount * BigInt(schedule.platformBps), 10_000n)',
      '(amount * BigInt(schedule.platformBps)) / 10_000n',
    ],
    'A deducted fee may take the whole amount.': [
      'if (fee >= amount) return',
      'if (fee > amount) return',
    ],
    'A total beyond int64 is accepted.': [
      "if (!fitsInt64(total)) return { ok: false, reason: 'overflow' }\n",
      '',
    ],
  }),
  ...faultsIn('src/money/rate.ts', 'money/rate', {
    'A quote is rounded down.': [
      'return (dividend + divisor - 1n) / divisor',
      'return dividend / divisor',
    ],
    'The spread is to the payer.': [
      'numerator * (BPS - BigInt(bps))',
      'numerator * (BPS + BigInt(bps))',
    ],
    'A conversion is rounded up.': [
      'return dividend / (rate.denominator * 10n ** BigInt(exponentOf(from)))',
      'return roundUp(dividend, rate.denominator * 10n ** ' + 'BigInt(exponentOf(from)))',
    ],
  }),
  ...faultsIn('src/quotes/quote.ts', 'quotes/quote', {
    'A quote above the ceiling is accepted.': [
      'if (cents > BigInt(terms.ceilingCents)) return',
      'if (cents < 0n) return',
    ],
    'A quote ignores the spread.': [
      'applySpread(terms.rate, terms.spreadBps)',
      'applySpread(terms.rate, 0)',
    ],
  }),
]
