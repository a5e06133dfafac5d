/** All pages of the console. */
import type { ConsolePage } from '../session/console_page.js'
import { actionLog } from './action_log.js'
import { discrepancies } from './discrepancies.js'
import { entries } from './entries.js'
import { money } from './money.js'
import { overview } from './overview.js'
import { partner, partners } from './partners.js'
import { payment } from './payment.js'
import { approvals, unknown } from './queues.js'
import { reconciliation } from './reconciliation.js'
import { review } from './review.js'
import { search } from './search.js'
import { callers, shards } from './service.js'
import { statement } from './statement.js'
import { system } from './system.js'
import { trace } from './trace.js'
import { webhooks } from './webhooks.js'

export const PAGES: readonly ConsolePage[] = [
  ...[overview, search, payment, trace, review, approvals, unknown, discrepancies],
  ...[reconciliation, webhooks],
  ...[partners, partner, statement, money, entries, shards, callers, system, actionLog],
]
