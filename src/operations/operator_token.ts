/**
 * The address that an operator calls, and the token: that of OPERATOR_TOKEN_FILE or
 * `operator.token` in DATA_DIR.
 *
 * - The stack of DATA_DIR is called; on a machine without one, PROCESSOR_ADDRESS.
 * - A file that others can read is refused: its token may have been copied.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { NO_LOG, openGrpcTls } from '../base/grpc_tls.js'
import { dataFile, type Settings } from '../base/settings.js'
import { FILES } from '../base/subjects.js'
import { CommandFault } from './command.js'
import type { OperatorAccess } from './calls.js'
import type { Sandbox } from './sandbox.js'

const OTHERS = 0o077

export const operatorAccess = (
  sandbox: Pick<Sandbox, 'grpc_address'> | undefined,
  settings: Settings,
): OperatorAccess => ({
  address: sandbox?.grpc_address ?? settings.PROCESSOR_ADDRESS,
  token: () => readOperatorToken(operatorTokenFile(settings)),
  tls: openGrpcTls(settings, NO_LOG),
})

export const operatorTokenFile = (settings: Settings): string =>
  settings.OPERATOR_TOKEN_FILE || dataFile(settings, FILES.operatorToken)

/** @throws CommandFault without a file, or when others can read it */
function readOperatorToken(file: string): string {
  if (!existsSync(file)) {
    throw new CommandFault(
      `No operator token in ${file}: make run writes the first one, or set OPERATOR_TOKEN_FILE.`,
    )
  }
  if ((statSync(file).mode & OTHERS) !== 0) {
    throw new CommandFault(
      `Others can read ${file}: chmod 600 it, and rotate the token if others may have read it.`,
    )
  }
  return readFileSync(file, 'utf8').trim()
}
