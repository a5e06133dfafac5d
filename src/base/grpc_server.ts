/**
 * A gRPC server with authentication and bounds on incomplete requests and connections.
 *
 * - A call is judged on its metadata, before a message is read. Only health and reflection need no
 *   credential; their calls are bounded in number and size.
 * - An open stream is judged again every second, so it ends soon after its caller is revoked.
 * - A service with an rpc that the judge does not know cannot be added.
 * - A unary request is bounded in bytes and in time until it is complete; all incomplete requests
 *   together are bounded too, and the oldest one ends first.
 * - No handler gets a unary request with texts that contain NUL or are not UTF-8. Streams are
 *   checked elsewhere: bodies by the gateways, reports by the rail's client.
 * - A refused or ended call is also reset, which frees its memory.
 * - TCP beyond loopback is mutual TLS (grpc_tls).
 * - TCP connections are bounded. The oldest unauthenticated one is closed for a new one.
 */
import { createServer as createListener, type AddressInfo, type Socket } from 'node:net'
import { constants, type ServerHttp2Stream } from 'node:http2'
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  status,
  type Metadata,
  type MethodDefinition,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerOptions,
  type ServiceDefinition,
  type StatusObject,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import {
  GRPC_CONNECTIONS_MAX,
  GRPC_HEALTH_CALLS_MAX,
  GRPC_HEALTH_MESSAGE_MAX_BYTES,
  GRPC_INCOMPLETE_MAX,
  GRPC_INCOMPLETE_MAX_BYTES,
  GRPC_MESSAGE_MAX_BYTES,
  GRPC_REFLECTION_CALLS_MAX,
  GRPC_REFLECTION_MAX_BYTES,
  GRPC_REQUEST_WITHIN_MS,
  GRPC_STREAMS_MAX,
  GRPC_UNARY_MESSAGE_MAX_BYTES,
} from './constants.js'
import { createHealth } from './grpc_health.js'
import { CLEARTEXT, type GrpcTls } from './grpc_tls.js'
import { isUnixSocket, splitAddress } from './network.js'
import { everyText, isCleanText } from './text.js'

export interface GrpcServer {
  /** The grpc-js server; bind and close it only with the members below. */
  readonly server: Server
  addService(definition: ServiceDefinition, handlers: UntypedServiceImplementation): void
  /** Binds an address (`host:port` or `unix:path`); resolves with the port, 0 for a socket. */
  bind(address: string): Promise<number>
  /** The status of the health service; not serving until the first call. */
  setServing(isServing: boolean): void
  /** Not serving any more. Waits for open calls, at most this long. */
  close(withinMs: number): Promise<void>
}

export type CallEnd = Pick<StatusObject, 'code' | 'details'> & Partial<StatusObject>

export type Judgment = 'granted' | 'unauthenticated' | 'denied'

/** Decides who may call what (auth/rpc_access). */
export interface CallJudge {
  isListed(path: string): boolean
  /** @param certificate the name in the verified client certificate */
  judge(path: string, metadata: Metadata, certificate: () => string | undefined): Judgment
}

export interface GrpcServerOptions {
  readonly access: CallJudge
  /** Status of a call without a valid credential. */
  readonly unauthenticated: CallEnd
  /** Status of a call that its caller may not make. */
  readonly denied: CallEnd
  /** Status of a request that is not complete in time. */
  readonly tooSlow: CallEnd
  /** Status of a request with texts that are not clean (base/text) or not UTF-8. */
  readonly malformed: CallEnd
  readonly options?: ServerOptions
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
}

