/**
 * The operators' call that walks all that is sealed: a slice is read beside the cycle, then sealed
 * anew as one command of it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { ReencryptSecretsRequest__Output as Request } from '../../../protos/types/causeway/v1/ReencryptSecretsRequest.js'
import type { EncryptedRowsPage as WirePage } from '../../../protos/types/causeway/v1/EncryptedRowsPage.js'
import { countSealed, reencryptSecretRows } from '../commands/partners/secrets_reencrypt.js'
import { encryptedRowsPage, type EncryptedRowsPage } from '../queries/encrypted_rows_page.js'
import { grpcError } from './auth_interceptor.js'
import { by, ours } from './operator/calls.js'
import { unary, type UnaryDependencies } from './unary_handler.js'

export function reencryptSecrets(
  dependencies: UnaryDependencies,
): handleUnaryCall<Request, WirePage> {
  const { auth, reader } = dependencies
  return (call, callback) => {
    if (!auth.admits(call.metadata)) return callback(auth.refusal())
    const { actor, count_only, cursor } = call.request
    void reader.run(encryptedRowsPage(count_only, cursor)).then((found) => {
      if (!found.ok) return callback(grpcError(found.code))
      const slice = found.view as EncryptedRowsPage
      const command = count_only
        ? countSealed(slice)
        : by(actor, (a) => reencryptSecretRows(a, slice))
      unary<Request, WirePage>(dependencies, () => ours(command))(call, callback)
    })
  }
}
