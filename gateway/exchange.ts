/**
 * One HTTP request and its one answer.
 *
 * Owns: every touch of uWebSockets.js: listening, TLS, heads, bodies, deadlines, answers.
 * Does not own: routes, authentication and what an answer says (the service behind it), the
 * envelope (problem).
 *
 * X1. `res` is dropped at the abort and at the answer, whichever comes first: it is dead then, and
 *     a second answer finds nothing to write to.
 * X2. All that is needed of a head is copied before the callback returns: uWS frees it then.
 * X3. `body` may be uWS's own memory. It is readable only while `serve` runs, and `serve` is
 *     synchronous. What is postponed keeps a copy.
 * X4. No callback lets an exception out: uWS would end the process.
 * X5. A head that two readers could frame differently is refused and its connection closed.
 * X6. Bodies in parts, and those of what is postponed, hold at most BUFFERED_MAX_BYTES together;
 *     a stranger can not fill the memory with them.
 * X7. A body has bodyWithinMs, then its answer has answerWithinMs; what is late is answered 504.
 * X8. A header that comes twice has no value, except a list: its lines are one list (RFC 9110).
 * X9. What is turned away is answered, now or soon, without its body; uWS takes that from the
 *     connection, which can be used again. A body in chunks or above its cap is read first.
 */
import { STATUS_CODES } from 'node:http'
import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js'
import { REPEATED, type HeaderValue } from '../src/auth/verify.js'
import { ANSWER_WITHIN_MS, BODY_WITHIN_MS } from '../src/base/bounds.js'
import { instant, type Clock, type Instant } from '../src/base/clock.js'
import type { ErrorCode } from '../src/base/errors.js'
import { newId, type RequestId } from '../src/base/ids.js'
import type { Logger } from '../src/base/log.js'
import type { Random } from '../src/base/random.js'
import { createDeadlines, type Deadlines, type Waits } from './deadlines.js'
import { problemBody, problemStatus } from './problem.js'

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    /** Left out of its types. `change` is 1 for a new connection, -1 for one that ended. */
    filter(cb: (res: HttpResponse, change: number) => void): TemplatedApp
  }
}

export interface Exchange {
  readonly requestId: RequestId
  readonly startedAt: Instant
  /** As sent, upper case for every method there is. */
  readonly method: string
  /** As sent: not decoded, not normalised, without the query. */
  readonly path: string
  /** What follows the `?`; empty when there is none. */
  readonly query: string
  /** See X3. */
  readonly body: Buffer
  /** By lower-case name; only names that the server was told to keep. */
  header(name: string): HeaderValue
  /** The peer's address as text; readable while `serve` runs. */
  peer(): string
  /** Milliseconds until its answer is late; 1 at least. */
  timeLeft(): number
  /**
   * How to go on with `serve` at another time; that does nothing when the request is answered by
   * then or its client has gone. Undefined: there is no room for its body (X6).
   */
  postpone(goOn: () => void): (() => void) | undefined
  /** Does nothing when the request is answered already or its client has gone. */
  answer(status: number, body: string, headers?: AnswerHeaders): void
  refuse(code: ErrorCode, headers?: AnswerHeaders): void
}

export type AnswerHeaders = readonly (readonly [name: string, value: string])[]

/** What the server must know of a request's destination, before its body is read. */
export interface Target {
  readonly bodyMaxBytes: number
  /** See problem. */
  readonly refusesAsConflict: boolean
}

