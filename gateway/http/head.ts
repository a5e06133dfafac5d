/**
 * The head of a request: method, path, query, headers and framing.
 *
 * Does not own: the connection (request_context.ts), the meaning of headers.
 *
 * - Values are copied at once: uWebSockets.js frees the parser's memory.
 * - A head that two parsers could frame differently is rejected.
 * - A repeated header has no value, except a list header, whose lines form one list (RFC 9110).
 */
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'

/** The request as uWebSockets.js passes it. */
export interface RawHead {
  getCaseSensitiveMethod(): string
  getUrl(): string
  /** Undefined without a `?`, contrary to the library's types. */
  getQuery(): string | undefined
  forEach(header: (name: string, value: string) => void): void
}

/** Half of Node's own limit, and ten times what a partner's request needs. */
const HEAD_MAX_BYTES = 8 * 1024
const HEADERS_MAX = 60

/** The caller's own id of its request. */
export const CLIENT_REQUEST_ID = 'x-request-id'
const WELL_FORMED_ID = /^[!-~]{1,128}$/

export const FORWARDED_FOR = 'x-forwarded-for'
export const ACCEPT_ENCODING = 'accept-encoding'
export const IF_NONE_MATCH = 'if-none-match'
const LISTS: ReadonlySet<string> = new Set([FORWARDED_FOR, ACCEPT_ENCODING, IF_NONE_MATCH])

const FRAMING_HEADERS = ['content-length', 'transfer-encoding', 'host']

/** The index in the list of values of each header that is kept, by its lower-case name. */
export type HeaderIndexes = ReadonlyMap<string, number>

/** Those of the service, and those of the framing. */
export const indexesOf = (kept: ReadonlySet<string>): HeaderIndexes =>
  new Map([...new Set([...kept, ...FRAMING_HEADERS])].map((name, index) => [name, index]))

const NO_INDEXES: HeaderIndexes = new Map()
const NO_VALUES: readonly HeaderValue[] = []

export class Head {
  /** As sent; every defined method is upper case. */
  method = ''
  /** As sent: not decoded, not normalized, without the query. */
  path = ''
  /** After the `?`; empty when there is none. */
  query = ''
  /** Chunked transfer coding: the length is unknown until the end. */
  chunked = false
  /** 0 for no body and for a chunked one. */
  declaredBytes = 0
  private indexes = NO_INDEXES
  /** By index. A Map would be made, and grow, for each request. */
  private values = NO_VALUES

  /** False when the head is too large or its framing is ambiguous. */
  read(raw: RawHead, indexes: HeaderIndexes): boolean {
    this.method = raw.getCaseSensitiveMethod()
    this.path = raw.getUrl()
    this.query = raw.getQuery() ?? ''
    let bytes = this.method.length + this.path.length + this.query.length
    let count = 0
    const values = new Array<HeaderValue>(indexes.size).fill(undefined)
    raw.forEach((name, value) => {
      bytes += name.length + value.length
      count += 1
      const index = indexes.get(name)
      if (index !== undefined) values[index] = withLine(name, values[index], value)
    })
    this.indexes = indexes
    this.values = values
    return this.readFraming() && bytes <= HEAD_MAX_BYTES && count <= HEADERS_MAX
  }

  /** By lower-case name; undefined for a header without an index. */
  header(name: string): HeaderValue {
    const index = this.indexes.get(name)
    return index === undefined ? undefined : this.values[index]
  }

  /** The caller's id of the request; undefined when it has none, or not a well-formed one. */
  clientRequestId(): string | undefined {
    const id = this.header(CLIENT_REQUEST_ID)
    return typeof id === 'string' && WELL_FORMED_ID.test(id) ? id : undefined
  }

  /** uWebSockets.js accepts the first of two lengths, and reads every coding as `chunked`. */
  private readFraming(): boolean {
    const length = this.header('content-length')
    const coding = this.header('transfer-encoding')
    if (this.header('host') === REPEATED) return false
    if (coding !== undefined) {
      this.chunked = true
      return coding !== REPEATED && isChunked(coding) && length === undefined
    }
    if (length === undefined) return true
    if (length === REPEATED || !/^[0-9]{1,15}$/.test(length)) return false
    this.declaredBytes = Number(length)
    return true
  }
}

/** Names of transfer codings are case-insensitive (RFC 9112, section 7). */
const isChunked = (coding: string): boolean => coding.toLowerCase() === 'chunked'

/** The value of a header with one more line. */
function withLine(name: string, before: HeaderValue, line: string): HeaderValue {
  if (before === undefined) return line
  return typeof before === 'string' && LISTS.has(name) ? `${before},${line}` : REPEATED
}
