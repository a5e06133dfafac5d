/**
 * Recent payments by user and payee, for duplicate-scan detection.
 *
 * Does not own: refusing a duplicate (commands).
 *
 * - An intent counts from its confirmation while it is authorized or captured; failed, refunded and
 *   cancelled intents are removed.
 * - Entries older than the window are removed as new ones are added.
 */
import { plus, type Instant } from '../../base/clock.js'
import type { IntentId } from '../../base/ids.js'
import type { IntentContext } from '../../../actors/intent/context.js'

export interface RecentPayments {
  add(context: IntentContext): void
  remove(context: IntentContext): void
  /** True when another intent of this user has the same duplicate key within the window. */
  has(context: IntentContext, duplicateKey: string, now: Instant): boolean
}

interface Payment {
  readonly intentId: IntentId
  readonly at: Instant
}

export function createRecentPayments(windowMs: number): RecentPayments {
  /** Ordered by the latest confirmation of each key. */
  const payments = new Map<string, Payment[]>()
  const keyOf = ({ tenant, userId }: IntentContext, duplicateKey: string): string =>
    `${tenant}\n${userId}\n${duplicateKey}`

  const sweep = (now: Instant): void => {
    for (const [key, entries] of payments) {
      if (entries.at(-1)!.at > plus(now, -windowMs)) return
      payments.delete(key)
    }
  }

  return {
    add: (context) => {
      const { scanned, confirmedAt } = context
      if (scanned === undefined || confirmedAt === undefined || windowMs === 0) return
      sweep(confirmedAt)
      const key = keyOf(context, scanned.duplicateKey)
      const over = plus(confirmedAt, -windowMs)
      const recent = (payments.get(key) ?? []).filter(({ at }) => at > over)
      payments.delete(key)
      payments.set(key, [...recent, { intentId: context.id, at: confirmedAt }])
    },
    remove: (context) => {
      if (context.scanned === undefined) return
      const key = keyOf(context, context.scanned.duplicateKey)
      const left = (payments.get(key) ?? []).filter(({ intentId }) => intentId !== context.id)
      if (left.length === 0) payments.delete(key)
      else payments.set(key, left)
    },
    has: (context, duplicateKey, now) =>
      (payments.get(keyOf(context, duplicateKey)) ?? []).some(
        ({ intentId, at }) => intentId !== context.id && at > plus(now, -windowMs),
      ),
  }
}
