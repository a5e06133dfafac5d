/**
 * Reports as they come off the wire, believed only when every member has its form.
 *
 * Owns: the check of a report. Does not own: what a report means (rails/rail).
 *
 * W1. A report that fails the check is nothing: the instruction's outcome stays unknown. It is
 *     never read as a refusal.
 * W2. Each member is bounded; the message as a whole is bounded by the channel.
 */
import type { EffectId } from '../base/ids.js'
import { isIdOf } from '../base/ids.js'
import type { Report__Output } from '../../protos/types/causeway/rail/v1/Report.js'
import { REFUSALS, type Execution, type RailReport } from './rail.js'

const INT64_MAX = 2n ** 63n - 1n
const AMOUNT = /^[1-9][0-9]{0,18}$/
const CURRENCY = /^[A-Z]{3}$/
/** Names given by a network: printable ASCII without spaces, of a length that fits any of them. */
const NAME = /^[\x21-\x7e]{1,128}$/
const ACCOUNT = /^[\x20-\x7e]{1,128}$/

/** The report, or undefined when any part of it is not what the contract says. */
export function readReport(wire: Report__Output): RailReport | undefined {
  if (!isIdOf('payout', wire.id) && !isIdOf('intent', wire.id)) return undefined
  if (wire.report_id !== '' && !NAME.test(wire.report_id)) return undefined
  const about = { id: wire.id as EffectId, reportId: wire.report_id === '' ? null : wire.report_id }

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
  if (!AMOUNT.test(wire.amount) || !CURRENCY.test(wire.currency)) return undefined
  if (!NAME.test(wire.transaction_id) || !ACCOUNT.test(wire.destination_account)) return undefined
  const amount = BigInt(wire.amount)
  if (amount > INT64_MAX) return undefined
  return {
    transactionId: wire.transaction_id,
    amount,
    currency: wire.currency,
    destinationAccount: wire.destination_account,
  }
}
