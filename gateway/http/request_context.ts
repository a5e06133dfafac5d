/**
 * One HTTP request and its single response, on top of uWebSockets.js.
 *
 * Owns: uWebSockets.js's response object, and closing the connection with it. Does not own: parsing
 * (head.ts, body.ts), the order of steps (server.ts), the error envelope (error_response.ts).
 *
 * - `res` is dropped on abort or on the response, whichever comes first; a later response is
 *   ignored.
 * - A body is readable only while `serve` runs, synchronously. `postpone` keeps it for later.
 */
import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import type { HeaderValue } from '../../src/auth/verify.js'
import { instant, type Clock, type Instant } from '../../src/base/clock.js'
import type { ErrorCode, Violation } from '../../src/base/errors.js'
import { newId, type Environment, type RequestId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import type { Caller } from '../authentication/authenticate.js'
import type { StaticFile } from '../docs/static_file.js'
import type { DeadlineEntry } from './deadlines.js'
import { Head } from './head.js'
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
  /** By lower-case name; only headers that the server keeps. */
  header(name: string): HeaderValue
  /** The peer's address; empty once the request is answered. */
  peer(): string
  /** Milliseconds until the response is late; at least 1. */
  timeLeft(): number
  /**
   * Keeps the body and returns a function that resumes with `resume`; it does nothing once the
   * request is answered or aborted. Undefined: no memory for the body.
   */
  postpone(resume: () => void): (() => void) | undefined
  /** Ignored once the request is answered or aborted. */
  answer(status: number, body: string, headers?: AnswerHeaders): void
  /** Status 200, or no content for HEAD. Ignored like `answer`. */
  answerFile(file: StaticFile): void
  /** In the sandbox the answer names place and rule of the violation. */
  refuse(code: ErrorCode, headers?: AnswerHeaders, violation?: Violation): void
  /** Copies a request header to the response, except on a 401: those are all identical. */
  echo(name: string, value: string): void
}

export type AnswerHeaders = readonly (readonly [name: string, value: string])[]

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
  /** True: every response closes its connection. */
  stopping: boolean
}

/**
 * A rejected body is read up to this size: otherwise the client sees a connection reset instead of
 * the response.
 */
export const DISCARD_MAX_BYTES = 32 * 1024 * 1024
const NO_HEADERS: AnswerHeaders = []

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
  /** Of the refusal; undefined: served. */
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
    this.answer(status, body, headers)
  }

  echo(name: string, value: string): void {
    this.echoed = [name, value]
  }

  answer(status: number, body: string, headers: AnswerHeaders = NO_HEADERS): void {
    if (this.res === undefined || this.answered) return
    this.answered = true
    this.closing ||= this.shared.stopping
    // Deferred: while uWebSockets.js still reads a packet it would serve a further request in it.
    if (this.closing) setImmediate(() => this.write(status, body, headers))
    else this.write(status, body, headers)
  }

  answerFile(file: StaticFile): void {
    if (this.res === undefined || this.answered) return
    this.answered = true
    this.closing ||= this.shared.stopping
    if (this.closing) setImmediate(() => this.writeFile(file))
    else this.writeFile(file)
  }

  private writeFile({ content, headers }: StaticFile): void {
    const { res, closing } = this
    if (res === undefined) return
    this.detach()
    res.cork(() => {
      res.writeStatus(statusLine(200))
      for (const [name, value] of headers) res.writeHeader(name, value)
      res.writeHeader('X-Request-Id', this.requestId)
      if (this.method === 'HEAD') endHead(res, content.length, closing)
      else if (closing) res.end(content, closing)
      else endInParts(res, content)
    })
    this.shared.observe(this, this.target, 200, '')
  }

  private write(status: number, body: string, headers: AnswerHeaders): void {
    const { res, closing, echoed } = this
    if (res === undefined) return
    this.detach()
    res.cork(() => {
      res.writeStatus(statusLine(status))
      res.writeHeader('Content-Type', 'application/json')
      res.writeHeader('Cache-Control', 'no-store')
      res.writeHeader('X-Request-Id', this.requestId)
      for (const [name, value] of headers) res.writeHeader(name, value)
      const clientId = this.head.clientRequestId()
      if (clientId !== undefined) res.writeHeader('X-Client-Request-Id', clientId)
      if (echoed !== undefined && status !== 401) res.writeHeader(...echoed)
      if (this.method === 'HEAD') endHead(res, Buffer.byteLength(body), closing)
      else res.end(body, closing)
    })
    this.shared.observe(this, this.target, status, body)
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
    res.writeHeader('Retry-After', '1')
    res.end(errorBody(code, requestId), true)
  })
}

/**
 * With a Content-Length uWebSockets.js expects a body and would close the connection at the next
 * request.
 */
function endHead(res: HttpResponse, length: number, closing: boolean): void {
  if (closing) return void res.endWithoutBody(length, closing)
  res.writeHeader('Content-Length', String(length))
  res.endWithoutBody()
}

/**
 * Writes as much as the kernel accepts at a time: uWebSockets.js would keep a copy of the remainder
 * for each slow client.
 */
function endInParts(res: HttpResponse, content: Buffer): void {
  res.onWritable((offset) => res.tryEnd(content.subarray(offset), content.length)[0])
  res.tryEnd(content, content.length)
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
