/** The operators' calls about payouts: one shown, reviews, unknown outcomes, discrepancies. */
import type { OperatorHandlers } from '../../../../protos/types/causeway/v1/Operator.js'
import { resolveDiscrepancy } from '../../commands/rail_reports/discrepancy_resolve.js'
import { resolvePayout, reversePayout } from '../../commands/payouts/payout_resolve.js'
import { approvePayout, rejectPayout } from '../../commands/payouts/payout_review.js'
import { listDiscrepancies } from '../../queries/discrepancy_list.js'
import { listHeldPayouts } from '../../queries/held_payout_list.js'
import { showPayout } from '../../queries/payout_show.js'
import { by, ours } from './calls.js'
import { unary, unaryQuery, type UnaryDependencies } from '../unary_handler.js'

type Calls =
  | 'ListHeldPayouts'
  | 'ShowPayout'
  | 'ApprovePayout'
  | 'RejectPayout'
  | 'ResolvePayout'
  | 'ReversePayout'
  | 'ListDiscrepancies'
  | 'ResolveDiscrepancy'

export function payoutCalls(dependencies: UnaryDependencies): Pick<OperatorHandlers, Calls> {
  return {
    ListHeldPayouts: unaryQuery(dependencies, listHeldPayouts),
    ShowPayout: unaryQuery(dependencies, ({ payout_id }) => showPayout(payout_id)),
    ApprovePayout: unary(dependencies, ({ actor, payout_id }) =>
      ours(by(actor, (a) => approvePayout(a, payout_id))),
    ),
    RejectPayout: unary(dependencies, ({ actor, payout_id }) =>
      ours(by(actor, (a) => rejectPayout(a, payout_id))),
    ),
    ResolvePayout: unary(dependencies, ({ actor, payout_id, ...found }) =>
      ours(by(actor, (a) => resolvePayout(a, payout_id, found))),
    ),
    ReversePayout: unary(dependencies, ({ actor, payout_id, evidence }) =>
      ours(by(actor, (a) => reversePayout(a, payout_id, evidence))),
    ),
    ListDiscrepancies: unaryQuery(dependencies, listDiscrepancies),
    ResolveDiscrepancy: unary(dependencies, ({ actor, discrepancy_id, ...found }) =>
      ours(by(actor, (a) => resolveDiscrepancy(a, discrepancy_id, found))),
    ),
  }
}
