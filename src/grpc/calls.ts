/**
 * The open calls of a gRPC server: bounds, repeated checks, and their end.
 *
 * - A unary request is bounded in bytes and in time until it is complete; all incomplete requests
 *   together are bounded too, and the oldest one ends first.
 * - An open stream is authorized again every second, so it ends soon after its caller is revoked.
 * - An ended call is also reset, which frees its memory.
 */
import { constants, type ServerHttp2Stream } from 'node:http2'
import { status, type ServerInterceptingCallInterface, type StatusObject } from '@grpc/grpc-js'
import {
  GRPC_HEALTH_MESSAGE_MAX_BYTES,
  GRPC_INCOMPLETE_MAX,
  GRPC_INCOMPLETE_MAX_BYTES,
  GRPC_REQUEST_WITHIN_MS,
  GRPC_UNARY_MESSAGE_MAX_BYTES,
} from '../base/constants.js'

type InterceptedCall = ServerInterceptingCallInterface

export type CallEnd = Pick<StatusObject, 'code' | 'details'> & Partial<StatusObject>

const TOO_MANY = { code: status.RESOURCE_EXHAUSTED, details: 'Too many requests at once' }

/** The text of grpc-js itself. */
const tooLarge = (bytes: number, most: number): CallEnd => ({
  code: status.RESOURCE_EXHAUSTED,
  details: `Received message larger than max (${bytes} vs ${most})`,
})

/**
 * Ends the call without reading the remaining request. The stream is reset when its end is on the
 * way: Node 22 drops a status that it has not sent yet, and an answer that has begun ends with
 * trailers; Node never stops sending on a stream that is closed before them.
 */
export function endCall(call: InterceptedCall, how: CallEnd): void {
  const stream = streamOf(call)
  const close = (): void => stream.close(constants.NGHTTP2_NO_ERROR)
  const closeSoon = (): void => void setImmediate(close)
  const hasBegun = stream.headersSent
  call.sendStatus(how)
  if (hasBegun) stream.once('wantTrailers', closeSoon)
  else closeSoon()
}

/** Ends a stream whose requests are larger than this. */
export function endBeyond(call: InterceptedCall, most: number): void {
  let bytes = 0
  streamOf(call).on('data', (chunk: Buffer) => {
    bytes += chunk.length
    // Once: chunks can follow until the trailers are sent.
    if (bytes > most && bytes - chunk.length <= most) endCall(call, tooLarge(bytes, most))
  })
}

/** grpc-js gives no other way to count a request's bytes or to reset its stream. */
const streamOf = (call: InterceptedCall): ServerHttp2Stream =>
  (call as unknown as { readonly stream: ServerHttp2Stream }).stream

interface OpenCalls {
  add(call: InterceptedCall): void
  remove(call: InterceptedCall): void
}

/** Open calls without a credential; the oldest one ends for a new one. */
export function createOpenCalls(most: number): OpenCalls {
  const open = new Set<InterceptedCall>()
  return {
    add: (call) => {
      const [oldest] = open
      if (oldest !== undefined && open.size >= most) {
        open.delete(oldest)
        endCall(oldest, TOO_MANY)
      }
      open.add(call)
    },
    remove: (call) => void open.delete(call),
  }
}

interface StreamChecks {
  /** @param isGranted whether its caller still has access */
  add(call: InterceptedCall, isGranted: () => boolean): void
  stop(): void
}

const STREAM_CHECK_INTERVAL_MS = 1_000

/** Ends open streams whose callers lose their access. */
export function createStreamChecks(): StreamChecks {
  const open = new Map<ServerHttp2Stream, () => boolean>()
  const timer = setInterval(() => {
    for (const [stream, isGranted] of open) {
      if (!isGranted()) stream.close(constants.NGHTTP2_CANCEL)
    }
  }, STREAM_CHECK_INTERVAL_MS)
  timer.unref()
  return {
    add: (call, isGranted) => {
      const stream = streamOf(call)
      open.set(stream, isGranted)
      stream.once('close', () => open.delete(stream))
    },
    stop: () => clearInterval(timer),
  }
}

interface IncompleteRequests {
  add(call: InterceptedCall, isHealth: boolean): void
  remove(call: InterceptedCall): void
}

/** A message starts with a byte of flags and four of its length. */
const PREFIX_BYTES = 5

/** Unary requests that have not arrived completely, oldest first. */
export function createIncompleteRequests(tooSlow: CallEnd): IncompleteRequests {
  interface Request {
    readonly timer: NodeJS.Timeout
    prefix: Buffer
    bytes: number
  }
  const requests = new Map<InterceptedCall, Request>()
  let bytes = 0

  const add = (call: InterceptedCall, isHealth: boolean): void => {
    // After a pause of this process, data that has arrived is read before the call is ended.
    const timer = setTimeout(() => setImmediate(cut, call, tooSlow), GRPC_REQUEST_WITHIN_MS)
    const request = { timer, prefix: Buffer.alloc(0), bytes: 0 }
    requests.set(call, request)
    shed()
    const most = isHealth ? GRPC_HEALTH_MESSAGE_MAX_BYTES : GRPC_UNARY_MESSAGE_MAX_BYTES
    streamOf(call).on('data', (chunk: Buffer) => take(call, request, chunk, most))
  }

  const take = (call: InterceptedCall, request: Request, chunk: Buffer, most: number): void => {
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

  const cut = (call: InterceptedCall, how: CallEnd): void => {
    if (remove(call)) endCall(call, how)
  }

  const remove = (call: InterceptedCall): boolean => {
    const request = requests.get(call)
    if (request === undefined) return false
    clearTimeout(request.timer)
    bytes -= request.bytes
    return requests.delete(call)
  }

  return { add, remove }
}
