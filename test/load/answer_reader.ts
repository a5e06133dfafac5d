/**
 * HTTP/1.1 answers out of a connection's bytes.
 *
 * Owns: the little of HTTP that the gateway's answers use: a status line, headers, a body of
 * announced length. Does not own: the connection, nor what an answer means (scenarios).
 *
 * R1. One request is out at a time, so bytes after the answer belong to nothing: the connection is
 *     out of step.
 * R2. What is given in is read before `read` returns; what must wait for more is copied.
 * R3. `body` may be the caller's own memory: it is good until the caller reads on.
 */

export interface Answer {
  readonly status: number
  /** See R3. */
  readonly body: Buffer
}

export type Reading = Answer | 'incomplete' | 'unreadable'

export interface AnswerReader {
  read(chunk: Buffer): Reading
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** Ours are some 200 bytes. */
const HEAD_MAX_BYTES = 16 * 1024
/** The largest answer, a list of 100 payouts with all their metadata, stays below. */
const BODY_MAX_BYTES = 64 * 1024 * 1024
const STATUS = /^HTTP\/1\.1 ([0-9]{3}) /
const LENGTH = /\r\ncontent-length: *([0-9]{1,9}) *(?=\r\n|$)/i
const NOTHING: Buffer = Buffer.alloc(0)

export function createAnswerReader(): AnswerReader {
  let waiting = NOTHING
  return {
    read: (chunk) => {
      const bytes = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
      const reading = parse(bytes)
      if (reading !== 'incomplete') waiting = NOTHING
      else waiting = waiting.length === 0 ? Buffer.from(bytes) : bytes
      return reading
    },
  }
}

function parse(bytes: Buffer): Reading {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return bytes.length > HEAD_MAX_BYTES ? 'unreadable' : 'incomplete'
  const head = bytes.toString('latin1', 0, headEnd)
  const status = STATUS.exec(head)
  const length = Number(LENGTH.exec(head)?.[1] ?? Number.NaN)
  if (status === null || !(length <= BODY_MAX_BYTES)) return 'unreadable'
  const from = headEnd + HEAD_END.length
  const to = from + length
  if (bytes.length < to) return 'incomplete'
  if (bytes.length > to) return 'unreadable'
  return { status: Number(status[1]), body: bytes.subarray(from, to) }
}
