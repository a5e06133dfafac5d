/**
 * The standard service `grpc.health.v1.Health`: Check, Watch and List.
 *
 * - All services of a server have one status: not serving in start-up and while it stops.
 * - Callers need no credential, so unknown service names use no memory, and a watch is removed when
 *   it ends. The server bounds the calls (grpc/server).
 */
import {
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'

type Status = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'

interface HealthRequest {
  readonly service: string
}
interface HealthResponse {
  readonly status: Status
}
interface HealthList {
  readonly statuses: Readonly<Record<string, HealthResponse>>
}
type WatchCall = ServerWritableStream<HealthRequest, HealthResponse>

export interface GrpcHealth {
  readonly handlers: UntypedServiceImplementation
  /** Adds a service of the server. */
  add(service: string): void
  setServing(isServing: boolean): void
  /** Not serving from now on: sends the status to all watches, then ends them. */
  stop(): void
}

export function createHealth(): GrpcHealth {
  /** The empty name is the whole server. */
  const services = new Set([''])
  const watches = new Map<WatchCall, string>()
  let isServing = false
  let isStopped = false

  const statusOf = (service: string): Status => {
    if (!services.has(service)) return 'SERVICE_UNKNOWN'
    return isServing ? 'SERVING' : 'NOT_SERVING'
  }

  const setServing = (now: boolean): void => {
    if (isStopped || now === isServing) return
    isServing = now
    for (const [call, service] of watches) {
      if (services.has(service)) call.write({ status: statusOf(service) })
    }
  }

  const handlers = {
    check: (
      { request: { service } }: ServerUnaryCall<HealthRequest, HealthResponse>,
      callback: sendUnaryData<HealthResponse>,
    ): void => {
      if (services.has(service)) return callback(null, { status: statusOf(service) })
      callback({ code: status.NOT_FOUND, details: 'unknown service' })
    },
    list: (_call: unknown, callback: sendUnaryData<HealthList>): void => {
      const statuses = [...services].map((service) => [service, { status: statusOf(service) }])
      callback(null, { statuses: Object.fromEntries(statuses) as HealthList['statuses'] })
    },
    watch: (call: WatchCall): void => {
      call.write({ status: statusOf(call.request.service) })
      call.on('cancelled', () => watches.delete(call))
      if (isStopped) call.end()
      else watches.set(call, call.request.service)
    },
  }

  return {
    handlers,
    add: (service) => void services.add(service),
    setServing,
    stop: () => {
      setServing(false)
      isStopped = true
      for (const call of watches.keys()) call.end()
      watches.clear()
    },
  }
}
