/** The operators' calls about intents, and about whatever has no known outcome. */
import type { OperatorHandlers } from '../../../../protos/types/causeway/v1/Operator.js'
import { resolveIntent, reverseIntent } from '../../commands/intents/intent_resolve.js'
import { showIntent } from '../../queries/intent_show.js'
import { listUnknownOutcomes } from '../../queries/unknown_outcome_list.js'
import { by, ours } from './calls.js'
import { unary, unaryQuery, type UnaryDependencies } from '../unary_handler.js'

type Calls = 'ListUnknownOutcomes' | 'ResolveIntent' | 'ReverseIntent' | 'ShowIntent'

export function intentCalls(dependencies: UnaryDependencies): Pick<OperatorHandlers, Calls> {
  const { clock } = dependencies
  return {
    ListUnknownOutcomes: unaryQuery(dependencies, (page) => listUnknownOutcomes(page, clock.now())),
    ResolveIntent: unary(dependencies, ({ actor, intent_id, ...found }) =>
      ours(by(actor, (a) => resolveIntent(a, intent_id, found))),
    ),
    ReverseIntent: unary(dependencies, ({ actor, intent_id, evidence }) =>
      ours(by(actor, (a) => reverseIntent(a, intent_id, evidence))),
    ),
    ShowIntent: unaryQuery(dependencies, ({ intent_id }) => showIntent(intent_id)),
  }
}
