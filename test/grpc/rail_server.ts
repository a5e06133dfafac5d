/** A gRPC server of a rail that answers only Describe. */
import { status } from '@grpc/grpc-js'
import type { Test } from 'tap'
import type { RailHandlers } from '../../protos/types/causeway/rail/v1/Rail.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import type { Callers } from '../../src/auth/callers.js'
import { createRpcAccess } from '../../src/auth/rpc_access.js'
import { contracts } from '../../src/grpc/contracts.js'
import { createGrpcServer } from '../../src/grpc/server.js'
import type { GrpcTls } from '../../src/grpc/tls.js'
import { withEveryRole } from '../support/callers.js'

export const TOKEN = 'it_ours'
export const { Rail } = contracts<ProtoGrpcType>().causeway.rail.v1

const end = (code: status) => ({ code, details: '' })

/** @param onDescribe before its answer */
export async function serveRail(
  t: Test,
  onDescribe: (call: Parameters<RailHandlers['Describe']>[0]) => void = () => undefined,
  { tls, callers = withEveryRole(TOKEN) }: { tls?: GrpcTls; callers?: Callers } = {},
) {
  const server = createGrpcServer({
    access: createRpcAccess(callers),
    unauthenticated: end(status.UNAUTHENTICATED),
    denied: end(status.PERMISSION_DENIED),
    tooSlow: end(status.DEADLINE_EXCEEDED),
    malformed: () => end(status.INVALID_ARGUMENT),
    ...(tls && { tls }),
  })
  const handlers: RailHandlers = {
    Describe: (call, callback) => {
      onDescribe(call)
      callback(null, {})
    },
    Link: () => undefined,
    Summarize: () => undefined,
  }
  server.addService(Rail.service, handlers)
  t.teardown(() => server.close(0))
  return { server, port: await server.bind('127.0.0.1:0') }
}
