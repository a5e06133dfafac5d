/**
 * Error envelopes as bytes, and the HTTP status of an error code (registry: src/base/errors.ts).
 *
 * - The envelope has exactly `code`, `message` and `request_id`; two errors with the same code
 *   differ only in `request_id`, and in the sandbox in the `message` of an invalid request.
 */
import {
  CONFLICT_ON_CONFIRM,
  ERRORS,
  isErrorCode,
  type ErrorCode,
  type Refusal,
  type Violation,
} from '../../src/base/errors.js'
import type { RequestId } from '../../src/base/ids.js'

/** All of an envelope but its end is constant, so it is built once. */
const BEGINNINGS: ReadonlyMap<ErrorCode, string> = new Map(
  Object.entries(ERRORS).map(([code, { message }]) => [
    code as ErrorCode,
    `{"error":{"code":"${code}","message":${JSON.stringify(message)},"request_id":"`,
  ]),
)

/** A request id has only letters, digits and `_`, so nothing needs escaping. */
export function errorBody(code: ErrorCode, requestId: RequestId): string {
  return `${BEGINNINGS.get(code)}${requestId}"}}`
}

/** Names field and rule: `kyc_attestation.method: must not be empty`. */
export function detailedErrorBody(
  code: ErrorCode,
  requestId: RequestId,
  violation: Violation,
): string {
  const message = JSON.stringify(violationText(violation))
  return `{"error":{"code":"${code}","message":${message},"request_id":"${requestId}"}}`
}

const violationText = ({ pointer, rule }: Violation): string => `${fieldOf(pointer)}: ${rule}`

/** The message of the refusal in the sandbox. */
export const messageOf = ({ code, violation }: Refusal): string =>
  violation === undefined ? ERRORS[code].message : violationText(violation)

function fieldOf(pointer: string): string {
  const [part = '', ...names] = pointer.split('/')
  const name = names.join('.')
  if (part === '') return name === '' ? 'body' : name
  return name === '' ? part : `${part} ${name}`
}

/** On confirm some codes are conflicts (409) that payouts and scans answer with 422. */
export function errorStatus(code: ErrorCode, asConflict: boolean): number {
  return asConflict && CONFLICT_ON_CONFIRM.has(code) ? 409 : ERRORS[code].http
}

/**
 * A code that this gateway's registry lacks is a fault between our processes, not the caller's.
 * Which processor has a partner is not the caller's concern.
 */
export function registeredCode(text: string): ErrorCode {
  if (text === 'not_here') return 'configuration_error'
  return isErrorCode(text) ? text : 'internal_error'
}
