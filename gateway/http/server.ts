/**
 * The HTTP server.
 *
 * Owns: listening, TLS, connection_limit, and each request's way through head, body, deadlines and
 * service. Does not own: the request itself and its answer (request_context), routes,
 * authentication and what an answer says (the service).
 *
 * - No callback lets an exception out: uWS would end the process.
 * - A connection ends with its answer when it is not certain where the next request begins: its
 *   head was refused, or its body is above its cap, late, without room, or in chunks.
 * - A body has bodyWithinMs, then its answer has answerWithinMs; what is late is answered 504.
 * - What is turned away is answered, now or soon, without its body; uWS takes that from the
 *   connection, which can be used again. A body in chunks or above its cap is read first.
 * - A connection that may not stay is answered and closed before anything of it is read.
 */
import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js'
import { ANSWER_WITHIN_MS, BODY_WITHIN_MS } from '../../src/base/constants.js'
import type { Clock } from '../../src/base/clock.js'
import type { ErrorCode } from '../../src/base/errors.js'
import { newId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import { createDeadlines } from './deadlines.js'
import {
  addressOf,
  DISCARD_MAX_BYTES,
  OpenRequestContext,
  refuseConnection,
  type RequestContext,
  type Shared,
  type Target,
} from './request_context.js'
import { BodyMemory } from './body.js'

declare module 'uWebSockets.js' {
  /** Left out of its types. This key switches the header `uWebSockets` off, for the process. */
  function _cfg(key: '999999990007'): void
  interface TemplatedApp {
    /** Left out of its types. `change` is 1 for a new connection, -1 for one that ended. */
    filter(cb: (res: HttpResponse, change: number) => void): TemplatedApp
  }
}

export interface Service<T extends Target> {
  find(method: string, path: string): T
  /** Asked once, with the body unread where W4 allows it. True: it is refused, now or soon. */
  rejectEarly(request: RequestContext, target: T): boolean
  /** Called once the body is complete. Synchronous; the answer may come later. */
  serve(request: RequestContext, target: T): void
}

/** PEM files. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface HttpServerOptions<T extends Target> {
  readonly service: Service<T>
  /** Lower-case names of the headers that anybody asks for. */
  readonly keptHeaders: ReadonlySet<string>
  /** Undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** `target` is undefined when the head itself was refused. */
  readonly observe: (request: RequestContext, target: T | undefined, status: number) => void
  /** Whose share of the memory for bodies a request's body takes. */
  readonly sourceOf: (request: RequestContext) => string
  /** Left out: memory of its own. */
  readonly bodies?: BodyMemory
  /**
   * Why a new connection of this peer may not stay; undefined: it may. `open` counts all, this one
   * too. Left out: all may.
   */
  readonly refuses?: (peer: string, open: number) => ErrorCode | undefined
  readonly bodyWithinMs?: number
  readonly answerWithinMs?: number
}

export interface HttpServer {
  /** The port taken. Where several processes listen on one, the kernel spreads the connections. */
  listen(host: string, port: number): Promise<number>
  /** The port taken; 0 before that. */
  readonly port: number
  /** Takes no new connection, lets open requests finish for this long, then closes what is left. */
  close(withinMs: number): Promise<void>
}

uWS._cfg('999999990007')

/** What comes with a filter's call. */
const OPENED = 1

