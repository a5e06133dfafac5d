/**
 * Instructions and recalls that the rail has not answered, of all tenants: intents, then payouts,
 * then recalls, each oldest first.
 */
import { payoutContextIn } from '../../../actors/payout/context.js'
import { intentContextIn } from '../../../actors/intent/context.js'
import { plus, toRfc3339, type Instant } from '../../base/clock.js'
import { PREFIX } from '../../base/ids.js'
import { ALARM_AFTER_MS, lastInquiryAt, UNKNOWN_AFTER_MS } from '../../../actors/rail_inquiry.js'
import type { Lists } from '../../store/lists.js'
import type { ActorRow } from '../../store/tables.js'
import type { UnknownKind } from '../../store/unknown_outcomes.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { viewOrName } from './readable.js'

const KINDS: readonly UnknownKind[] = ['intents', 'payouts', 'recalls']
/** Prefix of a recall's position: its id alone looks like an intent's. */
const RECALL = 'recall '

interface Found {
  readonly kind: UnknownKind
  readonly row: ActorRow
}

export function listUnknownOutcomes(request: PageRequest, now: Instant): Query {
  return {
    name: 'list_unknown_outcomes',
    queueKey: 'internal',
    run: async (ctx) => {
      const { lists, vault } = ctx
      const page = pageOf(vault, 'unknown_outcomes', request)
      if (page === null) return INVALID_PAGE
      const by = plus(now, -UNKNOWN_AFTER_MS)
      const found = await rowsFrom(lists, positionIn(page.after ?? ''), by, page.limit + 1)
      return answerPage(vault, page, found, {
        view: viewOrName(
          ctx,
          (each) => viewOf(each, now),
          ({ row }) => row.id,
        ),
        positionOf: ({ kind, row }) => (kind === 'recalls' ? `${RECALL}${row.id}` : row.id),
      })
    },
  }
}

interface Position {
  readonly kind: UnknownKind
  readonly after: string
}

function positionIn(position: string): Position {
  if (position.startsWith(RECALL)) return { kind: 'recalls', after: position.slice(RECALL.length) }
  return { kind: position.startsWith(PREFIX.payout) ? 'payouts' : 'intents', after: position }
}

async function rowsFrom(
  lists: Pick<Lists, 'unknownOutcomes'>,
  { kind: first, after }: Position,
  by: Instant,
  limit: number,
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const kind of KINDS.slice(KINDS.indexOf(first))) {
    if (found.length === limit) break
    const from = kind === first ? after : ''
    const rows = await lists.unknownOutcomes(kind, by, from, limit - found.length)
    found.push(...rows.map((row) => ({ kind, row })))
  }
  return found
}

function viewOf({ kind, row: { id, tenant, context: json } }: Found, now: Instant): object {
  const { since, inquiries, dueAt, currency, amount } = unansweredOf(kind, json)
  return {
    entity: id,
    tenant,
    currency,
    amount,
    since: toRfc3339(since),
    asked: inquiries,
    last_inquiry_at: inquiries === 0 ? '' : toRfc3339(lastInquiryAt(since, inquiries, dueAt)),
    next_inquiry_at: dueAt === null ? '' : toRfc3339(dueAt),
    over_24h: now >= plus(since, ALARM_AFTER_MS),
    kind: kind === 'recalls' ? 'recall' : 'instruction',
  }
}

interface Unanswered {
  readonly since: Instant
  readonly inquiries: number
  readonly dueAt: Instant | null
  /** The instructed payment. */
  readonly currency: string
  readonly amount: string
}

/** @param json the context of a row that `lists.unknownOutcomes` returned for this kind */
export function unansweredOf(kind: UnknownKind, json: string): Unanswered {
  const stored: unknown = JSON.parse(json)
  if (kind === 'payouts') {
    const context = payoutContextIn(stored)!
    const { submittedAt, inquiries = 0, dueAt, currency, recipientAmount: amount } = context
    return { since: submittedAt!, inquiries, dueAt, currency, amount }
  }
  const { submittedAt, inquiries = 0, recall, scanned, dueAt } = intentContextIn(stored)!
  const { currency, localMinor: amount } = scanned!.quote
  const answer = { dueAt, currency, amount }
  return kind === 'recalls'
    ? { ...answer, since: recall!.requestedAt, inquiries: recall!.inquiries }
    : { ...answer, since: submittedAt!, inquiries }
}
