/**
 * Authentication of gRPC calls, and the mapping from error codes to gRPC statuses.
 *
 * - Every service except health requires the internal token. A rejection gives no details.
 */
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { ERRORS, GrpcStatus, type ErrorCode } from '../../base/errors.js'
import { hasBearer } from '../../base/internal_token.js'

export interface AuthInterceptor {
  readonly token: string
  admits(metadata: Metadata): boolean
  refusal(): ServiceError
}

export function createAuthInterceptor(token: string): AuthInterceptor {
  return {
    token,
    admits: (metadata) => hasBearer(metadata, token),
    refusal: () => grpcError('authentication_failed'),
  }
}

/** The part of a gRPC stream that a refusal uses. */
interface RefusableStream {
  readonly metadata: Metadata
  emit(event: 'error', error: ServiceError): boolean
}

/** Ends the stream when it is not authenticated. @returns whether it is */
export function admitsStream(auth: AuthInterceptor, stream: RefusableStream): boolean {
  if (auth.admits(stream.metadata)) return true
  endStream(stream, 'authentication_failed')
  return false
}

/** grpc-js sends the status of an emitted error; destroying the stream would send none. */
export function endStream(stream: RefusableStream, code: ErrorCode): void {
  stream.emit('error', grpcError(code))
}

/** A gRPC error with the status and text of the code, and the code in the trailing metadata. */
export function grpcError(code: ErrorCode): ServiceError {
  const { grpc, message, retryable } = ERRORS[code]
  const metadata = new Metadata()
  metadata.set('causeway-error', code)
  metadata.set('causeway-retryable', String(retryable))
  return Object.assign(new Error(message), {
    code: GrpcStatus[grpc],
    details: `${code}: ${message}`,
    metadata,
  })
}