export function createGrpcServer({
  access,
  unauthenticated,
  denied,
  tooSlow,
  malformed,
  options,
  tls = CLEARTEXT,
}: GrpcServerOptions): GrpcServer {
  const connections = createConnections(tls)
  const incomplete = createIncompleteRequests(tooSlow)
  const healthCalls = createOpenCalls(GRPC_HEALTH_CALLS_MAX)
  const reflectionCalls = createOpenCalls(GRPC_REFLECTION_CALLS_MAX)
  const health = createHealth()
  const streams = createStreamChecks()

  const guard: ServerInterceptor = ({ path, requestStream, responseStream }, call) => {
    const isHealth = path.startsWith(HEALTH)
    const isReflection = path.startsWith(REFLECTION)
    const isOpen = isHealth || isReflection
    const isStream = requestStream || responseStream
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const certificate = (): string | undefined => certificateOf(call)
            const judgment = access.judge(path, metadata, certificate)
            if (judgment !== 'unauthenticated') connections.trust(call)
            if (!isOpen && judgment !== 'granted') {
              return end(call, judgment === 'denied' ? denied : unauthenticated)
            }
            if (isHealth) healthCalls.add(call)
            if (isReflection) {
              reflectionCalls.add(call)
              endBeyond(call, GRPC_REFLECTION_MAX_BYTES)
            }
            if (isStream && !isOpen) {
              streams.add(call, () => access.judge(path, metadata, certificate))
            }
            if (!requestStream) incomplete.add(call, isHealth)
            pass(metadata)
          },
          onReceiveMessage: (message, pass) => {
            if (message !== MALFORMED) return pass(message)
            incomplete.remove(call)
            end(call, malformed)
          },
          onReceiveHalfClose: (pass) => {
            incomplete.remove(call)
            pass()
          },
          onCancel: () => {
            incomplete.remove(call)
            healthCalls.remove(call)
            reflectionCalls.remove(call)
          },
        }),
    })
  }

  const server = new Server({
    'grpc.max_concurrent_streams': GRPC_STREAMS_MAX,
    'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
    ...options,
    interceptors: [guard],
  })
  server.addService(healthService, health.handlers)
  return {
    server,
    addService: (definition, handlers) => {
      for (const { path } of Object.values(definition)) {
        if (!access.isListed(path)) throw new Error(`${path} has no entry in the access table`)
      }
      server.addService(checked(definition), handlers)
      for (const { path } of Object.values(definition)) health.add(serviceIn(path))
    },
    bind: (address) =>
      isUnixSocket(address) ? bindSocket(server, address) : connections.bind(server, address),
    setServing: (isServing) => health.setServing(isServing),
    close: (withinMs) =>
      new Promise((resolve) => {
        health.stop()
        connections.stopListening()
        streams.stop()
        const force = setTimeout(() => {
          server.forceShutdown()
          resolve()
        }, withinMs)
        server.tryShutdown(() => {
          clearTimeout(force)
          resolve()
        })
      }),
  }
}

/** `/SERVICE/Method` */
const serviceIn = (path: string): string => path.split('/')[1] ?? ''

const HEALTH = '/grpc.health.v1.Health/'
const REFLECTION = '/grpc.reflection.'
const TOO_MANY = { code: status.RESOURCE_EXHAUSTED, details: 'Too many requests at once' }

/** Replaces a malformed request. */
const MALFORMED = Symbol('malformed')

function checked(definition: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      method.requestStream ? method : { ...method, requestDeserialize: strict(method) },
    ]),
  )
}

function strict<Request>({
  requestDeserialize: read,
}: MethodDefinition<Request, unknown>): (bytes: Buffer) => Request {
  return (bytes) => {
    const request = read(bytes)
    const isStrict = everyText(request, (text) => isCleanText(text) && isIn(bytes, text))
    return isStrict ? request : (MALFORMED as Request)
  }
}

/** Invalid UTF-8, such as a lone surrogate, is decoded as this character. */
const REPLACEMENT = '\ufffd'

/** Whether the text was sent as decoded. */
const isIn = (bytes: Buffer, text: string): boolean =>
  !text.includes(REPLACEMENT) || bytes.includes(text)

