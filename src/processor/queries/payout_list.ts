/**
 * A tenant's payouts, newest first, with the filters of the public API.
 *
 * - Ids grow with time, so a time bound is an id bound.
 * - Only first pages are cached: partners poll them, while later pages are read once.
 */
import { AFTER_ALL_IDS, leastIdAt, type TenantId } from '../../base/ids.js'
import { payoutContextIn, type PayoutState } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import type { ListPayouts__Output as ListPayouts } from '../../../protos/types/causeway/v1/ListPayouts.js'
import { unlessCorrupt, type ListedActor, type PayoutFilter } from '../../store/lists.js'
import { answer } from '../cycle/answer.js'
import { INVALID_PAGE, jsonBytes, pageOf, pageView, type Shape } from './page.js'
import type { Query, QueryContext } from './query.js'
import { contextOf, shapeOfViewed, viewed, type Viewed } from './readable.js'
import { RawJson } from './raw_json.js'

export function listPayouts(tenant: TenantId, request: ListPayouts): Query {
  return {
    name: 'list_payouts',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault, firstPageCache } = ctx
      const filter = filterOf(tenant, request)
      const page = pageOf(vault, `payouts ${JSON.stringify(filter)}`, request)
      if (page === null) return INVALID_PAGE
      const below = page.after ?? filter.below
      const rows = await lists.payouts({ ...filter, below }, page.limit + 1)
      const write = (parsed: readonly ListedActor[]): string =>
        JSON.stringify(pageView(vault, page, readable(parsed, ctx), SHAPE))
      const quick = (): string => write(rows.parsed())
      const isFirst = page.after === null
      const list = `${page.list} ${page.limit}`
      const json = await unlessCorrupt(
        () => (isFirst ? firstPageCache.page(list, rows.text, quick) : quick()),
        async () => write(await rows.checked()),
      )
      return answer(new RawJson(json))
    },
  }
}

const readable = (
  rows: readonly ListedActor[],
  ctx: QueryContext,
): readonly Viewed<ListedActor>[] =>
  viewed(rows, ctx, ({ id, state, context }) =>
    payoutView(state as PayoutState, contextOf(id, payoutContextIn(context)), ctx.brand),
  )

const SHAPE: Shape<Viewed<ListedActor>> = {
  ...shapeOfViewed<ListedActor>(),
  // Metadata is the only large part of a payout.
  bytesOf: ({ row, view }) =>
    view === null ? 0 : jsonBytes(payoutContextIn(row.context)!.metadata),
}

function filterOf(tenant: TenantId, request: ListPayouts): PayoutFilter {
  const { status, reference, beneficiary_id: beneficiary } = request
  const after = request.created_after === undefined ? null : Number(request.created_after)
  const before = request.created_before === undefined ? null : Number(request.created_before)
  return {
    tenant,
    ...(status === undefined ? {} : { state: status }),
    ...(reference === undefined ? {} : { reference }),
    ...(beneficiary === undefined ? {} : { beneficiary }),
    from: after === null ? '' : leastIdAt('payout', after + 1),
    below: before === null ? AFTER_ALL_IDS : leastIdAt('payout', before),
  }
}
