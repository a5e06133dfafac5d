/** Faults of the area `tenancy`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const TENANCY: readonly Mutant[] = [
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', 'processor/beneficiaries', {
    "A payout to another partner's beneficiary is accepted.": [
      '!known || known.tenant !== tenant || !takes',
      '!known || !takes',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_confirm.ts', 'processor/intent_tables', {
    "A session confirms another partner's intent.": [
      'if (!live || live.context.tenant !== tenant) return',
      'if (!live) return',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_refund.ts', 'processor/intent_tables', {
    "A partner refunds another one's intent.": [
      'if (!live || live.context.tenant !== tenant) return',
      'if (!live) return',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_receipt.ts', 'processor/intent_tables', {
    "A receipt token of one user opens another user's receipt.": [
      'live?.context.tenant === tenant && ' +
        'vault.receiptSubject(live.context.userId) === subject',
      'live?.context.tenant === tenant',
    ],
    "A receipt token of one tenant opens another tenant's receipt.": [
      'live?.context.tenant === tenant && vault',
      'live?.context.tenant !== undefined && vault',
    ],
  }),
  ...faultsIn('src/processor/servers/authenticated_caller.ts', 'processor/callers', {
    "A service that is bound to a partner watches another one's events.": [
      'if (!checked.ok) return endStream(stream, checked.code)\n    stream.request',
      'if (checked.ok) stream.request',
    ],
  }),
]
