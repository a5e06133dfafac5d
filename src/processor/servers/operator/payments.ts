/** The operators' calls about payouts, intents, unknown outcomes and discrepancies. */
import type { OperatorHandlers } from '../../../../protos/types/causeway/operator/v1/Operator.js'
import { resolveIntent, reverseIntent } from '../../commands/intents/intent_resolve.js'
import { inquire } from '../../commands/operators/inquire.js'
import { showPayee } from '../../queries/payee_show.js'
import { showIntent } from '../../queries/intent_show.js'
import { listUnknownOutcomes } from '../../queries/unknown_outcome_list.js'
import { operatorWork, unary, unaryQuery, type UnaryDependencies } from '../unary_handler.js'
import { resolveDiscrepancy } from '../../commands/rail_reports/discrepancy_resolve.js'
import { resolvePayout, reversePayout } from '../../commands/payouts/payout_resolve.js'
import { approvePayout, rejectPayout } from '../../commands/payouts/payout_review.js'
import { listDiscrepancies } from '../../queries/discrepancy_list.js'
import { listHeldPayouts } from '../../queries/held_payout_list.js'
import { showPayout } from '../../queries/payout_show.js'

type Calls =
  | 'ListUnknownOutcomes'
  | 'ShowIntent'
  | 'ResolveIntent'
  | 'ReverseIntent'
  | 'ListHeldPayouts'
  | 'ShowPayout'
  | 'ApprovePayout'
  | 'RejectPayout'
  | 'ResolvePayout'
  | 'ReversePayout'
  | 'Inquire'
  | 'ShowPayee'
  | 'ListDiscrepancies'
  | 'ResolveDiscrepancy'

export function paymentCalls(dependencies: UnaryDependencies): Pick<OperatorHandlers, Calls> {
  const { clock, memory } = dependencies
  return {
    ListUnknownOutcomes: unaryQuery(dependencies, (page) => listUnknownOutcomes(page, clock.now())),
    Inquire: unary(dependencies, ({ actor, payment_id }) =>
      operatorWork(actor, (a) => inquire(a, payment_id)),
    ),
    ShowPayee: unaryQuery(dependencies, ({ payment_id }) => showPayee(memory, payment_id)),
    ResolveIntent: unary(dependencies, ({ actor, intent_id, ...found }) =>
      operatorWork(actor, (a) => resolveIntent(a, intent_id, found)),
    ),
    ReverseIntent: unary(dependencies, ({ actor, intent_id, evidence }) =>
      operatorWork(actor, (a) => reverseIntent(a, intent_id, evidence)),
    ),
    ShowIntent: unaryQuery(dependencies, ({ intent_id }) => showIntent(intent_id)),
    ListHeldPayouts: unaryQuery(dependencies, listHeldPayouts),
    ShowPayout: unaryQuery(dependencies, ({ payout_id }) => showPayout(payout_id)),
    ApprovePayout: unary(dependencies, ({ actor, payout_id, other_than }) =>
      operatorWork(actor, (a) => approvePayout(a, payout_id, other_than)),
    ),
    RejectPayout: unary(dependencies, ({ actor, payout_id }) =>
      operatorWork(actor, (a) => rejectPayout(a, payout_id)),
    ),
    ResolvePayout: unary(dependencies, ({ actor, payout_id, ...found }) =>
      operatorWork(actor, (a) => resolvePayout(a, payout_id, found)),
    ),
    ReversePayout: unary(dependencies, ({ actor, payout_id, evidence }) =>
      operatorWork(actor, (a) => reversePayout(a, payout_id, evidence)),
    ),
    ListDiscrepancies: unaryQuery(dependencies, listDiscrepancies),
    ResolveDiscrepancy: unary(dependencies, ({ actor, discrepancy_id, ...found }) =>
      operatorWork(actor, (a) => resolveDiscrepancy(a, discrepancy_id, found)),
    ),
  }
}
