/**
 * Signed requests, ready to be sent.
 *
 * Owns: a request's form, and the records of those that were signed ahead. Does not own: what is
 * asked for (scenarios).
 *
 * - Every request has a timestamp, a nonce and a signature of its own, and its own
 *   Idempotency-Key where it takes one, as partners are asked to send it.
 * - What is signed ahead is used first. After it, a lasting supply signs a few at a time while
 *   they are asked for, which costs the client some 15 µs each; any other one ends.
 */
import type { Clock } from '../../../src/base/clock.js'
import { toRfc3339 } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'
import { createRequestTemplate, type RequestTemplate, type Piece } from './request_template.js'
import { createSigner } from './signature.js'

export interface Signing {
  readonly host: string
  readonly keyId: string
  readonly secret: string
  readonly clock: Clock
  readonly random: Random
}

export interface SuppliedRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly target: readonly Piece[]
  /** Empty: none. */
  readonly body: readonly Piece[]
  readonly withKey: boolean
  /** The texts of the fields of the next one, target first. */
  readonly fields: () => readonly string[]
}

export interface PresignedRequests {
  signAhead(count: number): void
  /** From now on it never ends. */
  last(): void
  /** A buffer for `next`. */
  blank(): Buffer
  /** Fills in the next one; false when there is none left. */
  next(request: Buffer): boolean
}

const TIMESTAMP = { width: 24 }
const NONCE = { width: 64 }
const SIGNATURE = { width: 44 }
const KEY = { width: 32 }
const SIGNED_AT_ONCE = 16

export function createPresignedRequests(
  request: SuppliedRequest,
  signing: Signing,
): PresignedRequests {
  const template = createRequestTemplate(piecesOf(request, signing))
  const sign = createRecordSigner(request, signing, template)
  let records = Buffer.alloc(0)
  let size = 0
  let used = 0
  let lasts = false

  const fill = (count: number): void => {
    if (records.length < count * template.recordBytes) {
      records = Buffer.allocUnsafe(count * template.recordBytes)
    }
    for (let index = 0; index < count; index += 1) sign(records, index)
    size = count
    used = 0
  }
  return {
    signAhead: fill,
    last: () => {
      lasts = true
    },
    blank: template.blank,
    next: (buffer) => {
      if (used === size) {
        if (!lasts) return false
        fill(SIGNED_AT_ONCE)
      }
      template.fill(buffer, records, used)
      used += 1
      return true
    },
  }
}

function piecesOf({ method, target, body, withKey }: SuppliedRequest, signing: Signing): Piece[] {
  const bytes = body.reduce((sum, piece) => sum + widthOf(piece), 0)
  return [
    `${method} `,
    ...target,
    ` HTTP/1.1\r\nHost: ${signing.host}\r\nContent-Type: application/json\r\n` +
      `X-Service-Key-Id: ${signing.keyId}\r\nX-Service-Timestamp: `,
    TIMESTAMP,
    '\r\nX-Service-Nonce: ',
    NONCE,
    '\r\nX-Service-Signature: ',
    SIGNATURE,
    ...(withKey ? ['\r\nIdempotency-Key: ', KEY] : []),
    method === 'GET' ? '\r\n\r\n' : `\r\nContent-Length: ${bytes}\r\n\r\n`,
    ...body,
  ]
}

const widthOf = (piece: Piece): number => (typeof piece === 'string' ? piece.length : piece.width)

type RecordSigner = (records: Buffer, index: number) => void

function createRecordSigner(
  request: SuppliedRequest,
  signing: Signing,
  template: RequestTemplate,
): RecordSigner {
  const sign = createSigner(signing.secret)
  const { clock, random } = signing
  const targetFields = request.target.filter((piece) => typeof piece !== 'string').length

  return (records, index) => {
    const fields = request.fields()
    const ofTarget = fields.slice(0, targetFields)
    const ofBody = fields.slice(targetFields)
    const [path = ''] = textOf(request.target, ofTarget).split('?', 1)
    const body = textOf(request.body, ofBody)
    const timestamp = toRfc3339(clock.now())
    const nonce = random.bytes(NONCE.width / 2).toString('hex')
    const signature = sign({ method: request.method, path, timestamp, nonce, body })
    const key = request.withKey ? [random.bytes(KEY.width / 2).toString('hex')] : []
    template.write(records, index, [...ofTarget, timestamp, nonce, signature, ...key, ...ofBody])
  }
}

function textOf(pieces: readonly Piece[], fields: readonly string[]): string {
  let text = ''
  let next = 0
  for (const piece of pieces) text += typeof piece === 'string' ? piece : (fields[next++] ?? '')
  return text
}
