/**
 * One HTTP request and its single response, on top of uWebSockets.js.
 *
 * Owns: uWebSockets.js's response object, and closing the connection with it. Does not own: parsing
 * (head.ts, body.ts), the order of steps (server.ts), the error envelope (error_response.ts).
 *
 * - `res` is dropped on abort or on the response, whichever comes first; a later response is
 *   ignored.
 * - A body is readable only while `serve` runs, synchronously. `postpone` keeps it for later.
 * - A connection holds at most one answer that its client has not taken. The rest of it waits here
 *   and stays unanswered for uWebSockets.js, which closes a connection that sends a further request
 *   meanwhile, or takes nothing for ten seconds.
 * - An answer without a body closes its connection: uWebSockets.js reports only for bytes of a body
 *   whether the client takes them.
 */
import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import type { HeaderValue } from '../../src/auth/verify.js'
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import type { ErrorCode, Violation } from '../../src/base/errors.js'
import { newId, type Environment, type RequestId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import type { Traceparent } from '../../src/base/traceparent.js'
import type { Caller } from './caller.js'
import type { AnswerHeaders } from './headers.js'
import { isHeld, representationOf, type StaticFile } from './static_file.js'
import type { DeadlineEntry } from './deadlines.js'
import { ACCEPT_ENCODING, Head, IF_NONE_MATCH } from './head.js'
import { detailedErrorBody, errorBody, errorStatus } from './error_response.js'
import { ReceivedBody, type BodyMemory, type BodySource } from './body.js'

export interface RequestContext {
  readonly requestId: RequestId
  readonly startedAt: Instant
  /** `method`, `path` and `query`: see Head. */
  readonly method: string
  readonly path: string
  readonly query: string
  /** Empty except while `serve` runs. */
  readonly body: Buffer
  /** Undefined until the host is known. */
  environment: Environment | undefined
  /** Undefined until the request is authenticated. */
  caller: Caller | undefined
  /** The answer is the stored one of an idempotency key. */
  replayed: boolean
  /** Undefined means that the request is not traced. */
  trace: RequestTrace | undefined
  /** By lower-case name; only headers that the server keeps. */
  header(name: string): HeaderValue
  /** The peer's address; empty once the request is answered. */
  peer(): string
  /** Milliseconds until the response is late; at least 1. */
  timeLeft(): number
  /**
   * Keeps the body and returns a function that resumes with `resume`; it does nothing once the
   * request is answered or aborted. Undefined means that there is no memory for the body.
   */
  postpone(resume: () => void): (() => void) | undefined
  /** Ignored once the request is answered or aborted. */
  answer(status: number, body: string, headers?: AnswerHeaders): void
  /** Status 200, or 304 when the client has this form of the file. Ignored like `answer`. */
  answerFile(file: StaticFile): void
  /** In the sandbox the answer names field and rule of the violation. */
  refuse(code: ErrorCode, headers?: AnswerHeaders, violation?: Violation): void
  /** Copies a request header to the response, except on a 401: those are all identical. */
  echo(name: string, value: string): void
}

/** The gateway's span of a request. */
export interface RequestTrace {
  readonly self: Traceparent
  /** Null means that the trace begins with it. */
  readonly parent: Traceparent | null
}

/** Properties of a route that the server needs before the body is read. */
export interface Target {
  readonly bodyMaxBytes: number
  /** See errorStatus in error_response.ts. */
  readonly refusesAsConflict: boolean
}

/** Called with each answer; `target` is undefined when the head was rejected. */
export type Observe<T extends Target> = (
  request: OpenRequestContext<T>,
  target: T | undefined,
  status: number,
  body: string,
) => void

/** State that all requests of one server share. */
export interface ServerState<T extends Target> {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly bodies: BodyMemory
  readonly sourceOf: (request: RequestContext) => string
  readonly observe: Observe<T>
  /** Called once the request is answered or aborted. */
  readonly ended: (request: OpenRequestContext<T>) => void
  /** Called when a connection ended before its client had taken the answer. */
  readonly onUnread: () => void
  /** Answers that are partly taken. */
  readonly partlyTaken: Set<OpenRequestContext<T>>
  /** True means that every response closes its connection. */
  stopping: boolean
}

/**
 * A rejected body is read up to this size: otherwise the client sees a connection reset instead of
 * the response.
 */
export const DISCARD_MAX_BYTES = 32 * 1024 * 1024
const NO_HEADERS: AnswerHeaders = []
const RETRY_AFTER = 'Retry-After'
/** Sent with every 503. A client that backs off by itself waits longer. */
const RETRY_SOON = [RETRY_AFTER, '1'] as const
const JSON_HEADERS: AnswerHeaders = [
  ['Content-Type', 'application/json'],
  ['Cache-Control', 'no-store'],
]

/** The server's view of a request; other modules use `RequestContext`. */
export class OpenRequestContext<T extends Target>
  implements RequestContext, BodySource, DeadlineEntry<OpenRequestContext<T>>
{
  readonly requestId: RequestId
  readonly startedAt: Instant
  readonly head = new Head()
  readonly received: ReceivedBody
  target: T | undefined
  environment: Environment | undefined
  caller: Caller | undefined
  replayed = false
  trace: RequestTrace | undefined
  /** The code of the refusal. Undefined if the request was served. */
  code: ErrorCode | undefined
  violation: Violation | undefined
  /** The body is complete. */
  complete = false
  /** The response closes the connection. */
  closing = false
  answered = false
  queue: object | undefined
  due = instant(0)
  earlier: OpenRequestContext<T> | undefined
  later: OpenRequestContext<T> | undefined
  private readonly shared: ServerState<T>
  private res: HttpResponse | undefined
  private echoed: readonly [name: string, value: string] | undefined
  private hasBody = true
  private connectionEnded = false

  constructor(shared: ServerState<T>, res: HttpResponse) {
    this.shared = shared
    this.res = res
    this.received = new ReceivedBody(shared.bodies, this)
    this.startedAt = shared.clock.now()
    this.requestId = newId('request', this.startedAt, shared.random)
  }

  /** Runs one step of the request; an exception is a bug, logged and answered 500. */
  attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.shared.log.error({ request_id: this.requestId, error }, 'request handler threw')
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

  /** True when the body must be read before the request can be rejected. */
  mustBeRead(): boolean {
    return this.received.oversized || this.head.chunked
  }

  /** Receives the next part of the body. True when it is complete and within its cap. */
  receive(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): boolean {
    if (this.res === undefined || this.answered) return false
    switch (this.received.receive(chunk, isLast, maxBytes)) {
      case 'complete':
        return true
      case 'more':
        return false
      case 'oversized':
        this.closing = true
        if (isLast || this.received.bytes > DISCARD_MAX_BYTES) this.refuse('payload_too_large')
        return false
      case 'no_capacity':
        this.closing = true
        this.refuse('configuration_error')
        return false
    }
  }

  postpone(resume: () => void): (() => void) | undefined {
    const { received } = this
    if (!received.keep()) return undefined
    return () => {
      if (this.res === undefined || this.answered) return
      received.open()
      this.attempt(resume)
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

  refuse(code: ErrorCode, headers: AnswerHeaders = NO_HEADERS, violation?: Violation): void {
    if (this.answered) return
    this.code = code
    this.violation = violation
    const status = errorStatus(code, this.target?.refusesAsConflict ?? false)
    const isDetailed = violation !== undefined && this.environment === 'sandbox'
    const body = isDetailed
      ? detailedErrorBody(code, this.requestId, violation)
      : errorBody(code, this.requestId)
    const waits = status === 503 && headers.every(([name]) => name !== RETRY_AFTER)
    this.answer(status, body, waits ? [...headers, RETRY_SOON] : headers)
  }

  echo(name: string, value: string): void {
    this.echoed = [name, value]
  }

  answer(status: number, body: string, headers: AnswerHeaders = NO_HEADERS): void {
    this.respond(status, body, JSON_HEADERS, headers)
  }

  answerFile(file: StaticFile): void {
    const form = representationOf(file, this.header(ACCEPT_ENCODING))
    const status = isHeld(form, this.header(IF_NONE_MATCH)) ? 304 : 200
    this.respond(status, form.content, form.headers, NO_HEADERS)
  }

  private respond(
    status: number,
    body: string | Buffer,
    headers: AnswerHeaders,
    more: AnswerHeaders,
  ): void {
    if (this.res === undefined || this.answered) return
    this.answered = true
    this.hasBody = this.method !== 'HEAD' && status !== 304
    this.closing ||= this.shared.stopping || !this.hasBody
    // Deferred: while uWebSockets.js still reads a packet it would serve a further request in it.
    if (this.closing) setImmediate(() => this.write(status, body, headers, more))
    else this.write(status, body, headers, more)
  }

  private write(
    status: number,
    body: string | Buffer,
    headers: AnswerHeaders,
    more: AnswerHeaders,
  ): void {
    const { res, echoed } = this
    if (res === undefined) return
    res.cork(() => {
      res.writeStatus(statusLine(status))
      for (const [name, value] of headers) res.writeHeader(name, value)
      res.writeHeader('X-Request-Id', this.requestId)
      for (const [name, value] of more) res.writeHeader(name, value)
      const clientId = this.head.clientRequestId()
      if (clientId !== undefined) res.writeHeader('X-Client-Request-Id', clientId)
      if (echoed !== undefined && status !== 401) res.writeHeader(...echoed)
      this.send(res, body, Buffer.byteLength(body))
    })
    this.detach()
    this.shared.observe(this, this.target, status, typeof body === 'string' ? body : '')
  }

  /** Ends the head and sends as much of the body as the client takes now. */
  private send(res: HttpResponse, body: string | Buffer, length: number): void {
    if (!this.closing) {
      const [isTaken] = res.tryEnd(body, length)
      if (!isTaken) this.sendRest(res, body, length)
      return
    }
    res.writeHeader('Connection', 'close')
    // The first call writes the Content-Length. Later ones name one byte more, so uWebSockets.js
    // does not end the response, and it can be closed here once all of it is taken.
    res.tryEnd('', length)
    if (!this.hasBody || res.tryEnd(body, length + 1)[0]) this.closeSoon(res)
    else this.sendRest(res, body, length + 1)
  }

  private sendRest(res: HttpResponse, body: string | Buffer, total: number): void {
    const { partlyTaken } = this.shared
    const content = typeof body === 'string' ? Buffer.from(body) : body
    partlyTaken.add(this)
    res.onWritable((offset) => {
      const [isTaken] = res.tryEnd(content.subarray(offset), total)
      if (!isTaken) return false
      partlyTaken.delete(this)
      if (this.closing) this.closeSoon(res)
      this.shared.ended(this)
      return true
    })
  }

  /** Not within a callback of uWebSockets.js, which uses the connection after it. */
  private closeSoon(res: HttpResponse): void {
    setImmediate(() => {
      if (!this.connectionEnded) res.close()
    })
  }

  /** The connection ended before its response did. */
  aborted(): void {
    this.connectionEnded = true
    if (this.shared.partlyTaken.delete(this)) this.shared.onUnread()
    this.detach()
  }

  /** Answered or aborted: `res` must not be used again. */
  detach(): void {
    this.res = undefined
    this.received.free()
    this.shared.ended(this)
  }
}

/** Answers a connection over the limit, and closes it. */
export function refuseConnection(res: HttpResponse, code: ErrorCode, requestId: RequestId): void {
  res.cork(() => {
    res.writeStatus(statusLine(errorStatus(code, false)))
    res.writeHeader('Content-Type', 'application/json')
    res.writeHeader('Cache-Control', 'no-store')
    res.writeHeader('X-Request-Id', requestId)
    res.writeHeader(...RETRY_SOON)
    res.end(errorBody(code, requestId), true)
  })
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
