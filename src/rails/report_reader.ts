/**
 * Reports as they come off the wire, believed only when every member has its form.
 *
 * Owns: the check of a report. Does not own: what a report means (rails/rail).
 *
 * - A report that fails the check is nothing: the instruction's outcome stays unknown. It is
 *   never read as a refusal.
 * - Each member is bounded (rails/wire_validators); the message as a whole is bounded by the
 *   channel.
 */
import type { Report__Output } from '../../protos/types/causeway/rail/v1/Report.js'
import {
  isCurrency,
  isEffectId,
  isName,
  isText,
  readAmount,
  readEnvironment,
} from './wire_validators.js'
import { REFUSALS, type Execution, type RailReport } from './rail.js'

/** The report, or undefined when any part of it is not what the contract says. */
export function readReport(wire: Report__Output): RailReport | undefined {
  if (!isEffectId(wire.id)) return undefined
  if (wire.report_id !== '' && !isName(wire.report_id)) return undefined
  const environment = readEnvironment(wire.environment)
  if (environment === undefined) return undefined
  const about = {
    id: wire.id,
    reportId: wire.report_id === '' ? null : wire.report_id,
    ...(wire.environment === '' ? {} : { environment }),
  }

  switch (wire.status) {
    case 'accepted':
    case 'not_found':
    case 'recall_refused':
      return { ...about, status: wire.status }
    case 'refused': {
      const refusal = REFUSALS.find((known) => known === wire.refusal)
      return refusal && { ...about, status: 'refused', refusal }
    }
    case 'executed':
    case 'returned': {
      const execution = readExecution(wire)
      return execution && { ...about, ...execution, status: wire.status }
    }
    default:
      return undefined
  }
}

function readExecution(wire: Report__Output): Execution | undefined {
  const amount = readAmount(wire.amount)
  if (amount === undefined || !isCurrency(wire.currency)) return undefined
  if (!isName(wire.transaction_id) || !isText(wire.destination_account)) return undefined
  return {
    transactionId: wire.transaction_id,
    amount,
    currency: wire.currency,
    destinationAccount: wire.destination_account,
  }
}
