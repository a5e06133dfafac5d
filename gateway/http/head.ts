/**
 * A request's head.
 *
 * Owns: the copy of all that is needed of it, and its judgement. Does not own: the connection and
 * what is answered (request_context), what the headers mean.
 *
 * - What is read of the parser's own head is copied at once: uWS frees it.
 * - A head that two readers could frame differently is refused.
 * - A header that comes twice has no value, except a list: its lines are one list (RFC 9110).
 */
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'

/** The parser's. */
export interface RawHead {
  getCaseSensitiveMethod(): string
  getUrl(): string
  /** Undefined when there is no question mark, against the parser's own types. */
  getQuery(): string | undefined
  forEach(header: (name: string, value: string) => void): void
}

/** Half of what Node's own servers take; our partners need a tenth of it. */
const HEAD_MAX_BYTES = 8 * 1024
const HEADERS_MAX = 60

export const FORWARDED_FOR = 'x-forwarded-for'
const LISTS: ReadonlySet<string> = new Set([FORWARDED_FOR])

const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'host',
])

export class Head {
  /** As sent, upper case for every method there is. */
  method = ''
  /** As sent: not decoded, not normalized, without the query. */
  path = ''
  /** What follows the `?`; empty when there is none. */
  query = ''
  /** The body comes in chunks, so its length is not known before its end. */
  chunked = false
  /** 0: there is no body, or it comes in chunks. */
  declaredBytes = 0
  private readonly headers = new Map<string, string | typeof REPEATED>()

  /** False when it is too large or its framing is ambiguous. */
  read(raw: RawHead, kept: ReadonlySet<string>): boolean {
    this.method = raw.getCaseSensitiveMethod()
    this.path = raw.getUrl()
    this.query = raw.getQuery() ?? ''
    let bytes = this.method.length + this.path.length + this.query.length
    let count = 0
    raw.forEach((name, value) => {
      bytes += name.length + value.length
      count += 1
      if (kept.has(name) || FRAMING_HEADERS.has(name)) this.keep(name, value)
    })
    return this.readFraming() && bytes <= HEAD_MAX_BYTES && count <= HEADERS_MAX
  }

  /** By lower-case name; only names that were to be kept. */
  header(name: string): HeaderValue {
    return this.headers.get(name)
  }

  private keep(name: string, value: string): void {
    const before = this.headers.get(name)
    if (before === undefined) this.headers.set(name, value)
    else if (typeof before === 'string' && LISTS.has(name))
      this.headers.set(name, `${before},${value}`)
    else this.headers.set(name, REPEATED)
  }

  /** H2. uWS takes the first of two lengths and any word that ends in `chunked`. */
  private readFraming(): boolean {
    const length = this.header('content-length')
    const coding = this.header('transfer-encoding')
    if (this.header('host') === REPEATED) return false
    if (coding !== undefined) {
      this.chunked = true
      return coding === 'chunked' && length === undefined
    }
    if (length === undefined) return true
    if (length === REPEATED || !/^[0-9]{1,15}$/.test(length)) return false
    this.declaredBytes = Number(length)
    return true
  }
}
