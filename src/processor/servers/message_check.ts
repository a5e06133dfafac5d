/**
 * Messages of internal services, checked by the entries of the partner API's operations, so that
 * both fronts refuse the same and name the same member and rule.
 *
 * - A field without presence cannot be absent: its empty text or zero is checked as sent.
 */
import { keyFault } from '../../api/checks/idempotency_key.js'
import type { OperationName } from '../../api/operation.js'
import { OPERATIONS } from '../../api/operations.js'
import type { Refusal } from '../../base/errors.js'

/** @returns null when the message is valid */
export function messageFault(name: OperationName, message: object): Refusal | null {
  const { key: rule, content } = OPERATIONS[name]
  const { idempotency_key: key } = message as { readonly idempotency_key?: string }
  if (rule !== undefined && (rule.isRequired || key !== undefined)) {
    const fault = keyFault(key ?? '', rule.maxLength)
    if (fault !== null) return fault
  }
  if (content.in === 'path') return null
  const outcome = content.faultIn(message)
  return outcome.ok ? null : outcome
}
