/**
 * A page of payments that can leave the books for an archive: intents, then payouts, each in the
 * order of their creation, with the digest that their removal names.
 *
 * - What must stay is counted, and read again by the next archiving.
 */
import { DAY, instant, plus, type Clock } from '../../base/clock.js'
import { invalid } from '../../base/errors.js'
import { PREFIX } from '../../base/ids.js'
import { digestOfPayment } from '../../base/payment_digest.js'
import type { StoredPayment } from '../../store/archive.js'
import type { Memory } from '../cache/memory.js'
import { ARCHIVED_AFTER_MS, ARCHIVED_AT_ONCE_MAX } from '../changes/ended_payments.js'
import { answer } from '../cycle/answer.js'
import type { Query } from './query.js'

/** @param after the last id of the previous page. Empty means the first page */
const TOO_YOUNG = invalid('/before', `must be ${ARCHIVED_AFTER_MS / DAY} days ago or earlier`)

export function listArchivable(
  { archive }: Pick<Memory, 'archive'>,
  { before, after }: { readonly before: number | null; readonly after: string },
  clock: Clock,
): Query {
  return {
    name: 'list_archivable',
    queueKey: 'internal',
    run: async ({ lists, reportCorrupt }) => {
      const youngest = plus(clock.now(), -ARCHIVED_AFTER_MS)
      if (before === null || before > youngest) return TOO_YOUNG
      const kind = after.startsWith(PREFIX.payout) ? 'payouts' : 'intents'
      const limit = ARCHIVED_AT_ONCE_MAX
      const rows = await lists.archive.payments(kind, after, instant(before), limit)
      const data = rows.flatMap((row) => {
        try {
          return row.isNeeded === 1 ? [] : [archivable(row)]
        } catch (error) {
          reportCorrupt(row.id, error)
          return []
        }
      })
      const last = rows.length < limit ? undefined : rows.at(-1)?.id
      const next = last ?? (kind === 'intents' ? PREFIX.payout : undefined)
      return answer({
        data,
        kept: rows.length - data.length,
        ...(next === undefined ? {} : { next_after: next }),
        ...(archive === null ? {} : { archive_id: archive.id, path: archive.path }),
      })
    },
  }
}

function archivable(row: StoredPayment): object {
  const { id, tenant, state, confirmedAt, reference, beneficiary } = row
  const context = JSON.stringify(JSON.parse(row.context))
  return {
    ...{ id, tenant, state, context },
    digest: digestOfPayment(id, state, context),
    ...(confirmedAt === null ? {} : { confirmed_at: String(confirmedAt) }),
    ...(reference === null ? {} : { reference }),
    ...(beneficiary === null ? {} : { beneficiary }),
  }
}
