/**
 * Compares the entries of a period with the ledger's own balances, entry by entry.
 *
 * - The lines of a posting sum to zero in each currency.
 * - Each entry begins where the one before it on the account ended: none is missing between them.
 * - The first and the last balance of each account are those of the trial balances at the beginning
 *   and at the end of the period, and the balances of a currency sum to zero.
 */
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { BalanceLine, LedgerEntry } from './ledger_client.js'
import { sumsOf } from './trial_balance.js'

/** Faults that are named. */
const FAULTS_MAX = 20

export interface AccountTotal {
  readonly environment: string
  readonly account: string
  readonly currency: string
  /** Minor units; positive is credit. */
  readonly opening: bigint
  readonly debit: bigint
  readonly credit: bigint
  readonly closing: bigint
}

export interface JournalCheck {
  add(entry: LedgerEntry): void
  /** Lines of the trial balance at the beginning of the period. */
  addOpening(lines: readonly BalanceLine[]): void
  /** Lines of the trial balance at its end. */
  addClosing(lines: readonly BalanceLine[]): void
  /** `totals`: by environment, account and currency, over all partners. */
  end(): { readonly totals: readonly AccountTotal[]; readonly faults: readonly string[] }
}

interface Account {
  readonly opening: bigint
  debit: bigint
  credit: bigint
  balance: bigint
}

const NO_ENTRY = (balance: bigint): Account => ({
  opening: balance,
  debit: 0n,
  credit: 0n,
  balance,
})

/** Checks the entries of one shard. */
export function createJournalCheck(): JournalCheck {
  const accounts = new Map<string, Account>()
  const opening: BalanceLine[] = []
  const closing: BalanceLine[] = []
  const faults: string[] = []
  let posting = ''
  let sums = new Map<string, bigint>()

  const fault = (text: string): void => {
    if (faults.length < FAULTS_MAX) faults.push(text)
  }
  const endPosting = (): void => {
    for (const [currency, sum] of sums) {
      if (sum !== 0n) fault(`posting ${posting} does not sum to zero in ${currency}`)
    }
    sums = new Map()
  }

  return {
    add: (entry) => {
      if (entry.posting !== posting) endPosting()
      posting = entry.posting
      const [amount, balance] = [BigInt(entry.amount), BigInt(entry.balance)]
      sums.set(entry.currency, (sums.get(entry.currency) ?? 0n) + amount)
      const name = nameOf(entry)
      const account = accounts.get(name) ?? NO_ENTRY(balance - amount)
      if (account.balance + amount !== balance) {
        fault(`${name}: an entry before posting ${posting} is missing`)
      }
      account.balance = balance
      if (amount < 0n) account.debit -= amount
      else account.credit += amount
      accounts.set(name, account)
    },
    addOpening: (lines) => {
      opening.push(...lines)
    },
    addClosing: (lines) => {
      closing.push(...lines)
    },
    end: () => {
      endPosting()
      const ends = new Map(closing.map((line) => [nameOf(line), BigInt(line.balance)]))
      for (const [name, balance] of ends) {
        const account = accounts.get(name)
        if (account === undefined) accounts.set(name, NO_ENTRY(balance))
        else if (account.balance !== balance) {
          fault(`${name} ends at ${account.balance}, and is ${balance} in the trial balance`)
        }
      }
      const begins = new Map(opening.map((line) => [nameOf(line), BigInt(line.balance)]))
      for (const [name, account] of accounts) {
        if (account.opening !== (begins.get(name) ?? 0n)) {
          fault(`${name} begins at ${account.opening}, and was ${begins.get(name) ?? 0n} before`)
        }
        if (!ends.has(name)) fault(`${name} is missing in the trial balance`)
      }
      for (const [currency, sum] of sumsOf(closing)) {
        if (sum !== 0n) fault(`the balances in ${currency} sum to ${sum}`)
      }
      return { totals: totalsOf(accounts), faults }
    },
  }
}

const nameOf = ({ tenant, currency, account }: BalanceLine | LedgerEntry): string =>
  `${tenant}:${currency}:${account}`

const totalsOf = (accounts: ReadonlyMap<string, Account>): readonly AccountTotal[] =>
  mergedTotals(
    [...accounts].map(([name, { balance, ...moved }]) => {
      const [tenant = '', currency = '', account = ''] = name.split(':')
      const { environment } = partsOfTenant(tenant as TenantId)
      return { environment, account, currency, ...moved, closing: balance }
    }),
  )

/** One total by environment, account and currency. */
export function mergedTotals(all: readonly AccountTotal[]): readonly AccountTotal[] {
  const found = new Map<string, AccountTotal>()
  for (const total of all) {
    const key = `${total.environment} ${total.account} ${total.currency}`
    found.set(key, sumOf(found.get(key), total))
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, total]) => total)
}

const sumOf = (known: AccountTotal | undefined, total: AccountTotal): AccountTotal =>
  known === undefined
    ? total
    : {
        ...total,
        opening: known.opening + total.opening,
        debit: known.debit + total.debit,
        credit: known.credit + total.credit,
        closing: known.closing + total.closing,
      }
