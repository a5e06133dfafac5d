/**
 * Whether lines can be posted, and the balances afterwards. Pure.
 *
 * - No account leaves its bounds (ledger/accounts, A2 to A4).
 * - All lines of a posting are judged together: what counts is each account's balance after all
 *   of them.
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

/** @param balanceOf the balance before; 0 for an account nobody used yet */
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
