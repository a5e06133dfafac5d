/**
 * The HTTP server.
 *
 * Owns: listening, TLS, connections, and each request's way through head, body, deadlines and
 * service. Does not own: the request itself and its answer (exchange), routes, authentication and
 * what an answer says (the service).
 *
 * W1. No callback lets an exception out: uWS would end the process.
 * W2. A connection ends with its answer when it is not certain where the next request begins: its
 *     head was refused, or its body is above its cap, late, without room, or in chunks.
 * W3. A body has bodyWithinMs, then its answer has answerWithinMs; what is late is answered 504.
 * W4. What is turned away is answered, now or soon, without its body; uWS takes that from the
 *     connection, which can be used again. A body in chunks or above its cap is read first.
 * W5. A connection that may not stay is answered and closed before anything of it is read.
 */
import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js'
import { ANSWER_WITHIN_MS, BODY_WITHIN_MS } from '../src/base/bounds.js'
import type { Clock } from '../src/base/clock.js'
import type { ErrorCode } from '../src/base/errors.js'
import { newId } from '../src/base/ids.js'
import type { Logger } from '../src/base/log.js'
import type { Random } from '../src/base/random.js'
import { createDeadlines } from './deadlines.js'
import {
  addressOf,
  DISCARD_MAX_BYTES,
  OpenExchange,
  refuseConnection,
  type Exchange,
  type Shared,
  type Target,
} from './exchange.js'
import { BodyMemory } from './received_body.js'

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
  turnsAway(exchange: Exchange, target: T): boolean
  /** Called once the body is complete. Synchronous; the answer may come later. */
  serve(exchange: Exchange, target: T): void
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
  readonly observe: (exchange: Exchange, target: T | undefined, status: number) => void
  /** Whose share of the memory for bodies a request's body takes. */
  readonly sourceOf: (exchange: Exchange) => string
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
  const late = (exchange: OpenExchange<T>): void => {
    exchange.closing ||= !exchange.complete
    exchange.refuse(exchange.received.oversized ? 'payload_too_large' : 'timeout')
  }
  const reading = createDeadlines(options.bodyWithinMs ?? BODY_WITHIN_MS, clock, late)
  const answering = createDeadlines(options.answerWithinMs ?? ANSWER_WITHIN_MS, clock, late)
  const isDrained = (): boolean => reading.size + answering.size === 0
  let drained = (): void => undefined
  const shared: Shared<T> = {
    ...options,
    ended: (exchange) => {
      reading.delete(exchange)
      answering.delete(exchange)
      if (shared.stopping && isDrained()) drained()
    },
    bodies: options.bodies ?? new BodyMemory(),
    stopping: false,
  }

  const begin = (res: HttpResponse, req: HttpRequest): void => {
    const exchange = new OpenExchange(shared, res)
    res.onAborted(() => exchange.leave())
    exchange.attempt(() => {
      const { head, received } = exchange
      if (!head.read(req, options.keptHeaders)) {
        exchange.closing = true
        return exchange.refuse('invalid_request')
      }
      // uWS does not look at what ends a chunk, so nothing is read behind them.
      exchange.closing = head.chunked
      const target = service.find(head.method, head.path)
      exchange.target = target
      received.oversized = head.declaredBytes > target.bodyMaxBytes
      if (!exchange.mustBeRead() && isTurnedAway(exchange, target)) return
      if (head.declaredBytes === 0 && !head.chunked) return serve(exchange, target)
      receiveBody(exchange, res, target)
    })
  }

  const receiveBody = (exchange: OpenExchange<T>, res: HttpResponse, target: T): void => {
    reading.add(exchange)
    if (exchange.head.declaredBytes > DISCARD_MAX_BYTES) {
      exchange.closing = true
      return exchange.refuse('payload_too_large')
    }
    res.onData((chunk, isLast) => {
      exchange.attempt(() => {
        if (exchange.receive(chunk, isLast, target.bodyMaxBytes)) serve(exchange, target)
      })
    })
  }

  const serve = (exchange: OpenExchange<T>, target: T): void => {
    exchange.complete = true
    reading.delete(exchange)
    if (exchange.mustBeRead() && isTurnedAway(exchange, target)) return
    answering.add(exchange)
    service.serve(exchange, target)
    exchange.received.close()
  }

  const isTurnedAway = (exchange: OpenExchange<T>, target: T): boolean => {
    const turnedAway = service.turnsAway(exchange, target)
    if (turnedAway && !exchange.answered) answering.add(exchange)
    return turnedAway
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
      log.error({ err: error }, 'a connection met a bug')
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
    throw new Error(`${certFile} and ${keyFile} can not be used as a certificate and its key`)
  }
}
