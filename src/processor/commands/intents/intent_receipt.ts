/**
 * Mints receipt tokens, and reads the receipts they grant access to.
 *
 * - A receipt token stands for a user of a tenant, not for an intent: it opens all receipts of that
 *   user.
 * - An unknown intent, another partner's and another user's get the same answer.
 */
import { mintReceiptToken } from '../../../auth/token.js'
import { RECEIPT_TTL_S } from '../../../base/constants.js'
import { toEpochSeconds } from '../../../base/clock.js'
import type { TenantId } from '../../../base/ids.js'
import { receiptView } from '../../../../actors/intent/view.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'

export function mintReceipt(tenant: TenantId, intentId: string): Command {
  return {
    name: 'mint_receipt_token',
    needs: (needs) => needs.intent(intentId),
    decide: ({ memory, vault, now }) => {
      const live = memory.intents.get(intentId)
      if (!live || live.context.tenant !== tenant) return refuse('payment_intent_not_found')
      const expiresAt = toEpochSeconds(now) + RECEIPT_TTL_S
      const subject = vault.receiptSubject(live.context.userId)
      const token = mintReceiptToken(vault.tokenKeys, { tenant, subject, expiresAt })
      return answer({ receipt_token: token, receipt_token_expires_at: expiresAt })
    },
  }
}

/** @param subject the subject of the verified receipt token */
export function getReceipt(tenant: TenantId, intentId: string, subject: string): Command {
  return {
    name: 'get_receipt',
    allowedInRecovery: true,
    needs: (needs) => needs.intent(intentId),
    decide: ({ memory, vault }) => {
      const live = memory.intents.get(intentId)
      const isOfSubject =
        live?.context.tenant === tenant && vault.receiptSubject(live.context.userId) === subject
      if (!live || !isOfSubject) return refuse('payment_intent_not_found')
      return answer(receiptView(live.state, live.context))
    },
  }
}
