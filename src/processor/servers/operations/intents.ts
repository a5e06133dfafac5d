/** What the operations on payment intents do. */
import { cancelIntent } from '../../commands/intents/intent_cancel.js'
import { confirmIntent } from '../../commands/intents/intent_confirm.js'
import { createIntent } from '../../commands/intents/intent_create.js'
import { getIntent } from '../../commands/intents/intent_get.js'
import { getReceipt, mintReceipt } from '../../commands/intents/intent_receipt.js'
import { refundIntent } from '../../commands/intents/intent_refund.js'
import { remintSession } from '../../commands/intents/intent_remint.js'
import { scanIntent } from '../../commands/intents/intent_scan.js'
import { findUserIntents, type FoundIntents } from '../../commands/intents/user_intents_find.js'
import { listIntents } from '../../queries/intent_list.js'
import { listUserIntents } from '../../queries/user_intent_list.js'
import { command, query, type ActionsOf } from './action.js'

export const INTENT_ACTIONS: ActionsOf<
  | 'create_intent'
  | 'list_intents'
  | 'get_intent'
  | 'remint_session'
  | 'scan_intent'
  | 'confirm_intent'
  | 'cancel_intent'
  | 'refund_intent'
  | 'mint_receipt_token'
  | 'get_receipt'
> = {
  create_intent: (intent, { tenant }) => command(createIntent(tenant, intent)),
  /** The intents of one user are a linked list; the command finds its newest one. */
  list_intents: ({ partner_user_id: userId, ...list }, { tenant }) =>
    userId === undefined
      ? query(listIntents(tenant, list))
      : {
          command: findUserIntents(tenant, userId),
          query: (view) => listUserIntents(tenant, userId, list, (view as FoundIntents).last),
        },
  get_intent: ({ intent_id }, { tenant }) => command(getIntent(tenant, intent_id)),
  remint_session: (session, { tenant }) => command(remintSession(tenant, session)),
  scan_intent: (scan, { tenant, now }) => command(scanIntent(tenant, scan, now)),
  confirm_intent: (confirm, { tenant, now }) => command(confirmIntent(tenant, confirm, now)),
  cancel_intent: ({ intent_id }, { tenant }) => command(cancelIntent(tenant, intent_id)),
  refund_intent: ({ intent_id, idempotency_key: key }, { tenant }) =>
    command(refundIntent(tenant, intent_id, key ?? null)),
  mint_receipt_token: ({ intent_id }, { tenant }) => command(mintReceipt(tenant, intent_id)),
  get_receipt: ({ intent_id, subject }, { tenant }) =>
    command(getReceipt(tenant, intent_id, subject)),
}
