/** A tenant's available and reserved balances, by currency. */
import type { TenantId } from '../../../base/ids.js'
import { partsOf } from '../../../ledger/accounts.js'
import { toWire } from '../../../money/money.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'

export function getBalances(tenant: TenantId): Command {
  return {
    name: 'get_balances',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory }) => {
      const byCurrency = new Map<string, { available: bigint; reserved: bigint }>()
      for (const [account, balance] of memory.balances) {
        const { tenant: owner, currency, kind } = partsOf(account)
        if (owner !== tenant || (kind !== 'prefund' && kind !== 'reserved')) continue
        const entry = byCurrency.get(currency) ?? { available: 0n, reserved: 0n }
        if (kind === 'prefund') entry.available = balance
        else entry.reserved = balance
        byCurrency.set(currency, entry)
      }
      const data = [...byCurrency]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([currency, { available, reserved }]) => ({
          currency,
          available: toWire(available),
          reserved: toWire(reserved),
        }))
      return answer({ data })
    },
  }
}
