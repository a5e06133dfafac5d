/**
 * HTTP/1.1 messages out of a connection's bytes, either way.
 *
 * Owns: the little of HTTP that the service uses: a first line, headers, a body of announced
 * length. Does not own: the connection, nor what a message means (answer_reader, receiver_thread).
 *
 * - One message is on its way at a time, so bytes after it belong to nothing: the connection is
 *   out of step.
 * - What is given in is read before `read` returns; what must wait for more is copied.
 * - `body` may be the caller's own memory: it is good until the caller reads on.
 */

export interface Message {
  /** The parts of the first line, as the reader's expression names them. */
  readonly first: RegExpExecArray
  /** First line and headers. */
  readonly head: string
  /** See the file's header. */
  readonly body: Buffer
}

export type Reading = Message | 'incomplete' | 'unreadable'

export interface MessageReader {
  read(chunk: Buffer): Reading
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** Ours are some 200 to 700 bytes. */
const HEAD_MAX_BYTES = 16 * 1024
/** The largest answer, a list of 100 payouts with all their metadata, stays below. */
const BODY_MAX_BYTES = 64 * 1024 * 1024
const LENGTH = /\r\ncontent-length: *([0-9]{1,9}) *(?=\r\n|$)/i
const NOTHING: Buffer = Buffer.alloc(0)

/** @param firstLine what a message must begin with */
export function createMessageReader(firstLine: RegExp): MessageReader {
  let waiting = NOTHING
  return {
    read: (chunk) => {
      const bytes = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
      const reading = parse(firstLine, bytes)
      if (reading !== 'incomplete') waiting = NOTHING
      else waiting = waiting.length === 0 ? Buffer.from(bytes) : bytes
      return reading
    },
  }
}

function parse(firstLine: RegExp, bytes: Buffer): Reading {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return bytes.length > HEAD_MAX_BYTES ? 'unreadable' : 'incomplete'
  const head = bytes.toString('latin1', 0, headEnd)
  const first = firstLine.exec(head)
  const length = Number(LENGTH.exec(head)?.[1] ?? Number.NaN)
  if (first === null || !(length <= BODY_MAX_BYTES)) return 'unreadable'
  const from = headEnd + HEAD_END.length
  const to = from + length
  if (bytes.length < to) return 'incomplete'
  if (bytes.length > to) return 'unreadable'
  return { first, head, body: bytes.subarray(from, to) }
}