/** The text of grpc-js itself. */
const tooLarge = (bytes: number, most: number): CallEnd => ({
  code: status.RESOURCE_EXHAUSTED,
  details: `Received message larger than max (${bytes} vs ${most})`,
})

/**
 * Ends the call without reading the remaining request. An answer that has begun ends with trailers;
 * Node never stops sending on a stream that is closed before them.
 */
function end(call: ServerInterceptingCallInterface, how: CallEnd): void {
  const stream = streamOf(call)
  const close = (): void => stream.close(constants.NGHTTP2_NO_ERROR)
  const hasBegun = stream.headersSent
  call.sendStatus(how)
  if (hasBegun) stream.once('wantTrailers', () => setImmediate(close))
  else close()
}

/** The common name in the client certificate, which TLS has verified; undefined without one. */
function certificateOf(call: ServerInterceptingCallInterface): string | undefined {
  const certificate = call.getAuthContext().sslPeerCertificate
  const name = certificate?.subject.CN
  return typeof name === 'string' ? name : undefined
}

/** Ends a stream whose requests are larger than this. */
function endBeyond(call: ServerInterceptingCallInterface, most: number): void {
  let bytes = 0
  streamOf(call).on('data', (chunk: Buffer) => {
    bytes += chunk.length
    // Once: chunks can follow until the trailers are sent.
    if (bytes > most && bytes - chunk.length <= most) end(call, tooLarge(bytes, most))
  })
}

interface OpenCalls {
  add(call: ServerInterceptingCallInterface): void
  remove(call: ServerInterceptingCallInterface): void
}

/** Open calls without a credential; the oldest one ends for a new one. */
function createOpenCalls(most: number): OpenCalls {
  const open = new Set<ServerInterceptingCallInterface>()
  return {
    add: (call) => {
      const [oldest] = open
      if (oldest !== undefined && open.size >= most) {
        open.delete(oldest)
        end(oldest, TOO_MANY)
      }
      open.add(call)
    },
    remove: (call) => void open.delete(call),
  }
}

/** grpc-js gives no other way to count a request's bytes or to reset its stream. */
const streamOf = (call: ServerInterceptingCallInterface): ServerHttp2Stream =>
  (call as unknown as { readonly stream: ServerHttp2Stream }).stream

interface StreamChecks {
  /** @param judge judges the open stream again */
  add(call: ServerInterceptingCallInterface, judge: () => Judgment): void
  stop(): void
}

const STREAM_CHECK_INTERVAL_MS = 1_000

/** Ends open streams whose callers lose their access. */
function createStreamChecks(): StreamChecks {
  const open = new Map<ServerHttp2Stream, () => Judgment>()
  const timer = setInterval(() => {
    for (const [stream, judge] of open) {
      if (judge() !== 'granted') stream.close(constants.NGHTTP2_CANCEL)
    }
  }, STREAM_CHECK_INTERVAL_MS)
  timer.unref()
  return {
    add: (call, judge) => {
      const stream = streamOf(call)
      open.set(stream, judge)
      stream.once('close', () => open.delete(stream))
    },
    stop: () => clearInterval(timer),
  }
}

interface IncompleteRequests {
  add(call: ServerInterceptingCallInterface, isHealth: boolean): void
  remove(call: ServerInterceptingCallInterface): void
}

/** A message starts with a byte of flags and four of its length. */
const PREFIX_BYTES = 5

