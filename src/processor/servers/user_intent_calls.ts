/** Lists one user's intents: a command finds the latest one, a query reads from there. */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { ListUserIntentsCall__Output as Call } from '../../../protos/types/causeway/v1/ListUserIntentsCall.js'
import type { PaymentIntentList } from '../../../protos/types/causeway/v1/PaymentIntentList.js'
import { findUserIntents, type FoundIntents } from '../commands/intents/user_intents_find.js'
import { listUserIntents } from '../queries/user_intent_list.js'
import { grpcError } from './grpc_error.js'
import { decided, tenantIn, unaryQuery, type UnaryDependencies } from './unary_handler.js'

export function listByUser(
  dependencies: UnaryDependencies,
): handleUnaryCall<Call, PaymentIntentList> {
  const { memory } = dependencies
  return (call, callback) => {
    const { tenant: named, partner_user_id: userId, ...page } = call.request
    const tenant = tenantIn(memory, named)
    if (tenant === null || userId === '') return callback(grpcError('invalid_request'))
    const command = findUserIntents(tenant, userId)
    void decided(dependencies, call.metadata, { queueKey: tenant, command }).then((found) => {
      if (!found.ok) return callback(grpcError(found.code))
      const { last } = found.view as FoundIntents
      const query = listUserIntents(tenant, userId, page, last)
      unaryQuery<Call, PaymentIntentList>(dependencies, () => query)(call, callback)
    })
  }
}
