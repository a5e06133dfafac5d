/** Faults of the area `tenancy`. */
import type { Mutant } from '../mutant.js'

export const TENANCY: readonly Mutant[] = [
  {
    fault: "A payout to another partner's beneficiary is accepted.",
    file: 'src/processor/commands/payouts/payout_check.ts',
    text: '!known || known.tenant !== tenant || !takes',
    replacement: '!known || !takes',
    test: 'test/processor/beneficiaries',
  },
  {
    fault: "A session confirms another partner's intent.",
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text: 'if (!live || live.context.tenant !== tenant) return',
    replacement: 'if (!live) return',
    test: 'test/processor/intent_tables',
  },
  {
    fault: "A partner refunds another one's intent.",
    file: 'src/processor/commands/intents/intent_refund.ts',
    text: 'if (!live || live.context.tenant !== tenant) return',
    replacement: 'if (!live) return',
    test: 'test/processor/intent_tables',
  },
  {
    fault: "A receipt token of one user opens another user's receipt.",
    file: 'src/processor/commands/intents/intent_receipt.ts',
    text:
      'live?.context.tenant === tenant && ' +
      'vault.receiptSubject(live.context.userId) === subject',
    replacement: 'live?.context.tenant === tenant',
    test: 'test/processor/intent_tables',
  },
  {
    fault: "A receipt token of one tenant opens another tenant's receipt.",
    file: 'src/processor/commands/intents/intent_receipt.ts',
    text: 'live?.context.tenant === tenant && vault',
    replacement: 'live?.context.tenant !== undefined && vault',
    test: 'test/processor/intent_tables',
  },
  {
    fault: "A service that is bound to a partner watches another one's events.",
    file: 'src/processor/servers/authenticated_caller.ts',
    text: 'if (!checked.ok) return endStream(stream, checked.code)\n    stream.request',
    replacement: 'if (checked.ok) stream.request',
    test: 'test/processor/callers',
  },
]
