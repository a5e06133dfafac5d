/**
 * The lifecycles of payments, written from the contract: every step with what causes it.
 *
 * - It imports nothing of the product, which tests judge by it.
 */
export type PaymentKind = 'intent' | 'payout'

/** A call of a partner or payer, a report of the rail, a decision of a reviewer, or time. */
type Cause = 'confirm' | 'cancel' | 'refund' | 'review' | 'rail' | 'time'

const STEPS = {
  intent: {
    created: { authorized: 'confirm', cancelled: 'cancel', expired: 'time' },
    authorized: { captured: 'rail', failed: 'rail', cancelled: 'cancel' },
    captured: { refunded: 'refund' },
    ...{ failed: {}, expired: {}, cancelled: {}, refunded: {} },
  },
  payout: {
    created: { processing: 'review', failed: 'review' },
    processing: { completed: 'rail', failed: 'rail' },
    completed: { reversed: 'rail' },
    ...{ failed: {}, reversed: {} },
  },
} as const satisfies Record<PaymentKind, Record<string, Record<string, Cause>>>

export type IntentStatus = keyof (typeof STEPS)['intent']
export type PayoutStatus = keyof (typeof STEPS)['payout']

export const statusesOf = (kind: PaymentKind): readonly string[] => Object.keys(STEPS[kind])

/** The next statuses, of one cause or of any. */
export function stepsFrom(kind: PaymentKind, status: string, cause?: Cause): readonly string[] {
  const steps: Readonly<Record<string, Readonly<Record<string, Cause>>>> = STEPS[kind]
  return Object.entries(steps[status] ?? {}).flatMap(([next, by]) =>
    cause === undefined || cause === by ? next : [],
  )
}

/** Whether a payment that was shown with the first status can be shown with the other one. */
export const mayFollow = (kind: PaymentKind, before: string, status: string): boolean =>
  before === status || stepsFrom(kind, before).some((next) => mayFollow(kind, next, status))

/** Statuses that no other one follows. */
export const OVER: readonly string[] = (['intent', 'payout'] as const).flatMap((kind) =>
  statusesOf(kind).filter((status) => stepsFrom(kind, status).length === 0),
)
/** Statuses of payments that the rail has executed, also if the money came back. */
export const PAID: readonly string[] = ['captured', 'refunded', 'completed', 'reversed']

const kindOf = (id: string): PaymentKind => (id.startsWith('pi_') ? 'intent' : 'payout')

/** The path of a payment at the partner API. */
export const pathOf = (id: string): string =>
  kindOf(id) === 'intent' ? `/v1/payment_intents/${id}` : `/v1/payouts/${id}`

/** The prefix of its events' types. */
export const eventPrefixOf = (id: string): string =>
  kindOf(id) === 'intent' ? 'payment_intent.' : 'payout.'
