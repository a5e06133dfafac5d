/**
 * A gRPC server with authentication and bounds on calls (grpc/calls) and connections
 * (grpc/connections).
 *
 * - A call is authorized by its metadata, before a message is read. Only health and reflection need
 *   no credential; their calls are bounded in number and size.
 * - A service with an rpc that the access table lacks cannot be added.
 * - No handler gets a unary request with texts that contain NUL or are not UTF-8. Streams are
 *   checked elsewhere: bodies by the gateways, reports by the rail's client.
 */
import {
  logVerbosity,
  Server,
  ServerInterceptingCall,
  setLogVerbosity,
  type Metadata,
  type MethodDefinition,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerOptions,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import {
  GRPC_HEALTH_CALLS_MAX,
  GRPC_MESSAGE_MAX_BYTES,
  GRPC_REFLECTION_CALLS_MAX,
  GRPC_REFLECTION_MAX_BYTES,
  GRPC_STREAMS_MAX,
} from '../base/constants.js'
import {
  createIncompleteRequests,
  createOpenCalls,
  createStreamChecks,
  endBeyond,
  endCall,
  type CallEnd,
} from './calls.js'
import { bindSocket, createConnections, listen, type Listener } from './connections.js'
import { watchEnd, type CallObserver } from './ended_calls.js'
import { createHealth } from './health.js'
import { CLEARTEXT, type GrpcTls } from './tls.js'
import { isUnixSocket } from '../base/network.js'
import { healthContract } from './contracts.js'
import { isCleanText, pathToText } from '../base/text.js'

/**
 * grpc-js prints each metadata value that it cannot read, before the call is authenticated, so
 * anyone who reaches the port could fill the log. What concerns us is in statuses and exceptions.
 */
setLogVerbosity(logVerbosity.NONE)

export interface GrpcServer {
  /** The grpc-js server; bind and close it only with the members below. */
  readonly server: Server
  addService(definition: ServiceDefinition, handlers: UntypedServiceImplementation): void
  /** Binds `host:port` or `unix:path`, or accepts; resolves with the port, 0 for a socket. */
  bind(address: string | Listener): Promise<number>
  /** The status of the health service; not serving until the first call. */
  setServing(isServing: boolean): void
  /** Not serving any more. Waits for open calls, at most this long. */
  close(withinMs: number): Promise<void>
}

export type AccessDecision = 'granted' | 'unauthenticated' | 'denied'

/** Authenticates and authorizes calls (auth/rpc_access). */
export interface CallAuthorizer {
  isListed(path: string): boolean
  /** @param certificate the name in the verified client certificate */
  authorize(path: string, metadata: Metadata, certificate: () => string | undefined): AccessDecision
}

export interface GrpcServerOptions {
  readonly access: CallAuthorizer
  /** Status of a call without a valid credential. */
  readonly unauthenticated: CallEnd
  /** Status of a call that its caller may not make. */
  readonly denied: CallEnd
  /** Status of a request that is not complete in time. */
  readonly tooSlow: CallEnd
  /** Status of a request with a text that is not clean (base/text) or not UTF-8, at this path. */
  readonly malformed: (path: readonly string[]) => CallEnd
  readonly options?: ServerOptions
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
  /** Default: nothing is told of calls. */
  readonly observe?: CallObserver
}

export function createGrpcServer({
  access,
  unauthenticated,
  denied,
  tooSlow,
  malformed,
  options,
  tls = CLEARTEXT,
  observe,
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
    const watched = observe && watchEnd(call, { path, isStream }, observe)
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            watched?.received(metadata)
            const certificate = (): string | undefined => certificateOf(call)
            const decision = access.authorize(path, metadata, certificate)
            if (decision !== 'unauthenticated') connections.trust(call)
            if (!isOpen && decision !== 'granted') {
              return endCall(call, decision === 'denied' ? denied : unauthenticated)
            }
            if (isHealth) healthCalls.add(call)
            if (isReflection) {
              reflectionCalls.add(call)
              endBeyond(call, GRPC_REFLECTION_MAX_BYTES)
            }
            if (isStream && !isOpen) {
              streams.add(call, () => access.authorize(path, metadata, certificate) === 'granted')
            }
            if (!requestStream) incomplete.add(call, isHealth)
            pass(metadata)
          },
          onReceiveMessage: (message, pass) => {
            if (!(message instanceof Malformed)) return pass(message)
            incomplete.remove(call)
            endCall(call, malformed(message.path))
          },
          onReceiveHalfClose: (pass) => {
            incomplete.remove(call)
            pass()
          },
          onCancel: () => {
            watched?.closed()
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
  server.addService(healthContract(), health.handlers)
  return {
    server,
    addService: (definition, handlers) => {
      for (const { path } of Object.values(definition)) {
        if (!access.isListed(path)) throw new Error(`${path} has no entry in the access table`)
      }
      server.addService(checked(definition), handlers)
      for (const { path } of Object.values(definition)) health.add(serviceIn(path))
    },
    bind: async (address) => {
      if (typeof address !== 'string') return connections.bind(server, address)
      if (isUnixSocket(address)) return bindSocket(server, address)
      return connections.bind(server, await listen(address))
    },
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

/** Replaces a malformed request. */
class Malformed {
  readonly path: readonly string[]

  constructor(path: readonly string[]) {
    this.path = path
  }
}

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
    const path = pathToText(request, (text) => !isCleanText(text) || !isIn(bytes, text))
    return path === undefined ? request : (new Malformed(path) as Request)
  }
}

/** Invalid UTF-8, such as a lone surrogate, is decoded as this character. */
const REPLACEMENT = '\ufffd'

/** Whether the text was sent as decoded. */
const isIn = (bytes: Buffer, text: string): boolean =>
  !text.includes(REPLACEMENT) || bytes.includes(text)

/** The names in the client certificates of the open connections. */
const certificates = new WeakMap<object, { readonly name: string | undefined }>()

/**
 * The common name in the client certificate, which TLS has verified; undefined without one. Reading
 * a certificate parses it, so that is done once for each connection.
 */
function certificateOf(call: ServerInterceptingCallInterface): string | undefined {
  const session = sessionOf(call)
  const known = session && certificates.get(session)
  if (known !== undefined) return known.name
  const subject = call.getAuthContext().sslPeerCertificate?.subject
  const name = typeof subject?.CN === 'string' ? subject.CN : undefined
  if (session !== undefined) certificates.set(session, { name })
  return name
}

/** The HTTP/2 session of a call, in a member that grpc-js has without declaring it. */
function sessionOf(call: ServerInterceptingCallInterface): object | undefined {
  const { stream } = call as { readonly stream?: { readonly session?: object | null } }
  return stream?.session ?? undefined
}
