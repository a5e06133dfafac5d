/**
 * Balance transactions of a tenant, newest first: the ledger entries on its available and reserved
 * accounts.
 *
 * - The public id is a digest: posting numbers count the entries of all tenants and stay private.
 * - Ids and cursors name the first posting that an entry had, so they are the same after the
 *   partner has moved to another shard.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import { partsOf, type AccountKey } from '../../ledger/accounts.js'
import { toWire } from '../../money/money.js'
import type { EntryPosition, ListedEntry } from '../../store/ledger.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { shapeOfViewed, viewed } from './readable.js'
import type { Vault } from '../keys/vault.js'

export function listBalanceTransactions(tenant: TenantId, request: PageRequest): Query {
  return {
    name: 'list_balance_transactions',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault } = ctx
      const page = pageOf(vault, `balance_transactions ${tenant}`, request)
      if (page === null) return INVALID_PAGE
      const first = page.after === null ? undefined : positionIn(page.after)
      const below = first
        ? { ...first, posting: await lists.postingOf(tenant, first.posting) }
        : ABOVE_ALL
      const rows = await lists.entries(tenant, below, page.limit + 1)
      const named = rows.map((row) => ({ ...row, id: balanceTransactionId(vault, row) }))
      return answerPage(vault, page, viewed(named, ctx, viewOf), {
        ...shapeOfViewed<Named>(),
        positionOf: ({ row }) => positionOf(row),
      })
    },
  }
}

const ABOVE_ALL: EntryPosition = { posting: Number.MAX_SAFE_INTEGER, line: 0 }

type Posted = Pick<ListedEntry, 'posting' | 'posted_as' | 'line'>

const positionOf = ({ posting, posted_as: first, line }: Posted): string =>
  `${first ?? posting}.${line}`

function positionIn(position: string): EntryPosition {
  const [posting, line] = position.split('.')
  return { posting: Number(posting), line: Number(line) }
}

export const balanceTransactionId = (vault: Vault, entry: Posted): string =>
  `btx_${vault.digest(`entry ${positionOf(entry)}`).slice(0, 22)}`

interface Named extends ListedEntry {
  readonly id: string
}

function viewOf(row: Named): object {
  const { currency, kind } = partsOf(row.account as AccountKey)
  return {
    id: row.id,
    currency,
    amount: toWire(row.amount),
    balance: toWire(row.balance),
    account: kind === 'prefund' ? 'available' : 'reserved',
    type: row.plan,
    entity: row.entity,
    created_at: toRfc3339(instant(row.at)),
  }
}
