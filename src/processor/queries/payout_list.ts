/**
 * A tenant's payouts, newest first, by any filters of the contract.
 *
 * L1. Ids grow with time, so a bound in time is a bound of ids.
 */
import { REFERENCE_MAX } from '../../base/bounds.js'
import { leastIdAt, type TenantId } from '../../base/ids.js'
import type { PayoutContext, PayoutState } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import type { ListPayouts__Output as ListPayouts } from '../../../protos/types/causeway/v1/ListPayouts.js'
import type { PayoutFilter } from '../../store/lists.js'
import type { ActorRow } from '../../store/tables.js'
import { refuse } from '../cycle/group.js'
import { answerPage, pageOf } from './page.js'
import type { Query } from './query.js'

export function listPayouts(tenant: TenantId, request: ListPayouts): Query {
  return {
    name: 'list_payouts',
    run: async ({ lists, vault, brand }) => {
      const filter = filterOf(tenant, request)
      if (filter === null) return refuse('invalid_request')
      const page = pageOf(vault, `payouts ${JSON.stringify(filter)}`, request)
      if (page === null) return refuse('invalid_request')
      const below = page.after ?? filter.below
      const rows = await lists.payouts({ ...filter, below }, page.limit + 1)
      return answerPage(vault, page, rows, {
        view: (row) => viewOfRow(row, brand),
        positionOf: ({ id }) => id,
      })
    },
  }
}

export const viewOfRow = ({ state, context }: ActorRow, brand: string): object =>
  payoutView(state as PayoutState, JSON.parse(context) as PayoutContext, brand)

const STATUSES: ReadonlySet<string> = new Set<PayoutState>([
  'created',
  'processing',
  'completed',
  'failed',
  'reversed',
])
const BENEFICIARY_MAX = 128

function filterOf(tenant: TenantId, request: ListPayouts): PayoutFilter | null {
  const { status, reference, beneficiary_id: beneficiary } = request
  const after = request.created_after === undefined ? null : Number(request.created_after)
  const before = request.created_before === undefined ? null : Number(request.created_before)
  const isValid =
    (status === undefined || STATUSES.has(status)) &&
    [...(reference ?? '')].length <= REFERENCE_MAX &&
    [...(beneficiary ?? '')].length <= BENEFICIARY_MAX &&
    (after === null || before === null || before > after)
  if (!isValid) return null
  return {
    tenant,
    ...(status === undefined ? {} : { state: status }),
    ...(reference === undefined ? {} : { reference }),
    ...(beneficiary === undefined ? {} : { beneficiary }),
    from: after === null ? '' : leastIdAt('payout', after + 1),
    below: before === null ? ABOVE_ALL : leastIdAt('payout', before),
  }
}

/** Sorts behind every id. */
const ABOVE_ALL = '~'
