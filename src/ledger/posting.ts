/**
 * Checks a posting against the account bounds and computes the balances after it. Pure.
 *
 * - No account leaves its bounds (ledger/accounts).
 * - All lines of a posting are checked together: each account's balance after all of them counts.
 */
import { ceilingOf, floorOf, type AccountKey } from './accounts.js'
import type { PostingLine } from './plans.js'

export type PostingOutcome =
  | { readonly ok: true; readonly after: ReadonlyMap<AccountKey, bigint> }
  | {
      readonly ok: false
      readonly reason: 'insufficient_balance' | 'overflow'
      readonly account: AccountKey
    }

/** @param balanceOf the balance before the posting; 0 for an account without entries */
export function post(
  balanceOf: (account: AccountKey) => bigint,
  lines: readonly PostingLine[],
): PostingOutcome {
  const after = new Map<AccountKey, bigint>()
  for (const { account, amount } of lines) {
    after.set(account, (after.get(account) ?? balanceOf(account)) + amount)
  }
  for (const [account, balance] of after) {
    const floor = floorOf(account)
    if (balance < floor) {
      return { ok: false, reason: floor === 0n ? 'insufficient_balance' : 'overflow', account }
    }
    if (balance > ceilingOf(account)) return { ok: false, reason: 'overflow', account }
  }
  return { ok: true, after }
}
