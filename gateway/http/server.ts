/**
 * The HTTP server: listening, TLS, connection limit, and each request's steps from head to service.
 *
 * Does not own: the request and its response (request_context.ts), routes, authentication, the
 * content of responses (the service).
 *
 * - No callback throws into uWebSockets.js: that would end the process.
 * - A response closes its connection when the start of the next request is uncertain: the head was
 *   rejected, or the body is oversized, late, beyond the memory bound or chunked.
 * - A body has `bodyWithinMs`, then its response has `answerWithinMs`. Beyond either the answer is
 *   504.
 * - A request is rejected early without reading its body: uWebSockets.js discards the body and the
 *   connection stays usable. A chunked or oversized body is read first.
 * - uWebSockets.js reads on after an answer that closed its connection, if the answer came when the
 *   body was complete. A request on a closed connection is dropped: its end is never reported, so a
 *   later answer would use freed memory.
 * - A connection over the limit is answered and closed before anything is read from it. Over TLS
 *   the answer needs a handshake, so beyond TLS_REFUSALS_PER_SECOND it is closed without one.
 */
import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js'
import { ANSWER_WITHIN_MS, BODY_WITHIN_MS } from '../../src/base/constants.js'
import { SECOND, type Clock } from '../../src/base/clock.js'
import type { ErrorCode } from '../../src/base/errors.js'
import { newId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import { TLS_1_2_CIPHERS } from '../../src/base/tls_ciphers.js'
import { createDeadlines } from './deadlines.js'
import { indexesOf } from './head.js'
import {
  addressOf,
  DISCARD_MAX_BYTES,
  OpenRequestContext,
  type Observe,
  refuseConnection,
  type RequestContext,
  type ServerState,
  type Target,
} from './request_context.js'
import { BodyMemory } from './body.js'
import { createUnfinishedHeads } from './unfinished_heads.js'

declare module 'uWebSockets.js' {
  /**
   * Not in the library's types. This key disables the `uWebSockets` response header, for the
   * process.
   */
  function _cfg(key: '999999990007'): void
  interface TemplatedApp {
    /** Not in the library's types. `change` is 1 for a new connection, -1 for an ended one. */
    filter(cb: (res: HttpResponse, change: number) => void): TemplatedApp
  }
}

export interface Service<T extends Target> {
  find(method: string, path: string): T
  /** Called once, before the body is read where possible. True if it is rejected. */
  rejectEarly(request: RequestContext, target: T): boolean
  /** Called once the body is complete. Synchronous; the response may come later. */
  serve(request: RequestContext, target: T): void
}

/** PEM files. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface HttpServerOptions<T extends Target> {
  readonly service: Service<T>
  /** Lower-case names of the headers that the service reads. */
  readonly keptHeaders: ReadonlySet<string>
  /** Undefined means plain HTTP. */
  readonly tls: TlsFiles | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly observe: Observe<T>
  /** The source that accounts for the memory of a body. */
  readonly sourceOf: (request: RequestContext) => string
  /** Default: a BodyMemory of its own. */
  readonly bodies?: BodyMemory
  /**
   * The error for a new connection of this peer, undefined to accept it. `open` counts all
   * connections, including this one. Default: accept all.
   */
  readonly rejectConnection?: (peer: string, open: number) => ErrorCode | undefined
  /**
   * Called when a connection ended while the client had not taken all of its answer. Default: not
   * reported.
   */
  readonly onUnread?: () => void
  /**
   * While more connections than this are open, a new one has `headWithinMs` for its first head.
   * Default: no such deadline.
   */
  readonly scarceAbove?: number
  readonly headWithinMs?: number
  readonly bodyWithinMs?: number
  readonly answerWithinMs?: number
}

export interface HttpServer {
  /**
   * Returns the port. When several processes listen on one port, the kernel spreads connections.
   */
  listen(host: string, port: number): Promise<number>
  /**
   * Reads the files again: new connections get their certificate, open ones go on. The port must
   * have been given, not chosen by the kernel: only such a port is shared.
   *
   * @throws Error when nothing has changed, because they cannot be used
   */
  renewCertificate(): Promise<void>
  /** The port; 0 before `listen`. */
  readonly port: number
  /**
   * Stops accepting. Each connection ends with the answer to its next request; one without a
   * request stays for its client until `withinMs`. Resolves when none is open, or then.
   */
  drain(withinMs: number): Promise<void>
  /**
   * Stops accepting, lets open requests finish for this long, then closes the remaining
   * connections.
   */
  close(withinMs: number): Promise<void>
}

uWS._cfg('999999990007')

/** The value of `change` for a new connection. */
const OPENED = 1
const HEAD_WITHIN_MS = 3 * SECOND
/**
 * Each answer costs a handshake and may hold a connection for about ten seconds, the idle timeout
 * of uWebSockets.js.
 */
const TLS_REFUSALS_PER_SECOND = 20

