/**
 * Orders in the words of the wire.
 *
 * Owns: the mapping of a RailOrder to its message. Does not own: batching (rails/client).
 */
import type { Destination as WireDestination } from '../../protos/types/causeway/rail/v1/Destination.js'
import type { Instruction as WireInstruction } from '../../protos/types/causeway/rail/v1/Instruction.js'
import type { Order } from '../../protos/types/causeway/rail/v1/Order.js'
import { unreachable } from '../base/assert.js'
import type { Destination, Instruction, RailOrder } from './rail.js'

export function writeOrder(order: RailOrder): Order {
  switch (order.kind) {
    case 'instruct':
      return { instruct: writeInstruction(order.instruction) }
    case 'query':
      return { query: { id: order.id, environment: order.environment } }
    case 'recall':
      return {
        recall: { id: order.id, reason: order.reason, environment: order.environment },
      }
    case 'acknowledge':
      return { acknowledge: { report_id: order.reportId } }
    case 'simulate':
      return { simulate: { id: order.id, outcome: order.outcome } }
    default:
      return unreachable(order)
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
