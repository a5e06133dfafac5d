/** Faults of the area `idempotency`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const IDEMPOTENCY: readonly Mutant[] = [
  ...faultsIn('src/processor/cycle/idempotency.ts', 'processor/payout_scenarios', {
    'A bound key is not kept in memory.': [
      'memory.idempotency.set(rowKey, row, batch.number)\n',
      '',
    ],
    'A bound key is not written to disk.': ["batch.stage('idempotency', rowKey, row)\n", ''],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_create.ts', 'processor/payout_scenarios', {
    'The same key with another payout is a replay.': [
      "if (known.request_hash !== requestHash) return refuse('duplicate_payout')",
      '',
    ],
    'A replayed payout is created again.': [
      'const known = boundRow(memory, rowKey)',
      'const known = boundRow(memory, rowKey) && null',
    ],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_context.ts', 'processor/payout_scenarios', {
    'Blanks around the reference make another request.': [
      'const reference = given.reference.trim()',
      'const reference = given.reference',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_create.ts', 'processor/repeated_requests', {
    'A key creates the same intent in another corridor.': [
      '${cents} ${corridor} ${attestations}',
      '${cents} ${attestations}',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_confirm.ts', 'processor/intent_tables', {
    'A token confirms twice.': [
      "return refuse(confirmation.jti === jti ? 'authentication_failed' : " +
        "'already_confirmed')",
      'return replay(authorizedView(live.context))',
    ],
    'Another key replays the confirmation.': [
      'key !== undefined && confirmation.key === key',
      'key !== undefined',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_refund.ts', 'processor/intent_tables', {
    'A key of one refund refunds another intent.': [
      "if (known.entity !== intentId) return refuse('idempotency_conflict')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/funds/fx_conversion_create.ts', 'processor/funds', {
    'A quote is converted twice.': ['quote.conversion !== null || isOver', 'isOver'],
    "A partner converts at another one's quote.": [
      'if (!quote || quote.tenant !== tenant) return',
      'if (!quote) return',
    ],
  }),
  ...faultsIn('src/store/retention.ts', 'processor/retention', {
    'A clock that was set back for a while makes young keys old.': [' AND at >= newest', ''],
  }),
  ...faultsIn('src/base/steady_clock.ts', 'processor/retention', {
    'A clock that steps by years deletes keys at once.': [
      'Math.abs(found - offset) > STEP_MS',
      'found < 0',
    ],
  }),
]