/** Unary requests that have not arrived completely, oldest first. */
function createIncompleteRequests(tooSlow: CallEnd): IncompleteRequests {
  interface Request {
    readonly timer: NodeJS.Timeout
    prefix: Buffer
    bytes: number
  }
  const requests = new Map<ServerInterceptingCallInterface, Request>()
  let bytes = 0

  const add = (call: ServerInterceptingCallInterface, isHealth: boolean): void => {
    // After a pause of this process, data that has arrived is read before the call is ended.
    const timer = setTimeout(() => setImmediate(cut, call, tooSlow), GRPC_REQUEST_WITHIN_MS)
    const request = { timer, prefix: Buffer.alloc(0), bytes: 0 }
    requests.set(call, request)
    shed()
    const most = isHealth ? GRPC_HEALTH_MESSAGE_MAX_BYTES : GRPC_UNARY_MESSAGE_MAX_BYTES
    streamOf(call).on('data', (chunk: Buffer) => take(call, request, chunk, most))
  }

  const take = (
    call: ServerInterceptingCallInterface,
    request: Request,
    chunk: Buffer,
    most: number,
  ): void => {
    if (!requests.has(call)) return
    request.bytes += chunk.length
    bytes += chunk.length
    if (request.prefix.length < PREFIX_BYTES) {
      const head = chunk.subarray(0, PREFIX_BYTES - request.prefix.length)
      request.prefix = Buffer.concat([request.prefix, head])
    }
    const isAnnounced = request.prefix.length === PREFIX_BYTES
    const size = Math.max(
      isAnnounced ? request.prefix.readUInt32BE(1) : 0,
      request.bytes - PREFIX_BYTES,
    )
    if (size > most) cut(call, tooLarge(size, most))
    else shed()
  }

  const shed = (): void => {
    while (requests.size > GRPC_INCOMPLETE_MAX || bytes > GRPC_INCOMPLETE_MAX_BYTES) {
      const [oldest] = requests.keys()
      if (oldest === undefined) return
      cut(oldest, TOO_MANY)
    }
  }

  const cut = (call: ServerInterceptingCallInterface, how: CallEnd): void => {
    if (remove(call)) end(call, how)
  }

  const remove = (call: ServerInterceptingCallInterface): boolean => {
    const request = requests.get(call)
    if (request === undefined) return false
    clearTimeout(request.timer)
    bytes -= request.bytes
    return requests.delete(call)
  }

  return { add, remove }
}

interface Connections {
  bind(server: Server, address: string): Promise<number>
  /** Marks the call's connection as authenticated. */
  trust(call: ServerInterceptingCallInterface): void
  stopListening(): void
}

function createConnections(tls: GrpcTls): Connections {
  interface Connection {
    readonly socket: Socket
    isTrusted: boolean
  }
  const open = new Map<string, Connection>()
  const stops: (() => void)[] = []

  const admit = (socket: Socket): boolean => {
    if (open.size >= GRPC_CONNECTIONS_MAX) {
      const oldest = [...open].find(([, { isTrusted }]) => !isTrusted)
      if (oldest === undefined) return false
      open.delete(oldest[0])
      oldest[1].socket.destroy()
    }
    const peer = peerOf(socket)
    const connection = { socket, isTrusted: false }
    open.set(peer, connection)
    socket.on('close', () => {
      if (open.get(peer) === connection) open.delete(peer)
    })
    return true
  }

  return {
    bind: async (server, address) => {
      const { host, port } = splitAddress(address)
      const injector = server.createConnectionInjector(tls.serverCredentials(address))
      const listener = createListener({ noDelay: true }, (socket) => {
        if (admit(socket)) injector.injectConnection(socket)
        else socket.destroy()
      })
      stops.push(() => listener.close())
      return new Promise((resolve, reject) => {
        listener.once('error', (error) => reject(cannotListen(address, error)))
        listener.listen(port, host, () => resolve((listener.address() as AddressInfo).port))
      })
    },
    trust: (call) => {
      const connection = open.get(peerOf(call.getConnectionInfo()))
      if (connection !== undefined) connection.isTrusted = true
    },
    stopListening: () => {
      for (const stop of stops) stop()
    },
  }
}

const peerOf = ({
  remoteAddress = '',
  remotePort = 0,
}: {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}): string => `${remoteAddress} ${remotePort}`

function bindSocket(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port)
      else reject(cannotListen(address, error))
    })
  })
}

const cannotListen = (address: string, error: Error): Error =>
  new Error(`cannot listen on ${address}: ${error.message}`)
