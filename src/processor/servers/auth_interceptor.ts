/**
 * The gRPC door: who may call, and how outcomes become gRPC statuses.
 *
 * - Every service but health needs the internal token. A refusal says nothing else.
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

/** True, or the stream is refused and has ended. */
export function admitsStream(auth: AuthInterceptor, stream: RefusableStream): boolean {
  if (auth.admits(stream.metadata)) return true
  endStream(stream, 'authentication_failed')
  return false
}

/** grpc-js sends the status of an error that the stream emits; to destroy it would tell nobody. */
export function endStream(stream: RefusableStream, code: ErrorCode): void {
  stream.emit('error', grpcError(code))
}

/**
 * A registry code as a gRPC error: its status, its text, and the code itself in the trailing
 * metadata.
 */
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
