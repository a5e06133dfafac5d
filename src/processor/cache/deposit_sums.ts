/** Deposits in memory: what was credited, and what corrections have taken back since. */
import type { AccountKey } from '../../ledger/accounts.js'
import type { DepositEntry } from '../../store/store.js'

export interface DepositSums {
  /** The prefund that it was credited to. */
  readonly account: AccountKey
  /** Minor units. */
  readonly credited: bigint
  readonly corrected: bigint
}

/** By id; entries in the order of their postings, so the deposit is before its corrections. */
export function depositsIn(entries: readonly DepositEntry[]): ReadonlyMap<string, DepositSums> {
  const deposits = new Map<string, DepositSums>()
  for (const { deposit, account, amount } of entries) {
    const before = deposits.get(deposit)
    const minor = BigInt(amount)
    deposits.set(
      deposit,
      before === undefined
        ? { account: account as AccountKey, credited: minor, corrected: 0n }
        : { ...before, corrected: before.corrected - minor },
    )
  }
  return deposits
}
