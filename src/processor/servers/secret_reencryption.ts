/**
 * The operators' call that re-encrypts secrets: a query reads a page of rows, a command re-encrypts
 * it.
 */
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { ReencryptSecretsRequest__Output as Request } from '../../../protos/types/causeway/operator/v1/ReencryptSecretsRequest.js'
import type { EncryptedRowsPage as WirePage } from '../../../protos/types/causeway/operator/v1/EncryptedRowsPage.js'
import { countSealed, reencryptSecretRows } from '../commands/partners/secrets_reencrypt.js'
import { encryptedRowsPage, type EncryptedRowsPage } from '../queries/encrypted_rows_page.js'
import { grpcError } from './grpc_error.js'
import { actingAs, ownWork, unary, type UnaryDependencies } from './unary_handler.js'

export function reencryptSecrets(
  dependencies: UnaryDependencies,
): handleUnaryCall<Request, WirePage> {
  const { reader } = dependencies
  return (call, callback) => {
    const { actor, count_only, cursor } = call.request
    void reader.run(encryptedRowsPage(count_only, cursor)).then((found) => {
      if (!found.ok) return callback(grpcError(found.code))
      const page = found.view as EncryptedRowsPage
      const command = count_only
        ? countSealed(page)
        : actingAs(actor, (a) => reencryptSecretRows(a, page))
      unary<Request, WirePage>(dependencies, () => ownWork(command))(call, callback)
    })
  }
}
