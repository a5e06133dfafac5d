/**
 * Orders as they come off the wire: the side of a rail process.
 *
 * Owns: the check of an order. Does not own: what a rail does with it.
 *
 * - An order that fails the check is left unanswered. A refusal would have to hold for ever, and
 *   there is no instruction here that it could hold for.
 */
import type { Instruction__Output } from '../../protos/types/causeway/rail/v1/Instruction.js'
import type { Order__Output } from '../../protos/types/causeway/rail/v1/Order.js'
import { instant, type Instant } from '../base/clock.js'
import {
  isCurrency,
  isEffectId,
  isName,
  isText,
  readAmount,
  readEnvironment,
} from './wire_validators.js'
import {
  PURPOSES,
  SCHEMES,
  SIMULATED_OUTCOMES,
  type Destination,
  type Instruction,
  type RailInstruction,
} from './rail.js'

/** The order, or undefined when any part of it is not what the contract says. */
export function readRailInstruction(wire: Order__Output): RailInstruction | undefined {
  if (wire.instruct) {
    const instruction = readInstruction(wire.instruct)
    return instruction && { kind: 'instruct', instruction }
  }
  if (wire.query) {
    const { id } = wire.query
    const environment = readEnvironment(wire.query.environment)
    return isEffectId(id) && environment ? { kind: 'query', id, environment } : undefined
  }
  if (wire.recall) {
    const { id, reason } = wire.recall
    const environment = readEnvironment(wire.recall.environment)
    if (!isEffectId(id) || !isText(reason) || environment === undefined) return undefined
    return { kind: 'recall', id, reason, environment }
  }
  if (wire.acknowledge) {
    const reportId = wire.acknowledge.report_id
    return isName(reportId) ? { kind: 'acknowledge', reportId } : undefined
  }
  if (wire.simulate) {
    const { id, outcome: text } = wire.simulate
    const outcome = SIMULATED_OUTCOMES.find((known) => known === text)
    return isEffectId(id) && outcome ? { kind: 'simulate', id, outcome } : undefined
  }
  return undefined
}

function readInstruction(wire: Instruction__Output): Instruction | undefined {
  const purpose = PURPOSES.find((known) => known === wire.kind)
  const amount = readAmount(wire.amount)
  const destination = readDestination(wire)
  const notAfter = readNotAfter(wire.not_after)
  if (purpose === undefined || amount === undefined || destination === undefined) return undefined
  const environment = readEnvironment(wire.environment)
  if (environment === undefined) return undefined
  if (notAfter === undefined || !isEffectId(wire.id) || !isCurrency(wire.currency)) return undefined
  if (!isText(wire.reference) || !isText(wire.hint)) return undefined
  return {
    id: wire.id,
    purpose,
    amount,
    currency: wire.currency,
    destination,
    reference: wire.reference,
    notAfter,
    hint: wire.hint,
    environment,
  }
}

function readDestination({ destination }: Instruction__Output): Destination | undefined {
  if (destination === null || !Object.values(destination).every(isText)) return undefined
  const scheme = SCHEMES.find((known) => known === destination.scheme)
  if (scheme === undefined) return undefined
  return {
    scheme,
    country: destination.country,
    bankCode: destination.bank_code,
    account: destination.account,
    accountType: destination.account_type,
    reference1: destination.reference1,
    reference2: destination.reference2,
    name: destination.name,
  }
}

/** 0 on the wire: no bound. */
function readNotAfter(text: string): Instant | null | undefined {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) return undefined
  return value === 0 ? null : instant(value)
}
