/** Faults of the area `idempotency`. */
import type { Mutant } from '../mutant.js'

export const IDEMPOTENCY: readonly Mutant[] = [
  {
    fault: 'A bound key is not kept in memory.',
    file: 'src/processor/cycle/idempotency.ts',
    text: 'memory.idempotency.set(rowKey, row, batch.number)\n',
    replacement: '',
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'A bound key is not written to disk.',
    file: 'src/processor/cycle/idempotency.ts',
    text: "batch.stage('idempotency', rowKey, row)\n",
    replacement: '',
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'The same key with another payout is a replay.',
    file: 'src/processor/commands/payouts/payout_create.ts',
    text: "if (known.request_hash !== requestHash) return refuse('duplicate_payout')",
    replacement: '',
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'A replayed payout is created again.',
    file: 'src/processor/commands/payouts/payout_create.ts',
    text: 'const known = boundRow(memory, rowKey)',
    replacement: 'const known = boundRow(memory, rowKey) && null',
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'Blanks around the reference make another request.',
    file: 'src/processor/commands/payouts/payout_request.ts',
    text: 'const reference = given.reference.trim()',
    replacement: 'const reference = given.reference',
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'A token confirms twice.',
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text:
      "return refuse(confirmation.jti === jti ? 'authentication_failed' : " +
      "'already_confirmed')",
    replacement: 'return replay(authorizedView(live.context))',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'Another key replays the confirmation.',
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text: 'key !== undefined && confirmation.key === key',
    replacement: 'key !== undefined',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'A key of one refund refunds another intent.',
    file: 'src/processor/commands/intents/intent_refund.ts',
    text: "if (known.entity !== intentId) return refuse('idempotency_conflict')",
    replacement: '',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'A quote is converted twice.',
    file: 'src/processor/commands/funds/fx_conversion_create.ts',
    text: 'quote.conversion !== null || ctx.now',
    replacement: 'ctx.now',
    test: 'test/processor/funds',
  },
  {
    fault: "A partner converts at another one's quote.",
    file: 'src/processor/commands/funds/fx_conversion_create.ts',
    text: 'if (!quote || quote.tenant !== tenant) return',
    replacement: 'if (!quote) return',
    test: 'test/processor/funds',
  },
]
