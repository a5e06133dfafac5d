/** Errors of a request, one class per kind; branch on `code`. */
import type { HttpAnswer } from './http.js'

/** An answer with an error envelope. Quote `requestId` to support. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string

  constructor(status: number, code: string, message: string, requestId: string) {
    super(`${status} ${code}: ${message} (${requestId})`)
    this.status = status
    this.code = code
    this.requestId = requestId
  }
}

/** 400: the request is invalid; sending it again changes nothing. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError'
}
/** 401: signature, key, token or clock. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}
/** 403: the partner is not allowed to do this. */
export class PermissionError extends ApiError {
  override name = 'PermissionError'
}
/** 404: unknown, or not yours. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}
/** 409: the state, or an idempotency key that is bound to another request. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}
/** 422: valid but refused. */
export class RefusedError extends ApiError {
  override name = 'RefusedError'
}
/** 429: too many requests, even after the retries. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}
/** 5xx: the service could not answer. The request may have been carried out. */
export class ServiceError extends ApiError {
  override name = 'ServiceError'
}
/** No answer: the request may have been carried out. Send it again with the same key. */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
}
/** The service received another Idempotency-Key than was sent: use printable ASCII. */
export class IdempotencyKeyError extends Error {
  override name = 'IdempotencyKeyError'
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: RefusedError,
  429: RateLimitError,
}

interface Envelope {
  readonly error?: {
    readonly code?: string
    readonly message?: string
    readonly request_id?: string
  }
}

export function errorOf({ status, body }: HttpAnswer): ApiError {
  const {
    code = 'unknown',
    message = '',
    request_id = '',
  } = (body as Envelope | undefined)?.error ?? {}
  const Class = BY_STATUS[status] ?? (status >= 500 ? ServiceError : ApiError)
  return new Class(status, code, message, request_id)
}
