/** The operators' calls about callers of gRPC. */
import type { CallersHandlers } from '../../../protos/types/causeway/operator/v1/Callers.js'
import { callerOf } from '../../auth/caller.js'
import type { Callers } from '../../auth/callers.js'
import { createCaller } from '../commands/callers/caller_create.js'
import { listCallers, revokeCaller } from '../commands/callers/caller_revoke.js'
import { rotateCaller } from '../commands/callers/caller_rotate.js'
import { grpcError } from './grpc_error.js'
import { operatorWork, ownWork, unary, type UnaryDependencies } from './unary_handler.js'

export function callersService(dependencies: UnaryDependencies, callers: Callers): CallersHandlers {
  return {
    Identify: ({ metadata }, done) => {
      const caller = callerOf(metadata)
      if (caller === undefined) done(grpcError('authentication_failed'))
      else done(null, { name: caller.name, roles: [...caller.roles] })
    },
    List: unary(dependencies, () => ownWork(listCallers(callers))),
    Create: unary(dependencies, ({ actor, token_sha256, ...given }) => {
      const digest = token_sha256 === undefined ? {} : { tokenSha256: token_sha256 }
      return operatorWork(actor, (a) => createCaller(a, callers, { ...given, ...digest }))
    }),
    Rotate: unary(dependencies, ({ actor, name, token_sha256: digest }) =>
      operatorWork(actor, (a) => rotateCaller(a, callers, name, digest)),
    ),
    Revoke: unary(dependencies, ({ actor, name }) =>
      operatorWork(actor, (a) => revokeCaller(a, callers, name)),
    ),
  }
}
