/** The order of the statuses of a payment: none is shown after a later one. */
export type PaymentKind = 'intent' | 'payout'

const NEXT: Readonly<Record<string, readonly string[]>> = {
  'intent created': ['authorized', 'captured', 'failed', 'expired', 'cancelled', 'refunded'],
  'intent authorized': ['captured', 'failed', 'cancelled', 'refunded'],
  'intent captured': ['refunded'],
  'payout created': ['processing', 'completed', 'failed', 'reversed'],
  'payout processing': ['completed', 'failed', 'reversed'],
  'payout completed': ['reversed'],
}

/** Whether a payment that was shown with the first status can be shown with the other one. */
export const mayFollow = (kind: PaymentKind, before: string, status: string): boolean =>
  before === status || (NEXT[`${kind} ${before}`] ?? []).includes(status)

export const isOver = (status: string): boolean =>
  ['failed', 'expired', 'cancelled', 'refunded', 'reversed'].includes(status)
