/**
 * The history of an intent or a payout in time order, as operators see it.
 *
 * - A row with an impossible moment is named, at the end: it does not hide the others.
 * - Account numbers, tokens and payloads are left out. The output is safe to paste anywhere.
 */
import { instant, isMoment, toRfc3339 } from '../../base/clock.js'
import { toWire } from '../../money/money.js'
import type { EntityHistory } from '../../store/entity_history.js'
import { momentText } from './readable.js'
import type { TimelineStep } from './timeline_steps.js'

interface TimelineItem {
  readonly at: number
  readonly kind: TimelineStep['kind'] | 'event' | 'entry' | 'action' | 'discrepancy'
  readonly text: string
}

/**
 * Items with the same time keep this order.
 *
 * @param steps those that its row tells of; none when the row is corrupt
 */
export function timelineOf(history: EntityHistory, steps: readonly TimelineStep[] = []): object[] {
  const { events, entries, discrepancies, actions } = history
  /** Names the discrepancy, when the item belongs to one. */
  const about = (id: string): string => (id === history.entity.id ? '' : ` ${id}`)
  const items: TimelineItem[] = [
    ...steps,
    ...actions.map(({ at, actor, action, subject, reason, evidence }): TimelineItem => {
      const where = evidence === null ? '' : ` (${evidence})`
      return {
        at,
        kind: 'action',
        text: `${action}${about(subject)} by ${actor}: ${reason}${where}`,
      }
    }),
    ...entries.map(({ at, plan, entity, account, amount, balance }): TimelineItem => {
      const what = `${account} ${toWire(amount)}, balance ${toWire(balance)}`
      return { at, kind: 'entry', text: `${plan}${about(entity)}: ${what}` }
    }),
    ...events.map(({ at, type, id, sequence, settledAt }): TimelineItem => {
      const outcome = settledAt === null ? 'open' : `settled at ${momentText(settledAt)}`
      return { at, kind: 'event', text: `${type} ${id}, sequence ${sequence}, ${outcome}` }
    }),
    ...discrepancies.map(({ at, id, reason, settlement }): TimelineItem => ({
      at,
      kind: 'discrepancy',
      text: `${id}: ${reason}, ${settlement ?? 'open'}`,
    })),
  ]
  return items.sort((one, other) => orderOf(one) - orderOf(other)).map(itemView)
}

const orderOf = ({ at }: TimelineItem): number => (isMoment(at) ? at : Number.MAX_SAFE_INTEGER)

const itemView = ({ at, kind, text }: TimelineItem): object =>
  isMoment(at)
    ? { at: toRfc3339(instant(at)), kind, text }
    : { at: '', kind, text: `${text}: corrupt row` }
