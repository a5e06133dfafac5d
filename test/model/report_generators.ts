/** Generators of the rail's reports. */
import fc from 'fast-check'
import { onIntent, seldom } from './generator.js'
import { CORRIDOR_RULES } from './contract_rules.js'
import type { ModelIntent } from './model.js'
import { report } from './operations.js'
import type { Execution, ReportStatus } from './rail_rules.js'

const isSubmitted = ({ state }: ModelIntent): boolean =>
  state === 'authorized' || state === 'captured'

const STATUSES = ['executed', 'refused', 'returned', 'not_found', 'recall_refused'] as const
const statuses: fc.Arbitrary<ReportStatus> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('executed') },
  { weight: 5, arbitrary: fc.constantFrom(...STATUSES, 'accepted') },
)

export const reporting = onIntent(
  'report',
  fc.record({
    status: statuses,
    differs: fc.oneof(
      { weight: 6, arbitrary: fc.constant('nothing' as const) },
      { weight: 1, arbitrary: fc.constantFrom('amount', 'currency', 'account') },
    ),
    refusal: fc.constantFrom(
      'account_closed',
      'account_not_found',
      'name_mismatch',
      'expired',
      'rejected',
    ),
    transactionId: fc.constantFrom('TX1', 'TX1', 'TX1', 'TX2'),
    reportId: fc.option(fc.constantFrom('one', 'two'), { nil: null }),
    unknown: seldom(40),
  }),
  ({ unknown, status, differs, transactionId, ...given }, picked) => {
    const intent = unknown ? null : picked
    if (!canBeReport(intent, status)) return null
    const execution = executionOf(picked, transactionId, differs)
    return report({ intent, status, execution, ...given })
  },
  isSubmitted,
)

/** As instructed, except for the given differences. */
export function executionOf(
  { quotes, corridor }: ModelIntent,
  transactionId: string,
  differs: 'nothing' | 'amount' | 'currency' | 'account' = 'nothing',
): Execution {
  const quote = quotes.at(-1)
  const { currency } = CORRIDOR_RULES[corridor]
  return {
    transactionId,
    amount: (quote?.minor ?? 1n) + (differs === 'amount' ? 1n : 0n),
    currency: differs === 'currency' ? 'USD' : currency,
    account: differs === 'account' ? '1' : (quote?.code.account ?? ''),
  }
}

/** A rail does not report on an instruction that it did not receive. */
const canBeReport = (intent: ModelIntent | null, status: ReportStatus): boolean =>
  intent?.state !== 'authorized' ||
  intent.submittedAt !== null ||
  status === 'not_found' ||
  status === 'accepted'
