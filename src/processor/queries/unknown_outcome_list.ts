/**
 * Instructions that are out and were asked about in vain, of all tenants: intents, then payouts,
 * each kind the oldest first.
 */
import { plus, toRfc3339, type Instant } from '../../base/clock.js'
import { PREFIX } from '../../base/ids.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import {
  ALARM_AFTER_MS,
  nextQuestionAt,
  UNKNOWN_AFTER_MS,
} from '../../../actors/unknown_outcome.js'
import type { ActorRow } from '../../store/tables.js'
import { refuse } from '../cycle/answer.js'
import { answerPage, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'

export function listUnknownOutcomes(request: PageRequest, now: Instant): Query {
  return {
    name: 'list_unknown_outcomes',
    lane: 'ours',
    run: async ({ lists, vault }) => {
      const page = pageOf(vault, 'unknown_outcomes', request)
      if (page === null) return refuse('invalid_request')
      const by = plus(now, -UNKNOWN_AFTER_MS)
      const after = page.after ?? ''
      const isPastIntents = after.startsWith(PREFIX.payout)
      const intents = isPastIntents
        ? []
        : await lists.unknownOutcomes('intents', by, after, page.limit + 1)
      const missing = page.limit + 1 - intents.length
      const payouts =
        missing === 0
          ? []
          : await lists.unknownOutcomes('payouts', by, isPastIntents ? after : '', missing)
      return answerPage(vault, page, [...intents, ...payouts], {
        view: (row) => viewOf(row, now),
        positionOf: ({ id }) => id,
      })
    },
  }
}

function viewOf({ id, tenant, context: json }: ActorRow, now: Instant): object {
  const { asked, wakeAt, ...instruction } = outOf(id, json)
  const since = instruction.handedOverAt
  return {
    entity: id,
    tenant,
    currency: instruction.currency,
    amount: instruction.amount,
    since: toRfc3339(since),
    asked,
    last_asked_at: asked === 0 ? '' : toRfc3339(nextQuestionAt(since, asked - 1)),
    next_question_at: wakeAt === null ? '' : toRfc3339(wakeAt),
    over_24h: now >= plus(since, ALARM_AFTER_MS),
  }
}

interface Out {
  readonly handedOverAt: Instant
  readonly asked: number
  readonly wakeAt: Instant | null
  readonly currency: string
  readonly amount: string
}

/** What the rail was told to pay. */
function outOf(id: string, json: string): Out {
  const context = JSON.parse(json) as IntentContext | PayoutContext
  const { handedOverAt, asked = 0, wakeAt } = context
  if (handedOverAt === undefined) throw new Error(`broken invariant: ${id} is not handed over`)
  if ('fees' in context) {
    const { currency, recipientAmount: amount } = context
    return { handedOverAt, asked, wakeAt, currency, amount }
  }
  const { quote } = context.scanned!
  return { handedOverAt, asked, wakeAt, currency: quote.currency, amount: quote.localMinor }
}