export interface Service<T extends Target> {
  find(method: string, path: string): T
  /** Asked once, with the body unread where X9 allows it. True: it is refused, now or soon. */
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
  /** Whether a new connection of this peer may stay. Left out: all may. */
  readonly admits?: (peer: string) => boolean
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

/** Node's own servers allow as much; our partners need a tenth. */
const HEAD_MAX_BYTES = 8 * 1024
const HEADERS_MAX = 60
/** A refused body is read to its end, or its client would see a reset and no answer; up to here. */
const DISCARD_MAX_BYTES = 32 * 1024 * 1024
/** A hundred of the largest bodies at once; one that comes in a single part is not buffered. */
const BUFFERED_MAX_BYTES = 64 * 1024 * 1024
/** What comes with a filter's call. */
const OPENED = 1
const NO_BODY = Buffer.alloc(0)
const NO_HEADERS: AnswerHeaders = []

export function createHttpServer<T extends Target>(options: HttpServerOptions<T>): HttpServer {
  const { service, clock, log, tls, admits = () => true } = options
  const app = tls === undefined ? uWS.App() : secureApp(tls)
  const late = (exchange: OpenExchange<T>): void => {
    exchange.closing ||= !exchange.complete
    exchange.refuse(exchange.oversized ? 'payload_too_large' : 'timeout')
  }
  const server: ServerState<T> = {
    ...options,
    reading: createDeadlines(options.bodyWithinMs ?? BODY_WITHIN_MS, clock, late),
    answering: createDeadlines(options.answerWithinMs ?? ANSWER_WITHIN_MS, clock, late),
    bufferedBytes: 0,
    stopping: false,
    drained: () => undefined,
  }

  const begin = (res: HttpResponse, req: HttpRequest): void => {
    const exchange = new OpenExchange(server, res)
    res.onAborted(() => exchange.leave())
    exchange.attempt(() => {
      if (!exchange.readHead(req)) {
        exchange.closing = true
        return exchange.refuse('invalid_request')
      }
      const target = service.find(exchange.method, exchange.path)
      exchange.target = target
      exchange.oversized = exchange.declaredBytes > target.bodyMaxBytes
      if (!exchange.mustBeRead() && isTurnedAway(exchange, target)) return
      if (exchange.bodyless) return serve(exchange, target)
      receiveBody(exchange, res, target)
    })
  }

  const receiveBody = (exchange: OpenExchange<T>, res: HttpResponse, target: T): void => {
    server.reading.add(exchange)
    if (exchange.declaredBytes > DISCARD_MAX_BYTES) {
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
    server.reading.delete(exchange)
    if (exchange.mustBeRead() && isTurnedAway(exchange, target)) return
    server.answering.add(exchange)
    service.serve(exchange, target)
    exchange.body = NO_BODY
  }

  const isTurnedAway = (exchange: OpenExchange<T>, target: T): boolean => {
    const turnedAway = service.turnsAway(exchange, target)
    if (turnedAway && !exchange.answered) server.answering.add(exchange)
    return turnedAway
  }

  const meet = (res: HttpResponse, change: number): void => {
    if (change !== OPENED) return
    try {
      if (!admits(addressOf(res))) res.close()
    } catch (error) {
      log.error({ err: error }, 'a connection met a bug')
    }
  }

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
      server.stopping = true
      if (socket !== undefined) uWS.us_listen_socket_close(socket)
      socket = undefined
      await drained(server, withinMs)
      app.close()
      server.reading.stop()
      server.answering.stop()
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

/** What the exchanges of one server share. */
interface ServerState<T extends Target> extends HttpServerOptions<T> {
  readonly reading: Deadlines<OpenExchange<T>>
  readonly answering: Deadlines<OpenExchange<T>>
  bufferedBytes: number
  /** From then on every answer closes its connection. */
  stopping: boolean
  drained: () => void
}

const openRequests = <T extends Target>(server: ServerState<T>): number =>
  server.reading.size + server.answering.size

function drained<T extends Target>(server: ServerState<T>, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (openRequests(server) === 0) return resolve()
    const patience = setTimeout(resolve, withinMs)
    server.drained = () => {
      clearTimeout(patience)
      resolve()
    }
  })
}

/** Its fields are the server's; what others see of it is `Exchange`. */
class OpenExchange<T extends Target> implements Exchange, Waits<OpenExchange<T>> {
  readonly requestId: RequestId
  readonly startedAt: Instant
  method = ''
  path = ''
  query = ''
  body: Buffer = NO_BODY
  target: T | undefined
  /** The body is complete. */
  complete = false
  /** The body is above its cap: the rest is read and forgotten. */
  oversized = false
  /** The connection ends with the answer. */
  closing = false
  answered = false
  /** Neither a length nor chunks were announced. */
  bodyless = true
  declaredBytes = 0
  line: object | undefined
  due = instant(0)
  earlier: OpenExchange<T> | undefined
  later: OpenExchange<T> | undefined
  private receivedBytes = 0
  private kept: Buffer = NO_BODY
  private readonly headers = new Map<string, string | typeof REPEATED>()
  private readonly server: ServerState<T>
  private res: HttpResponse | undefined

  constructor(server: ServerState<T>, res: HttpResponse) {
    this.server = server
    this.res = res
    this.startedAt = server.clock.now()
    this.requestId = newId('request', this.startedAt, server.random)
  }

