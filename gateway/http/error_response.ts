/**
 * Refusals as bytes.
 *
 * Owns: the error envelope and the HTTP status of a code. Does not own: the codes and their texts
 * (base/errors).
 *
 * - The envelope has exactly `code`, `message`, `request_id`; two refusals of one code differ in
 *   the last one only.
 */
import { CONFLICT_ON_CONFIRM, ERRORS, isErrorCode, type ErrorCode } from '../../src/base/errors.js'
import type { RequestId } from '../../src/base/ids.js'

/** The texts are constant, so all of an envelope but its end is made once. */
const BEGINNINGS: ReadonlyMap<ErrorCode, string> = new Map(
  Object.entries(ERRORS).map(([code, { message }]) => [
    code as ErrorCode,
    `{"error":{"code":"${code}","message":${JSON.stringify(message)},"request_id":"`,
  ]),
)

/** Request ids are letters, digits and `_`: nothing to escape. */
export function errorBody(code: ErrorCode, requestId: RequestId): string {
  return `${BEGINNINGS.get(code)}${requestId}"}}`
}

/** A confirm refuses with 409 what a payout or a scan refuses with 422 under the same code. */
export function errorStatus(code: ErrorCode, asConflict: boolean): number {
  return asConflict && CONFLICT_ON_CONFIRM.has(code) ? 409 : ERRORS[code].http
}

/**
 * A code that this gateway does not know is a fault between our own processes, not the caller's.
 */
export const registeredCode = (text: string): ErrorCode =>
  isErrorCode(text) ? text : 'internal_error'