export function createHttpServer<T extends Target>(options: HttpServerOptions<T>): HttpServer {
  const { service, clock, log, tls } = options
  const { rejectConnection = () => undefined, scarceAbove = Infinity } = options
  const headerIndexes = indexesOf(options.keptHeaders)
  const first = newApp(tls)
  /** The last one listens; the others serve connections that have an earlier certificate. */
  const apps: TemplatedApp[] = []
  const onLate = (request: OpenRequestContext<T>): void => {
    request.closing ||= !request.complete
    request.refuse(request.received.oversized ? 'payload_too_large' : 'timeout')
  }
  const reading = createDeadlines(options.bodyWithinMs ?? BODY_WITHIN_MS, clock, onLate)
  const answering = createDeadlines(options.answerWithinMs ?? ANSWER_WITHIN_MS, clock, onLate)
  const isDrained = (): boolean => reading.size + answering.size + shared.partlyTaken.size === 0
  let drained = (): void => undefined
  const shared: ServerState<T> = {
    ...options,
    onUnread: options.onUnread ?? (() => undefined),
    partlyTaken: new Set(),
    ended: (request) => {
      reading.delete(request)
      answering.delete(request)
      if (shared.stopping && isDrained()) drained()
    },
    bodies: options.bodies ?? new BodyMemory(),
    stopping: false,
  }

  const refuse = (res: HttpResponse, code: ErrorCode): void =>
    refuseConnection(res, code, newId('request', clock.now(), options.random))
  const heads = createUnfinishedHeads<HttpResponse>(
    options.headWithinMs ?? HEAD_WITHIN_MS,
    clock,
    (res) => refuse(res, 'configuration_error'),
  )

  /** A write just closed its connection, whose packet can have further requests. */
  let mayBeClosed = false
  const isClosed = (res: HttpResponse): boolean =>
    mayBeClosed && res.getRemoteAddress().byteLength === 0

  let refusals = { second: 0, count: 0 }
  const mayRefuseOverTls = (): boolean => {
    const second = Math.floor(clock.now() / SECOND)
    if (refusals.second !== second) refusals = { second, count: 0 }
    refusals.count += 1
    return refusals.count <= TLS_REFUSALS_PER_SECOND
  }

  let open = 0
  let emptied = (): void => undefined
  const onConnection = (res: HttpResponse, change: number): void => {
    open += change
    if (change !== OPENED) {
      if (!mayBeClosed) setImmediate(() => (mayBeClosed = false))
      mayBeClosed = true
      if (open === 0) emptied()
      return
    }
    try {
      const address = addressOf(res)
      const code = rejectConnection(address, open)
      if (code === undefined) {
        if (open > scarceAbove) heads.watch(res, address)
      } else if (tls === undefined || mayRefuseOverTls()) refuse(res, code)
      else res.close()
    } catch (error) {
      log.error({ error }, 'connection handler threw')
    }
  }

  const onRequest = (res: HttpResponse, req: HttpRequest): void => {
    if (isClosed(res)) return void res.onAborted(() => undefined)
    if (heads.size > 0) heads.completed(addressOf(res))
    const request = new OpenRequestContext(shared, res)
    res.onAborted(() => request.aborted())
    request.attempt(() => {
      const { head, received } = request
      if (!head.read(req, headerIndexes)) {
        request.closing = true
        return request.refuse('invalid_request')
      }
      // uWebSockets.js does not validate chunk terminators, so nothing after a chunked body is
      // read.
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

  /** Resolves when no request is open, or after `withinMs`. */
  const untilDrained = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (isDrained()) return resolve()
      const end = setTimeout(resolve, withinMs)
      drained = () => {
        clearTimeout(end)
        resolve()
      }
    })

  /** Resolves when no connection is open, or after `withinMs`. */
  const untilEmpty = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (open === 0) return resolve()
      const end = setTimeout(resolve, withinMs)
      emptied = () => {
        clearTimeout(end)
        resolve()
      }
    })

  /** Two while a certificate is replaced. */
  const sockets = new Set<us_listen_socket>()
  let boundHost = ''
  let boundPort = 0

  const serveOn = async (app: TemplatedApp, host: string, port: number): Promise<number> => {
    app.filter(onConnection)
    app.any('/*', onRequest)
    const socket = await listenOn(app, host, port)
    apps.push(app)
    sockets.add(socket)
    return uWS.us_socket_local_port(socket)
  }

  const stopListening = (on: readonly us_listen_socket[]): void => {
    for (const socket of on) if (sockets.delete(socket)) uWS.us_listen_socket_close(socket)
  }
  return {
    listen: async (host, port) => {
      boundHost = host
      boundPort = await serveOn(first, host, port)
      return boundPort
    },
    renewCertificate: async () => {
      const former = [...sockets]
      if (former.length === 0) return
      await serveOn(newApp(tls), boundHost, boundPort)
      await allAccepted()
      stopListening(former)
    },
    get port() {
      return boundPort
    },
    drain: async (withinMs) => {
      await allAccepted()
      stopListening([...sockets])
      shared.stopping = true
      await untilEmpty(withinMs)
    },
    close: async (withinMs) => {
      shared.stopping = true
      stopListening([...sockets])
      await untilDrained(withinMs)
      for (const app of apps) app.close()
      reading.stop()
      answering.stop()
      heads.stop()
    },
  }
}

/**
 * The port is shared (SO_REUSEPORT): a restarted gateway can bind while old connections linger, and
 * a new certificate has a listener of its own.
 */
const listenOn = (app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> =>
  new Promise((resolve, reject) => {
    app.listen(host, port, (opened) => {
      if (opened !== false) return resolve(opened)
      reject(new Error(`${host}:${port} is in use or not an address of this machine`))
    })
  })

/**
 * The kernel resets the connections that wait at a listener when it closes. uWebSockets.js accepts
 * all that wait in each poll of the event loop, and the second immediate runs directly after one.
 */
const allAccepted = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

const newApp = (tls: TlsFiles | undefined): TemplatedApp =>
  tls === undefined ? uWS.App() : secureApp(tls)

/** TLS 1.2 with modern cipher suites, and 1.3. uWebSockets.js does not name an invalid file. */
function secureApp({ certFile, keyFile }: TlsFiles): TemplatedApp {
  try {
    return uWS.SSLApp({
      ...{ cert_file_name: certFile, key_file_name: keyFile },
      ssl_ciphers: TLS_1_2_CIPHERS.join(':'),
    })
  } catch {
    throw new Error(`${certFile} and ${keyFile} cannot be used as a certificate and its key`)
  }
}
