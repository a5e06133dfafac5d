/**
 * `google.rpc.Status` of a refused call, for the trailer `grpc-status-details-bin`: the code as
 * ErrorInfo, and the fields of the request that are not valid as BadRequest.
 *
 * - Field numbers are those of google/rpc/status.proto and google/rpc/error_details.proto.
 * - Texts are constant and never contain a value of the request.
 */
import protobuf from 'protobufjs/minimal.js'
import { ERRORS, GrpcStatus, type ErrorCode, type Violation } from '../../base/errors.js'

/** A field of a request that is not valid. */
export interface FieldViolation {
  /** Its path in the request message: `payout.amount`. */
  readonly field: string
  /** The rule that it breaks. */
  readonly description: string
}

/**
 * The field of a violation that a command reports in terms of the partner API.
 *
 * @param root the field of the request that holds the body; empty means the request itself
 */
export function fieldViolation(root: string, { pointer, rule }: Violation): FieldViolation {
  const path = MEMBER_OF_HEADER[pointer] ?? pointer.replace(/^(?:query)?\//, '')
  const field = [root, ...path.split('/')].filter((part) => part !== '').join('.')
  return { field: pointer === HOST ? 'tenant.environment' : field, description: rule }
}

const HOST = 'header/Host'
const MEMBER_OF_HEADER: Readonly<Record<string, string>> = {
  'header/Idempotency-Key': 'idempotency_key',
}

/** The domain in every ErrorInfo. */
const DOMAIN = 'causeway'

export function statusDetails(code: ErrorCode, violations: readonly FieldViolation[]): Buffer {
  const { grpc, message } = ERRORS[code]
  const status = protobuf.Writer.create()
    .uint32(tag(1, VARINT))
    .int32(GrpcStatus[grpc])
    .uint32(tag(2, TEXT))
    .string(`${code}: ${message}`)
  const details = [any('google.rpc.ErrorInfo', errorInfo(code))]
  if (violations.length > 0) details.push(any('google.rpc.BadRequest', badRequest(violations)))
  for (const detail of details) status.uint32(tag(3, TEXT)).bytes(detail)
  return Buffer.from(status.finish())
}

/** Wire types. */
const VARINT = 0
const TEXT = 2
const tag = (field: number, wireType: number): number => (field << 3) | wireType

const any = (type: string, value: Uint8Array): Uint8Array =>
  texts([1, `type.googleapis.com/${type}`])
    .uint32(tag(2, TEXT))
    .bytes(value)
    .finish()

function errorInfo(code: ErrorCode): Uint8Array {
  const retryable = texts([1, 'retryable'], [2, String(ERRORS[code].retryable)]).finish()
  return texts([1, code], [2, DOMAIN]).uint32(tag(3, TEXT)).bytes(retryable).finish()
}

function badRequest(violations: readonly FieldViolation[]): Uint8Array {
  const request = protobuf.Writer.create()
  for (const { field, description } of violations) {
    request.uint32(tag(1, TEXT)).bytes(texts([1, field], [2, description]).finish())
  }
  return request.finish()
}

function texts(...fields: readonly (readonly [number, string])[]): protobuf.Writer {
  const writer = protobuf.Writer.create()
  for (const [field, text] of fields) writer.uint32(tag(field, TEXT)).string(text)
  return writer
}
