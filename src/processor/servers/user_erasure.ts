/**
 * The operators' call that erases a user: the cycle finds the user's last payment, a query its id,
 * and the command names the user by it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { EraseUserRequest__Output as Request } from '../../../protos/types/causeway/operator/v1/EraseUserRequest.js'
import type { UserErasure } from '../../../protos/types/causeway/operator/v1/UserErasure.js'
import type { TenantId } from '../../base/ids.js'
import { findUserIntents, type FoundIntents } from '../commands/intents/user_intents_find.js'
import { eraseUser } from '../commands/partners/user_erase.js'
import type { Answer } from '../cycle/answer.js'
import { findUsersPayment, type UsersPayment } from '../queries/user_erasure_list.js'
import { grpcError, refusalError } from './grpc_error.js'
import {
  actingAs,
  decided,
  ownWork,
  tenantIn,
  unary,
  type UnaryDependencies,
} from './unary_handler.js'

export function eraseUserCall(
  dependencies: UnaryDependencies,
): handleUnaryCall<Request, UserErasure> {
  const { memory, reader } = dependencies
  return (call, callback) => {
    const { actor, tenant: named, partner_user_id: userId } = call.request
    const tenant = tenantIn(memory, named)
    if (tenant === null || userId === '') return callback(grpcError('invalid_request'))

    const paymentOf = async (of: TenantId): Promise<Answer> => {
      const found = await decided(dependencies, call.metadata, ownWork(findUserIntents(of, userId)))
      if (!found.ok) return found
      return reader.run(findUsersPayment(of, userId, (found.view as FoundIntents).last))
    }
    void paymentOf(tenant).then((found) => {
      if (!found.ok) return callback(refusalError(found))
      const { intentId } = found.view as UsersPayment
      const command = actingAs(actor, (a) => eraseUser(a, tenant, intentId))
      unary<Request, UserErasure>(dependencies, () => ownWork(command))(call, callback)
    })
  }
}
