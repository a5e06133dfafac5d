/**
 * The operators' call that walks all that is sealed: a slice is read beside the cycle, then sealed
 * anew as one command of it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { ReencryptSecretsRequest__Output as Request } from '../../../protos/types/causeway/v1/ReencryptSecretsRequest.js'
import type { SealedSlice as WireSlice } from '../../../protos/types/causeway/v1/SealedSlice.js'
import { countSealed, resealSecrets } from '../commands/secrets_reseal.js'
import { sealedSlice, type SealedSlice } from '../queries/sealed_slice.js'
import { grpcError } from './guard.js'
import { by, ours } from './operator_calls.js'
import { unary, type UnaryDependencies } from './unary.js'

export function reencryptSecrets(
  dependencies: UnaryDependencies,
): handleUnaryCall<Request, WireSlice> {
  const { guard, reader } = dependencies
  return (call, callback) => {
    if (!guard.admits(call.metadata)) return callback(guard.refusal())
    const { actor, count_only, cursor } = call.request
    void reader.run(sealedSlice(count_only, cursor)).then((found) => {
      if (!found.ok) return callback(grpcError(found.code))
      const slice = found.view as SealedSlice
      const command = count_only ? countSealed(slice) : by(actor, (a) => resealSecrets(a, slice))
      unary<Request, WireSlice>(dependencies, () => ours(command))(call, callback)
    })
  }
}