export function createHttpServer<T extends Target>(options: HttpServerOptions<T>): HttpServer {
  const { service, clock, log, tls, refuses = () => undefined } = options
  const app = tls === undefined ? uWS.App() : secureApp(tls)
  const late = (request: OpenRequestContext<T>): void => {
    request.closing ||= !request.complete
    request.refuse(request.received.oversized ? 'payload_too_large' : 'timeout')
  }
  const reading = createDeadlines(options.bodyWithinMs ?? BODY_WITHIN_MS, clock, late)
  const answering = createDeadlines(options.answerWithinMs ?? ANSWER_WITHIN_MS, clock, late)
  const isDrained = (): boolean => reading.size + answering.size === 0
  let drained = (): void => undefined
  const shared: Shared<T> = {
    ...options,
    ended: (request) => {
      reading.delete(request)
      answering.delete(request)
      if (shared.stopping && isDrained()) drained()
    },
    bodies: options.bodies ?? new BodyMemory(),
    stopping: false,
  }

  const begin = (res: HttpResponse, req: HttpRequest): void => {
    const request = new OpenRequestContext(shared, res)
    res.onAborted(() => request.leave())
    request.attempt(() => {
      const { head, received } = request
      if (!head.read(req, options.keptHeaders)) {
        request.closing = true
        return request.refuse('invalid_request')
      }
      // uWS does not look at what ends a chunk, so nothing is read behind them.
      request.closing = head.chunked
      const target = service.find(head.method, head.path)
      request.target = target
      received.oversized = head.declaredBytes > target.bodyMaxBytes
      if (!request.mustBeRead() && isRejectedEarly(request, target)) return
      if (head.declaredBytes === 0 && !head.chunked) return serve(request, target)
      receiveBody(request, res, target)
    })
  }

  const receiveBody = (request: OpenRequestContext<T>, res: HttpResponse, target: T): void => {
    reading.add(request)
    if (request.head.declaredBytes > DISCARD_MAX_BYTES) {
      request.closing = true
      return request.refuse('payload_too_large')
    }
    res.onData((chunk, isLast) => {
      request.attempt(() => {
        if (request.receive(chunk, isLast, target.bodyMaxBytes)) serve(request, target)
      })
    })
  }

  const serve = (request: OpenRequestContext<T>, target: T): void => {
    request.complete = true
    reading.delete(request)
    if (request.mustBeRead() && isRejectedEarly(request, target)) return
    answering.add(request)
    service.serve(request, target)
    request.received.close()
  }

  const isRejectedEarly = (request: OpenRequestContext<T>, target: T): boolean => {
    const rejected = service.rejectEarly(request, target)
    if (rejected && !request.answered) answering.add(request)
    return rejected
  }

  let open = 0
  const meet = (res: HttpResponse, change: number): void => {
    open += change
    if (change !== OPENED) return
    try {
      const code = refuses(addressOf(res), open)
      if (code === undefined) return
      // Before its handshake a connection takes no answer.
      if (tls !== undefined) return void res.close()
      refuseConnection(res, code, newId('request', clock.now(), options.random))
    } catch (error) {
      log.error({ err: error }, 'connection handler threw')
    }
  }

  /** Until all open requests have ended. */
  const untilDrained = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (isDrained()) return resolve()
      const end = setTimeout(resolve, withinMs)
      drained = () => {
        clearTimeout(end)
        resolve()
      }
    })

  app.filter(meet)
  app.any('/*', begin)
  let socket: us_listen_socket | undefined
  let taken = 0
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        // Shared, so that a restarted gateway takes its port while old connections linger on it.
        app.listen(host, port, (listening) => {
          if (listening === false) return reject(new Error(`${host}:${port} is taken or not ours`))
          socket = listening
          taken = uWS.us_socket_local_port(listening)
          resolve(taken)
        })
      }),
    get port() {
      return taken
    },
    close: async (withinMs) => {
      shared.stopping = true
      if (socket !== undefined) uWS.us_listen_socket_close(socket)
      socket = undefined
      await untilDrained(withinMs)
      app.close()
      reading.stop()
      answering.stop()
    },
  }
}

/** TLS 1.2 and later. uWS does not say what is wrong with a file. */
function secureApp({ certFile, keyFile }: TlsFiles): TemplatedApp {
  try {
    return uWS.SSLApp({ cert_file_name: certFile, key_file_name: keyFile })
  } catch {
    throw new Error(`${certFile} and ${keyFile} cannot be used as a certificate and its key`)
  }
}
