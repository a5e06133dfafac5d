/**
 * One HTTP request and its one answer.
 *
 * Owns: the response of uWebSockets.js, and what becomes of the connection with it. Does not own:
 * what a head says (head), a body's memory (body), a request's way (server), what an
 * answer says (the service), the envelope (error_response).
 *
 * - `res` is dropped at the abort and at the answer, whichever comes first: it is dead then, and
 *   a second answer finds nothing to write to.
 * - A body is readable only while it is served, and that is synchronous. What is postponed is
 *   kept.
 */
import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import type { HeaderValue } from '../../src/auth/verify.js'
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import type { ErrorCode } from '../../src/base/errors.js'
import { newId, type RequestId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import type { Waits } from './deadlines.js'
import { Head } from './head.js'
import { errorBody, errorStatus } from './error_response.js'
import { ReceivedBody, type BodyMemory, type Sender } from './body.js'

export interface RequestContext {
  readonly requestId: RequestId
  readonly startedAt: Instant
  /** This and the next two: see Head. */
  readonly method: string
  readonly path: string
  readonly query: string
  /** Empty but while `serve` runs. */
  readonly body: Buffer
  /** By lower-case name; only names that the server was told to keep. */
  header(name: string): HeaderValue
  /** The peer's address as text; readable until it is answered. */
  peer(): string
  /** Milliseconds until its answer is late; 1 at least. */
  timeLeft(): number
  /**
   * How to go on with `serve` at another time; that does nothing when the request is answered by
   * then or its client has gone. Undefined: there is no room for its body.
   */
  postpone(goOn: () => void): (() => void) | undefined
  /** Does nothing when the request is answered already or its client has gone. */
  answer(status: number, body: string, headers?: AnswerHeaders): void
  refuse(code: ErrorCode, headers?: AnswerHeaders): void
  /** The answer repeats this header of the request, unless it is a 401: those are all alike. */
  repeat(name: string, value: string): void
}

export type AnswerHeaders = readonly (readonly [name: string, value: string])[]

/** What the server must know of a request's destination, before its body is read. */
export interface Target {
  readonly bodyMaxBytes: number
  /** See problem. */
  readonly refusesAsConflict: boolean
}

/** What the exchanges of one server share. */
export interface Shared<T extends Target> {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly bodies: BodyMemory
  readonly sourceOf: (request: RequestContext) => string
  readonly observe: (request: RequestContext, target: T | undefined, status: number) => void
  /** It is answered, or its client has gone. */
  readonly ended: (request: OpenRequestContext<T>) => void
  /** From then on every answer closes its connection. */
  stopping: boolean
}

/** A refused body is read to its end, or its client would see a reset and no answer; up to here. */
export const DISCARD_MAX_BYTES = 32 * 1024 * 1024
const NO_HEADERS: AnswerHeaders = []

/** Its fields are the server's; what others see of it is `RequestContext`. */
export class OpenRequestContext<T extends Target>
  implements RequestContext, Sender, Waits<OpenRequestContext<T>>
{
  readonly requestId: RequestId
  readonly startedAt: Instant
  readonly head = new Head()
  readonly received: ReceivedBody
  target: T | undefined
  /** The body is complete. */
  complete = false
  /** The connection ends with the answer. */
  closing = false
  answered = false
  line: object | undefined
  due = instant(0)
  earlier: OpenRequestContext<T> | undefined
  later: OpenRequestContext<T> | undefined
  private readonly shared: Shared<T>
  private res: HttpResponse | undefined
  private repeated: readonly [name: string, value: string] | undefined

  constructor(shared: Shared<T>, res: HttpResponse) {
    this.shared = shared
    this.res = res
    this.received = new ReceivedBody(shared.bodies, this)
    this.startedAt = shared.clock.now()
    this.requestId = newId('request', this.startedAt, shared.random)
  }

  /** A step of the request's way. What it throws is a bug, and told. */
  attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.shared.log.error({ request_id: this.requestId, err: error }, 'request handler threw')
      this.refuse('internal_error')
    }
  }

  get method(): string {
    return this.head.method
  }

  get path(): string {
    return this.head.path
  }

  get query(): string {
    return this.head.query
  }

  get body(): Buffer {
    return this.received.readable
  }

  /** Its body is, before it can be turned away. */
  mustBeRead(): boolean {
    return this.received.oversized || this.head.chunked
  }

  /** Takes the next part of the body. True when the body is complete and within its cap. */
  receive(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): boolean {
    if (this.res === undefined || this.answered) return false
    switch (this.received.take(chunk, isLast, maxBytes)) {
      case 'complete':
        return true
      case 'more':
        return false
      case 'oversized':
        this.closing = true
        if (isLast || this.received.bytes > DISCARD_MAX_BYTES) this.refuse('payload_too_large')
        return false
      case 'no_room':
        this.closing = true
        this.refuse('configuration_error')
        return false
    }
  }

  postpone(goOn: () => void): (() => void) | undefined {
    const { received } = this
    if (!received.keep()) return undefined
    return () => {
      if (this.res === undefined || this.answered) return
      received.open()
      this.attempt(goOn)
      received.close()
    }
  }

  timeLeft(): number {
    return Math.max(1, this.due - this.shared.clock.now())
  }

  header(name: string): HeaderValue {
    return this.head.header(name)
  }

  peer(): string {
    return this.res === undefined ? '' : addressOf(this.res)
  }

  source(): string {
    return this.shared.sourceOf(this)
  }

  refuse(code: ErrorCode, headers: AnswerHeaders = NO_HEADERS): void {
    const status = errorStatus(code, this.target?.refusesAsConflict ?? false)
    this.answer(status, errorBody(code, this.requestId), headers)
  }

  repeat(name: string, value: string): void {
    this.repeated = [name, value]
  }

  answer(status: number, body: string, headers: AnswerHeaders = NO_HEADERS): void {
    if (this.res === undefined || this.answered) return
    this.answered = true
    this.closing ||= this.shared.stopping
    // A closing answer takes a turn of its own: while uWS still reads a packet, it would serve what
    // else is in it.
    if (this.closing) setImmediate(() => this.write(status, body, headers))
    else this.write(status, body, headers)
  }

  private write(status: number, body: string, headers: AnswerHeaders): void {
    const { res, closing, repeated } = this
    if (res === undefined) return
    this.leave()
    res.cork(() => {
      res.writeStatus(statusLine(status))
      res.writeHeader('Content-Type', 'application/json')
      res.writeHeader('Cache-Control', 'no-store')
      res.writeHeader('X-Request-Id', this.requestId)
      for (const [name, value] of headers) res.writeHeader(name, value)
      if (repeated !== undefined && status !== 401) res.writeHeader(...repeated)
      if (this.method === 'HEAD') endHead(res, Buffer.byteLength(body), closing)
      else res.end(body, closing)
    })
    this.shared.observe(this, this.target, status)
  }

  /** Answered or aborted: `res` is not touched again. */
  leave(): void {
    this.res = undefined
    this.received.free()
    this.shared.ended(this)
  }
}

/** Answers a connection that may not stay, and closes it. */
export function refuseConnection(res: HttpResponse, code: ErrorCode, requestId: RequestId): void {
  res.cork(() => {
    res.writeStatus(statusLine(errorStatus(code, false)))
    res.writeHeader('Content-Type', 'application/json')
    res.writeHeader('Cache-Control', 'no-store')
    res.writeHeader('X-Request-Id', requestId)
    res.writeHeader('Retry-After', '1')
    res.end(errorBody(code, requestId), true)
  })
}

/** Told a length, uWS waits for a body of it, and would end the connection at the next request. */
function endHead(res: HttpResponse, length: number, closing: boolean): void {
  if (closing) return void res.endWithoutBody(length, closing)
  res.writeHeader('Content-Length', String(length))
  res.endWithoutBody()
}

export const addressOf = (res: HttpResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1')

const STATUS_LINES = new Map<number, string>()

function statusLine(status: number): string {
  let line = STATUS_LINES.get(status)
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
    STATUS_LINES.set(status, line)
  }
  return line
}
