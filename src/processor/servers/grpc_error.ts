/** The mapping from error codes to gRPC statuses. */
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { ERRORS, GrpcStatus, type ErrorCode } from '../../base/errors.js'
import type { Answer } from '../cycle/answer.js'
import { fieldViolation, statusDetails, type FieldViolation } from './status_details.js'

/** The trailing metadata with the error code. */
export const ERROR_METADATA = 'causeway-error'

/** The part of a gRPC stream that a refusal uses. */
interface RefusableStream {
  emit(event: 'error', error: ServiceError): boolean
}

/** The error of a refused command or query. Its text names the field that is not valid. */
export function refusalError(refusal: Exclude<Answer, { ok: true }>): ServiceError {
  const fields = refusal.violation ? [fieldViolation('', refusal.violation)] : []
  const error = grpcError(refusal.code, fields)
  for (const { field, description } of fields) error.details += ` ${field} ${description}.`
  if ('approvalRequest' in refusal) {
    error.metadata.set('causeway-approval-request', refusal.approvalRequest)
  }
  if ('orphans' in refusal) error.details += ` Equal: ${refusal.orphans.join(', ')}.`
  return error
}

/** grpc-js sends the status of an emitted error; destroying the stream would send none. */
export function endStream(stream: RefusableStream, code: ErrorCode): void {
  stream.emit('error', grpcError(code))
}

/**
 * A gRPC error with the status and text of the code; the trailing metadata has the code, and the
 * details in the form of google.rpc.Status.
 */
export function grpcError(
  code: ErrorCode,
  violations: readonly FieldViolation[] = [],
): ServiceError {
  const { grpc, message, retryable } = ERRORS[code]
  const metadata = new Metadata()
  metadata.set(ERROR_METADATA, code)
  metadata.set('causeway-retryable', String(retryable))
  metadata.set('grpc-status-details-bin', statusDetails(code, violations))
  return Object.assign(new Error(message), {
    code: GrpcStatus[grpc],
    details: `${code}: ${message}`,
    metadata,
  })
}
