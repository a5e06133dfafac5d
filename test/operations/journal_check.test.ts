/** What a journal is compared with: an entry that is missing or changed is noticed. */
import t from 'tap'
import { createJournalCheck } from '../../src/operations/money/journal_check.js'
import type { BalanceLine, LedgerEntry } from '../../src/operations/money/ledger_client.js'

const entry = (posting: string, account: string, amount: string, balance: string): LedgerEntry => ({
  ...{ posting, account, amount, balance, currency: 'USD', tenant: 'demo_sandbox' },
  ...{ line: 1, at: '0', type: 'deposit', entity: 'dep_1' },
})
const line = (account: string, balance: string): BalanceLine => ({
  ...{ tenant: 'demo_sandbox', currency: 'USD', account, balance },
})

/** After 50 were deposited before the period. */
const ENTRIES = [
  ...[entry('7', 'funding', '-100', '-150'), entry('7', 'prefund', '100', '150')],
  ...[entry('8', 'prefund', '-30', '120'), entry('8', 'reserved', '30', '30')],
  ...[entry('9', 'prefund', '-20', '100'), entry('9', 'reserved', '20', '50')],
]
const BALANCES = [line('funding', '-150'), line('prefund', '100'), line('reserved', '50')]

function checked(entries: readonly LedgerEntry[], balances: readonly BalanceLine[]) {
  const check = createJournalCheck()
  check.addOpening([line('funding', '-50'), line('prefund', '50')])
  for (const each of entries) check.add(each)
  check.addClosing(balances)
  return check.end()
}

t.test('a whole journal', async (t) => {
  const { totals, faults } = checked(ENTRIES, [...BALANCES, line('fx', '0')])
  t.same(faults, [])
  const of = { environment: 'sandbox', currency: 'USD' }
  t.same(totals, [
    { ...of, account: 'funding', opening: -50n, debit: 100n, credit: 0n, closing: -150n },
    { ...of, account: 'fx', opening: 0n, debit: 0n, credit: 0n, closing: 0n },
    { ...of, account: 'prefund', opening: 50n, debit: 50n, credit: 100n, closing: 100n },
    { ...of, account: 'reserved', opening: 0n, debit: 0n, credit: 50n, closing: 50n },
  ])
})

t.test('each fault', async (t) => {
  const without = (posting: string) => ENTRIES.filter((each) => each.posting !== posting)
  const changed = ENTRIES.map((each, i) => (i === 3 ? { ...each, amount: '31' } : each))
  t.match(checked(without('8'), BALANCES).faults, [
    'demo_sandbox:USD:prefund: an entry before posting 9 is missing',
    'demo_sandbox:USD:reserved begins at 30, and was 0 before',
  ])
  t.match(checked(without('9'), BALANCES).faults, [
    'demo_sandbox:USD:prefund ends at 120, and is 100 in the trial balance',
    'demo_sandbox:USD:reserved ends at 30, and is 50 in the trial balance',
  ])
  t.match(checked(changed, BALANCES).faults, ['posting 8 does not sum to zero in USD'])
  t.match(checked(ENTRIES, BALANCES.slice(1)).faults, [
    'demo_sandbox:USD:funding is missing in the trial balance',
    'the balances in USD sum to 150',
  ])
})
