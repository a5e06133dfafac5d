/**
 * The ledger: every sum and every balance recomputed from its entries.
 *
 * - Only an entry's amount is trusted. Sums are bigint, never SQL's.
 * - The first check over postings reads the entries once for all of them: most of their time is
 *   reading.
 */
import type { Books } from '../books.js'
import { amountOf, type Check, type Finding, type Violation } from '../check.js'

interface Entry {
  readonly posting: number
  readonly line: number
  readonly account: string
  readonly amount: bigint
  /** The account's balance after it, as stored. */
  readonly balance: bigint
  readonly plan: string
  readonly entity: string
  readonly at: number
}

interface EntryRow extends Omit<Entry, 'amount' | 'balance'> {
  readonly amount: string
  readonly balance: string
}

const ENTRIES = `
  SELECT posting, line, account, CAST(amount AS TEXT) AS amount, CAST(balance AS TEXT) AS balance,
         plan, entity, at
    FROM ledger_entries WHERE (posting, line) > (?, ?) ORDER BY posting, line LIMIT ?`

/** All postings in order, each with its lines. */
async function* postings(books: Books): AsyncGenerator<readonly Entry[]> {
  let lines: Entry[] = []
  const rows = books.pages<EntryRow>(ENTRIES, [0, 0], ({ posting, line }) => [posting, line])
  for await (const page of rows) {
    for (const row of page) {
      if (lines.length > 0 && lines[0]?.posting !== row.posting) {
        yield lines
        lines = []
      }
      lines.push({ ...row, amount: amountOf(row.amount), balance: amountOf(row.balance) })
    }
  }
  if (lines.length > 0) yield lines
}

interface Evaluator {
  /** Called with each posting's lines. */
  posting(lines: readonly Entry[]): Violation | null
  /** Called once after the last posting. */
  end?(): Promise<Violation | null>
}

interface LedgerCheck {
  readonly name: string
  readonly sentence: string
  readonly evaluator: (books: Books) => Evaluator
}

const LEDGER_CHECKS: LedgerCheck[] = []
const findings = new WeakMap<Books, Promise<ReadonlyMap<LedgerCheck, Finding>>>()

export function overPostings(check: LedgerCheck): Check {
  LEDGER_CHECKS.push(check)
  const { name, sentence } = check
  return {
    name,
    sentence,
    reads: [],
    run: async (books) => {
      const known = findings.get(books) ?? readLedger(books)
      findings.set(books, known)
      return (await known).get(check)!
    },
  }
}

/** The finding of each check: its first violation. */
async function readLedger(books: Books): Promise<ReadonlyMap<LedgerCheck, Finding>> {
  const found = new Map<LedgerCheck, Finding>()
  const open = new Map(LEDGER_CHECKS.map((check) => [check, check.evaluator(books)]))
  let rows = 0
  for await (const lines of postings(books)) {
    rows += lines.length
    for (const [check, evaluator] of open) {
      const broken = evaluator.posting(lines)
      if (broken === null) continue
      found.set(check, { rows, broken })
      open.delete(check)
    }
  }
  for (const [check, { end }] of open) found.set(check, { rows, broken: (await end?.()) ?? null })
  return found
}

/** The members that all lines of a posting share. */
const headOf = ({ posting, account, plan, entity, at }: Entry): string =>
  `posting ${posting} of ${account.split(':')[0]}, ${plan} for ${entity} at ${at}`

const currencyOf = (account: string): string => account.split(':')[1] ?? ''
const kindOf = (account: string): string => account.split(':')[2] ?? ''

function addTo(sums: Map<string, bigint>, key: string, amount: bigint): bigint {
  const sum = (sums.get(key) ?? 0n) + amount
  sums.set(key, sum)
  return sum
}

export const postingsSumToZero = overPostings({
  name: 'postings_sum_to_zero',
  sentence: 'The lines of a posting have one tenant and entity and sum to zero in each currency.',
  evaluator: () => ({
    posting: (lines) => {
      const sums = new Map<string, bigint>()
      for (const { account, amount } of lines) addTo(sums, currencyOf(account), amount)
      const [first] = lines
      for (const line of lines) {
        if (headOf(line) === headOf(first ?? line)) continue
        const found = `${headOf(line)} beside ${headOf(first ?? line)}`
        return { entity: line.entity, found, expected: 'one tenant, plan, entity and time' }
      }
      for (const [currency, sum] of sums) {
        if (sum === 0n) continue
        const found = `posting ${first?.posting} sums to ${currency} ${sum}`
        return { entity: first?.entity ?? '', found, expected: `${currency} 0` }
      }
      return null
    },
  }),
})

export const noNegativeBalances = overPostings({
  name: 'no_negative_balances',
  sentence: 'No prefund or reserved balance is negative after any posting.',
  evaluator: () => {
    const sums = new Map<string, bigint>()
    return {
      posting: (lines) => {
        for (const { account, amount } of lines) addTo(sums, account, amount)
        for (const { account, posting, entity } of lines) {
          const holdsMoney = ['prefund', 'reserved'].includes(kindOf(account))
          const balance = sums.get(account) ?? 0n
          if (!holdsMoney || balance >= 0n) continue
          const found = `${account} at ${balance} after posting ${posting}`
          return { entity, found, expected: `${account} at 0 or more` }
        }
        return null
      },
    }
  },
})

export const runningBalancesMatch = overPostings({
  name: 'running_balances_match',
  sentence: "An entry's running balance is its account's previous balance plus its amount.",
  evaluator: () => {
    const sums = new Map<string, bigint>()
    return {
      posting: (lines) => {
        for (const { account, amount, balance, posting, line, entity } of lines) {
          const sum = addTo(sums, account, amount)
          if (sum === balance) continue
          const found = `${account} at ${balance} in posting ${posting} line ${line}`
          return { entity, found, expected: `${account} at ${sum}` }
        }
        return null
      },
    }
  },
})

const ACCOUNTS = `
  SELECT id, CAST(balance AS TEXT) AS balance FROM ledger_accounts
    WHERE id > ? ORDER BY id LIMIT ?`

export const balancesRecompute = overPostings({
  name: 'balances_recompute',
  sentence: "An account's balance is the sum of its entries.",
  evaluator: (books) => {
    const sums = new Map<string, bigint>()
    return {
      posting: (lines) => {
        for (const { account, amount } of lines) addTo(sums, account, amount)
        return null
      },
      end: async () => {
        const accounts = books.pages<{ id: string; balance: string }>(ACCOUNTS, [''], ({ id }) => [
          id,
        ])
        for await (const page of accounts) {
          for (const { id, balance } of page) {
            const sum = sums.get(id) ?? 0n
            sums.delete(id)
            if (sum === amountOf(balance)) continue
            return { entity: id, found: `a balance of ${balance}`, expected: `${sum}` }
          }
        }
        const [missing] = sums
        if (missing === undefined) return null
        return { entity: missing[0], found: 'no account', expected: `a balance of ${missing[1]}` }
      },
    }
  },
})
