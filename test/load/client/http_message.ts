/**
 * HTTP/1.1 messages out of a connection's bytes: a first line, headers, a body of announced length.
 *
 * - One message is read at a time; bytes beyond its announced length are an error.
 * - Input is consumed before `read` returns; an incomplete rest is copied.
 */

export interface Message {
  /** The groups of the expression for the first line. */
  readonly first: RegExpExecArray
  /** First line and headers. */
  readonly head: string
  /** May share the caller's memory: valid until the caller's next read. */
  readonly body: Buffer
}

export type Reading = Message | 'incomplete' | 'unreadable'

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /\r\ncontent-length: *([0-9]{1,9}) *(?=\r\n|$)/i
const HEAD_MAX_BYTES = 16 * 1024
/** Larger than any page of a list. */
const BODY_MAX_BYTES = 64 * 1024 * 1024
const NOTHING: Buffer = Buffer.alloc(0)

/** @param firstLine the required first line */
export function createMessageReader(firstLine: RegExp): (chunk: Buffer) => Reading {
  let waiting = NOTHING
  return (chunk) => {
    const bytes = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    const reading = parse(firstLine, bytes)
    if (reading !== 'incomplete') waiting = NOTHING
    else waiting = waiting.length === 0 ? Buffer.from(bytes) : bytes
    return reading
  }
}

function parse(firstLine: RegExp, bytes: Buffer): Reading {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return bytes.length > HEAD_MAX_BYTES ? 'unreadable' : 'incomplete'
  const head = bytes.toString('latin1', 0, headEnd)
  const first = firstLine.exec(head)
  const length = Number(LENGTH.exec(head)?.[1] ?? Number.NaN)
  if (first === null || !(length <= BODY_MAX_BYTES)) return 'unreadable'
  const body = bytes.subarray(headEnd + HEAD_END.length)
  if (body.length < length) return 'incomplete'
  return body.length > length ? 'unreadable' : { first, head, body }
}
