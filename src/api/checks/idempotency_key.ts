/**
 * The rule of an idempotency key.
 *
 * - Printable ASCII without blanks at its ends, since an HTTP header cannot carry others unchanged.
 */
import { invalid, type Refusal } from '../../base/errors.js'

export const KEY_POINTER = 'header/Idempotency-Key'

const PRINTABLE = /^[!-~](?:[ -~]*[!-~])?$/

/** @returns null when the key is valid */
export function keyFault(key: string, maxLength: number): Refusal | null {
  if (key.length <= maxLength && PRINTABLE.test(key)) return null
  const rule = `must be 1 to ${maxLength} printable ASCII characters, without blanks at its ends`
  return invalid(KEY_POINTER, rule)
}
