/**
 * A screening service for trials: it rejects the payouts whose reference asks for it.
 *
 * - It decides in the sandbox only: production gets no answer.
 * - The same question has the same answer, because it follows from the reference alone.
 */
import { status } from '@grpc/grpc-js'
import type { ScreeningHandlers } from '../../../protos/types/causeway/screening/v1/Screening.js'
import type { ProtoGrpcType } from '../../../protos/types/screening.js'
import type { Callers } from '../../auth/callers.js'
import { createRpcAccess } from '../../auth/rpc_access.js'
import { SECOND } from '../../base/clock.js'
import { createGrpcServer } from '../../grpc/server.js'
import type { GrpcTls } from '../../grpc/tls.js'
import { contracts } from '../../grpc/contracts.js'
import { decisionByReference } from '../screening.js'

const SHUT_DOWN_WITHIN_MS = 2 * SECOND

export interface ScreeningServer {
  /** 0 for a socket. */
  readonly port: number
  close(): Promise<void>
}

export interface ScreeningServerOptions {
  /** `unix:/path.sock` or `host:port`; port 0 takes a free one. */
  readonly address: string
  readonly callers: Callers
  readonly tls: GrpcTls
  /** Default: those of the sandbox. */
  readonly handlers?: ScreeningHandlers
}

export async function startScreening(options: ScreeningServerOptions): Promise<ScreeningServer> {
  const { address, callers, tls, handlers = SANDBOX } = options
  const server = createGrpcServer({
    access: createRpcAccess(callers),
    unauthenticated: { code: status.UNAUTHENTICATED, details: 'authentication failed' },
    denied: { code: status.PERMISSION_DENIED, details: 'not a caller of screening' },
    tooSlow: { code: status.DEADLINE_EXCEEDED, details: 'the request did not arrive in time' },
    malformed: () => ({ code: status.INVALID_ARGUMENT, details: 'malformed request' }),
    tls,
  })
  const { Screening } = contracts<ProtoGrpcType>('screening.proto').causeway.screening.v1
  server.addService(Screening.service, handlers)
  const port = await server.bind(address)
  server.setServing(true)
  return { port, close: () => server.close(SHUT_DOWN_WITHIN_MS) }
}

const SANDBOX: ScreeningHandlers = {
  Screen: ({ request }, callback) => {
    if (request.environment !== 'sandbox')
      return callback({ code: status.FAILED_PRECONDITION, details: 'screens the sandbox only' })
    callback(null, { decision: decisionByReference(request.reference) })
  },
}