  /** A step of the request's way (X4). */
  attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.server.log.error({ request_id: this.requestId, err: error }, 'a request met a bug')
      this.refuse('internal_error')
    }
  }

  /** Copies the head. False when it is too large or its framing is ambiguous. */
  readHead(req: HttpRequest): boolean {
    this.method = req.getCaseSensitiveMethod()
    this.path = req.getUrl()
    // uWS gives undefined, against its types, when there is no question mark.
    this.query = req.getQuery() ?? ''
    let bytes = this.method.length + this.path.length + this.query.length
    let count = 0
    req.forEach((name, value) => {
      bytes += name.length + value.length
      count += 1
      this.keep(name, value)
    })
    return bytes <= HEAD_MAX_BYTES && count <= HEADERS_MAX && this.readFraming()
  }

  private keep(name: string, value: string): void {
    const { keptHeaders } = this.server
    if (!keptHeaders.has(name) && !FRAMING_HEADERS.has(name)) return
    const before = this.headers.get(name)
    if (before === undefined) this.headers.set(name, value)
    else if (typeof before === 'string' && LISTS.has(name))
      this.headers.set(name, `${before},${value}`)
    else this.headers.set(name, REPEATED)
  }

  /**
   * X5. uWS takes the first of two lengths and any word that ends in `chunked`. It does not look at
   *     what ends a chunk either, so nothing is read behind a body in chunks.
   */
  private readFraming(): boolean {
    const length = this.header('content-length')
    const coding = this.header('transfer-encoding')
    if (this.header('host') === REPEATED) return false
    if (coding !== undefined) {
      this.bodyless = false
      this.closing = true
      return coding === 'chunked' && length === undefined
    }
    if (length === undefined) return true
    if (length === REPEATED || !/^[0-9]{1,15}$/.test(length)) return false
    this.declaredBytes = Number(length)
    this.bodyless = this.declaredBytes === 0
    return true
  }

  /** See X9. */
  mustBeRead(): boolean {
    return this.oversized || (this.declaredBytes === 0 && !this.bodyless)
  }

  /** Takes the next part of the body. True when the body is complete and within its cap. */
  receive(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): boolean {
    if (this.res === undefined || this.answered) return false
    const before = this.receivedBytes
    this.receivedBytes += chunk.byteLength
    this.oversized ||= this.receivedBytes > maxBytes
    if (this.oversized) {
      this.keepIn(NO_BODY)
      this.closing = true
      if (isLast || this.receivedBytes > DISCARD_MAX_BYTES) this.refuse('payload_too_large')
      return false
    }
    if (isLast && before === 0) {
      this.body = Buffer.from(chunk)
      return true
    }
    if (!this.append(chunk, before, maxBytes)) return false
    if (isLast) this.body = this.kept.subarray(0, this.receivedBytes)
    return isLast
  }

  /** Doubles with what came: neither a large announcement nor single bytes cost us more. */
  private append(chunk: ArrayBuffer, offset: number, maxBytes: number): boolean {
    const needed = offset + chunk.byteLength
    if (needed > this.kept.length) {
      const roomier = Buffer.allocUnsafe(Math.min(maxBytes, needed * 2))
      this.kept.copy(roomier)
      this.keepIn(roomier)
    }
    if (this.server.bufferedBytes > BUFFERED_MAX_BYTES) {
      this.closing = true
      this.refuse('configuration_error')
      return false
    }
    this.kept.set(new Uint8Array(chunk), offset)
    return true
  }

  private keepIn(buffer: Buffer): void {
    this.server.bufferedBytes += buffer.length - this.kept.length
    this.kept = buffer
  }

  postpone(goOn: () => void): (() => void) | undefined {
    if (this.kept === NO_BODY) {
      if (this.server.bufferedBytes + this.body.length > BUFFERED_MAX_BYTES) return undefined
      this.keepIn(Buffer.from(this.body))
    }
    return () => {
      if (this.res === undefined || this.answered) return
      this.body = this.kept.subarray(0, this.receivedBytes)
      this.attempt(goOn)
      this.body = NO_BODY
    }
  }

  timeLeft(): number {
    return Math.max(1, this.due - this.server.clock.now())
  }

  header(name: string): HeaderValue {
    return this.headers.get(name)
  }

  peer(): string {
    return this.res === undefined ? '' : addressOf(this.res)
  }

  refuse(code: ErrorCode, headers: AnswerHeaders = NO_HEADERS): void {
    const status = problemStatus(code, this.target?.refusesAsConflict ?? false)
    this.answer(status, problemBody(code, this.requestId), headers)
  }

  answer(status: number, body: string, headers: AnswerHeaders = NO_HEADERS): void {
    if (this.res === undefined || this.answered) return
    this.answered = true
    this.closing ||= this.server.stopping
    // A closing answer takes a turn of its own: while uWS still reads a packet, it would serve what
    // else is in it.
    if (this.closing) setImmediate(() => this.write(status, body, headers))
    else this.write(status, body, headers)
  }

  private write(status: number, body: string, headers: AnswerHeaders): void {
    const { res, closing } = this
    if (res === undefined) return
    this.leave()
    res.cork(() => {
      res.writeStatus(statusLine(status))
      res.writeHeader('Content-Type', 'application/json')
      res.writeHeader('Cache-Control', 'no-store')
      res.writeHeader('X-Request-Id', this.requestId)
      for (const [name, value] of headers) res.writeHeader(name, value)
      if (this.method === 'HEAD') endHead(res, Buffer.byteLength(body), closing)
      else res.end(body, closing)
    })
    this.server.observe(this, this.target, status)
  }

  /** Answered or aborted: `res` is not touched again. */
  leave(): void {
    const { server } = this
    this.res = undefined
    this.keepIn(NO_BODY)
    server.reading.delete(this)
    server.answering.delete(this)
    if (server.stopping && openRequests(server) === 0) server.drained()
  }
}

/** Told a length, uWS waits for a body of it, and would end the connection at the next request. */
function endHead(res: HttpResponse, length: number, closing: boolean): void {
  if (closing) return void res.endWithoutBody(length, closing)
  res.writeHeader('Content-Length', String(length))
  res.endWithoutBody()
}

const addressOf = (res: HttpResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1')

export const FORWARDED_FOR = 'x-forwarded-for'
const LISTS: ReadonlySet<string> = new Set([FORWARDED_FOR])

const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'host',
])

const STATUS_LINES = new Map<number, string>()

function statusLine(status: number): string {
  let line = STATUS_LINES.get(status)
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
    STATUS_LINES.set(status, line)
  }
  return line
}
