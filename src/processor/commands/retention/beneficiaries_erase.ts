/**
 * Erases name and account number of beneficiaries that are not paid any more, first in their
 * payouts, then in the beneficiaries themselves (background/beneficiary_expiry).
 *
 * - Amounts, states, ids and banks stay: nothing of the ledger changes.
 * - A payout that is young, open or has a timer keeps its copy.
 * - No operator acts: there is no entry in the action log.
 */
import type { Instant } from '../../../base/clock.js'
import { stagePayout } from '../../changes/advance_payout.js'
import { stageBeneficiary } from '../../changes/beneficiaries.js'
import { isEndedPayout } from '../../changes/ended_payments.js'
import {
  erasedCopy,
  erasedRow,
  isErasedCopy,
  isErasedRow,
} from '../../changes/erased_beneficiaries.js'
import { answer } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

export interface ErasedRows {
  readonly erased: number
}

/** @param before the payouts are older */
export function erasePayees(payouts: readonly string[], before: Instant): Command {
  return {
    name: 'erase_payees',
    needs: (needs) => {
      for (const id of payouts) needs.payout(id)
    },
    decide: (ctx) => {
      let erased = 0
      for (const id of payouts) {
        const live = ctx.memory.payouts.get(id)
        if (!live || live.isCorrupt === true) continue
        const { beneficiary, createdAt } = live.context
        if (createdAt >= before || !isEndedPayout(live) || isErasedCopy(beneficiary)) continue
        live.context = { ...live.context, beneficiary: erasedCopy(ctx, beneficiary) }
        stagePayout(ctx, live)
        erased += 1
      }
      return answer({ erased } satisfies ErasedRows)
    },
  }
}

/** @param before the beneficiary is older, and so are its payouts */
export function eraseBeneficiary(id: string, before: Instant): Command {
  return {
    name: 'erase_beneficiary',
    needs: (needs) => needs.beneficiary(id),
    decide: (ctx) => {
      const row = ctx.memory.beneficiaries.get(id)
      if (!row || row.created_at >= before || isErasedRow(row)) {
        return answer({ erased: 0 } satisfies ErasedRows)
      }

      // From here on it must succeed.
      stageBeneficiary(ctx, erasedRow(ctx, row))
      return answer({ erased: 1 } satisfies ErasedRows)
    },
  }
}
