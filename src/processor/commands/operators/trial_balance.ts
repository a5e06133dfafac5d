/** The balance of every account, and whether the books of each currency sum to zero. */
import type { TenantId } from '../../../base/ids.js'
import { partsOf } from '../../../ledger/accounts.js'
import { toWire } from '../../../money/money.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'

export function trialBalance(tenant: TenantId | undefined): Command {
  return {
    name: 'trial_balance',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) => {
      const sums = new Map<string, bigint>()
      const lines: object[] = []
      for (const [account, balance] of [...memory.balances].sort()) {
        const { tenant: owner, currency, kind } = partsOf(account)
        if (tenant !== undefined && owner !== tenant) continue
        const books = `${owner} ${currency}`
        sums.set(books, (sums.get(books) ?? 0n) + balance)
        lines.push({ tenant: owner, currency, account: kind, balance: toWire(balance) })
      }
      return answer({ lines, balanced: [...sums.values()].every((sum) => sum === 0n) })
    },
  }
}
