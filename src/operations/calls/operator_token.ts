/**
 * The address that an operator calls, and the token: that of OPERATOR_TOKEN_FILE or
 * `operator.token` in DATA_DIR.
 *
 * - The stack of DATA_DIR is called; on a machine without one, PROCESSOR_ADDRESS.
 */
import { existsSync } from 'node:fs'
import { NO_LOG, openGrpcTls } from '../../grpc/tls.js'
import { readTokenFile } from '../../files/secret_file.js'
import { dataFile, type Settings } from '../../settings/settings.js'
import { FILES } from '../../base/subjects.js'
import { CommandFault } from './command_fault.js'
import type { OperatorAccess } from './calls.js'
import type { Sandbox } from './sandbox.js'

export const operatorAccess = (
  sandbox: Pick<Sandbox, 'grpc_address'> | undefined,
  settings: Settings,
  tls = openGrpcTls(settings, NO_LOG),
): OperatorAccess => ({
  address: sandbox?.grpc_address ?? settings.PROCESSOR_ADDRESS,
  token: () => readOperatorToken(settings),
  tls,
})

const operatorTokenFile = (settings: Settings): string =>
  settings.OPERATOR_TOKEN_FILE || dataFile(settings, FILES.operatorToken)

/** @throws CommandFault without a file, SecretFileError when it is not trusted */
function readOperatorToken(settings: Settings): string {
  const file = operatorTokenFile(settings)
  if (!existsSync(file)) {
    throw new CommandFault(
      `No operator token in ${file}: make run writes the first one, or set OPERATOR_TOKEN_FILE.`,
    )
  }
  return readTokenFile(file, { isNamed: settings.OPERATOR_TOKEN_FILE !== '' })
}
