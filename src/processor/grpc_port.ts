/**
 * The gRPC port of a processor: how calls without access and malformed ones are answered, and how
 * soon a client that is gone is noticed.
 *
 * Does not own: the services (server, candidate_server).
 */
import type { Callers } from '../auth/callers.js'
import { createRpcAccess } from '../auth/rpc_access.js'
import { violationAt } from '../api/checks/schema_violation.js'
import { HOUR, SECOND } from '../base/clock.js'
import { ANSWER_WITHIN_MS } from '../base/constants.js'
import type { CallObserver } from '../grpc/ended_calls.js'
import { createGrpcServer, type GrpcServer } from '../grpc/server.js'
import type { GrpcTls } from '../grpc/tls.js'
import { CLEAN_TEXT_RULE } from '../base/text.js'
import { grpcError } from './servers/grpc_error.js'
import { fieldViolation } from './servers/status_details.js'

/** An owner counts the gateways that reach it, so one that is cut off must be noticed soon. */
const KEEPALIVE_MS = 2 * SECOND
/** A gateway that is paused for longer has answered none of its calls in time. */
const KEEPALIVE_TIMEOUT_MS = ANSWER_WITHIN_MS

export function openGrpcPort(callers: Callers, tls: GrpcTls, observe?: CallObserver): GrpcServer {
  return createGrpcServer({
    access: createRpcAccess(callers),
    unauthenticated: grpcError('authentication_failed'),
    denied: grpcError('permission_denied'),
    tooSlow: grpcError('timeout'),
    malformed: (path) => {
      const violation = violationAt(path, CLEAN_TEXT_RULE)
      return grpcError('invalid_request', [fieldViolation('', violation)])
    },
    tls,
    ...(observe === undefined ? {} : { observe }),
    options: {
      'grpc.max_connection_idle_ms': HOUR,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    },
  })
}
