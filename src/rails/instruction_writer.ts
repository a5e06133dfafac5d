/**
 * Orders in the words of the wire.
 *
 * Owns: the mapping of a RailInstruction to its message. Does not own: batching (rails/client).
 */
import type { Destination as WireDestination } from '../../protos/types/causeway/rail/v1/Destination.js'
import type { Instruction as WireInstruction } from '../../protos/types/causeway/rail/v1/Instruction.js'
import type { Order } from '../../protos/types/causeway/rail/v1/Order.js'
import { unreachable } from '../base/assert.js'
import type { Destination, Instruction, RailInstruction } from './rail.js'

export function writeRailInstruction(railInstruction: RailInstruction): Order {
  switch (railInstruction.kind) {
    case 'instruct':
      return { instruct: writeInstruction(railInstruction.instruction) }
    case 'query':
      return { query: { id: railInstruction.id, environment: railInstruction.environment } }
    case 'recall':
      return {
        recall: {
          id: railInstruction.id,
          reason: railInstruction.reason,
          environment: railInstruction.environment,
        },
      }
    case 'acknowledge':
      return { acknowledge: { report_id: railInstruction.reportId } }
    case 'simulate':
      return { simulate: { id: railInstruction.id, outcome: railInstruction.outcome } }
    default:
      return unreachable(railInstruction)
  }
}

function writeInstruction(instruction: Instruction): WireInstruction {
  return {
    id: instruction.id,
    kind: instruction.purpose,
    amount: instruction.amount.toString(),
    currency: instruction.currency,
    destination: writeDestination(instruction.destination),
    reference: instruction.reference,
    not_after: String(instruction.notAfter ?? 0),
    hint: instruction.hint,
    environment: instruction.environment,
  }
}

function writeDestination(destination: Destination): WireDestination {
  return {
    scheme: destination.scheme,
    country: destination.country,
    bank_code: destination.bankCode,
    account: destination.account,
    account_type: destination.accountType,
    reference1: destination.reference1,
    reference2: destination.reference2,
    name: destination.name,
  }
}
