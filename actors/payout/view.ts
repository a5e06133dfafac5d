/**
 * The public view of a payout: in HTTP answers, events and gRPC.
 *
 * - The only file that names the public fields. Timestamps not reached yet are null.
 * - It contains only the last four characters of the account.
 */
import { toRfc3339, type Instant } from '../../src/base/clock.js'
import { failureView } from '../failure_texts.js'
import type { PayoutContext, PayoutState } from './context.js'

/** @param brand the setting BRAND; in lower case the platform's key in `fee_details` */
export function payoutView(state: PayoutState, context: PayoutContext, brand: string): object {
  return {
    id: context.id,
    status: state,
    amount: context.amount,
    recipient_amount: context.recipientAmount,
    currency: context.currency,
    fee_details: { [brand.toLowerCase()]: context.fees.platform, rail: context.fees.rail },
    fee: context.fees.sum,
    total: context.total,
    reference: context.reference,
    ...(context.description === undefined ? {} : { description: context.description }),
    beneficiary: {
      id: context.beneficiary.id,
      name: context.beneficiary.name,
      account_last4: context.beneficiary.accountLast4,
    },
    rail: { type: 'bank_transfer', transaction_id: context.transactionId ?? null },
    metadata: context.metadata,
    created_at: toRfc3339(context.createdAt),
    processing_at: moment(context.processingAt),
    completed_at: moment(context.completedAt),
    failed_at: moment(context.failedAt),
    reversed_at: moment(context.reversedAt),
    failure: context.failure === undefined ? null : failureView(context.failure),
  }
}

const moment = (at: Instant | undefined): string | null => (at === undefined ? null : toRfc3339(at))
