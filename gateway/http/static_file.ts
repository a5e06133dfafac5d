/** A document that is ready to be sent, as it is and compressed: all of it is in memory. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { HeaderValue } from '../../src/auth/verify.js'
import type { AnswerHeaders } from './headers.js'

export interface StaticFile {
  readonly plain: Representation
  /** Undefined means that the file is too small to gain from it. */
  readonly gzip: Representation | undefined
}

/** A form of the file, with all headers but X-Request-Id and framing. */
export interface Representation {
  readonly content: Buffer
  readonly headers: AnswerHeaders
  readonly etag: string
}

/** By path. */
export type StaticFiles = Pick<ReadonlyMap<string, StaticFile>, 'get'>

/** About one packet. */
const GZIP_FROM_BYTES = 1_400

export function staticFile(content: Buffer, headers: AnswerHeaders): StaticFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 32)
  const form = (coded: Buffer, etag: string, ...more: AnswerHeaders): Representation => ({
    content: coded,
    headers: [...headers, ['Vary', 'Accept-Encoding'], ['ETag', etag], ...more],
    etag,
  })
  return {
    plain: form(content, `"${hash}"`),
    gzip:
      content.length < GZIP_FROM_BYTES
        ? undefined
        : form(gzipSync(content), `"${hash}-gzip"`, ['Content-Encoding', 'gzip']),
  }
}

/** The form to send to a client that accepts these codings. */
export function representationOf(
  { plain, gzip }: StaticFile,
  acceptEncoding: HeaderValue,
): Representation {
  return gzip !== undefined && acceptsGzip(acceptEncoding) ? gzip : plain
}

/** `gzip;q=0` names a coding that is not accepted. */
function acceptsGzip(acceptEncoding: HeaderValue): boolean {
  if (typeof acceptEncoding !== 'string') return false
  return acceptEncoding.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.toLowerCase().split(';')
    const isRefused = parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter))
    return name.trim() === 'gzip' && !isRefused
  })
}

/** Whether the client names the form as one that it has (RFC 9110, section 13.1.2). */
export function isHeld({ etag }: Representation, ifNoneMatch: HeaderValue): boolean {
  if (typeof ifNoneMatch !== 'string') return false
  return ifNoneMatch.split(',').some((one) => {
    const held = one.trim()
    return held === '*' || held.replace(/^W\//, '') === etag
  })
}
