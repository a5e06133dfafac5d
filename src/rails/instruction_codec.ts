/**
 * Encodes rail instructions as `Order` messages, and decodes and checks them in a rail process.
 *
 * - A malformed order is left unanswered: a refusal is final, and there is no valid instruction
 *   that it could end.
 */
import type { Destination as WireDestination } from '../../protos/types/causeway/rail/v1/Destination.js'
import type { Destination__Output } from '../../protos/types/causeway/rail/v1/Destination.js'
import type { Instruction as WireInstruction } from '../../protos/types/causeway/rail/v1/Instruction.js'
import type { Instruction__Output } from '../../protos/types/causeway/rail/v1/Instruction.js'
import type { Order, Order__Output } from '../../protos/types/causeway/rail/v1/Order.js'
import { instant, type Instant } from '../base/clock.js'
import { readTraceparent } from '../base/traceparent.js'
import {
  PURPOSES,
  SCHEMES,
  SIMULATED_OUTCOMES,
  type RailDestination,
  type Instruction,
  type RailInstruction,
  type Traced,
} from './rail.js'
import {
  isCurrency,
  isEffectId,
  isName,
  isText,
  oneOf,
  readAmount,
  readEnvironment,
  readRouted,
} from './wire_validators.js'

/** @param shard the shard of the sender; empty: it has the only books */
export function writeRailInstruction(railInstruction: RailInstruction, shard = ''): Order {
  const of = shard === '' ? {} : { shard }
  switch (railInstruction.kind) {
    case 'instruct':
      return { instruct: { ...writeInstruction(railInstruction.instruction), ...of } }
    case 'acknowledge':
      return { acknowledge: { report_id: railInstruction.reportId } }
    // These have the members of their messages; the encoder skips `kind`.
    case 'query':
      return { query: { ...railInstruction, ...of } }
    case 'recall':
      return { recall: { ...railInstruction, ...of } }
    case 'simulate':
      return { simulate: railInstruction }
  }
}

/** @returns undefined when any member violates the contract */
export function readRailInstruction(wire: Order__Output): RailInstruction | undefined {
  if (wire.instruct) {
    const instruction = readInstruction(wire.instruct)
    return instruction && { kind: 'instruct', instruction }
  }
  if (wire.query) {
    const { id } = wire.query
    const environment = readEnvironment(wire.query.environment)
    const routed = readRouted(wire.query)
    if (!isEffectId(id) || environment === undefined || routed === undefined) return undefined
    return { kind: 'query', id, environment, ...routed, ...readTrace(wire.query) }
  }
  if (wire.recall) {
    const { id, reason } = wire.recall
    const environment = readEnvironment(wire.recall.environment)
    const routed = readRouted(wire.recall)
    if (!isEffectId(id) || !isText(reason) || environment === undefined) return undefined
    const traced = readTrace(wire.recall)
    return routed && { kind: 'recall', id, reason, environment, ...routed, ...traced }
  }
  if (wire.acknowledge) {
    const reportId = wire.acknowledge.report_id
    return isName(reportId) ? { kind: 'acknowledge', reportId } : undefined
  }
  if (wire.simulate) {
    const { id } = wire.simulate
    const outcome = oneOf(SIMULATED_OUTCOMES, wire.simulate.outcome)
    return isEffectId(id) && outcome ? { kind: 'simulate', id, outcome } : undefined
  }
  return undefined
}

function writeInstruction(instruction: Instruction): WireInstruction {
  const { purpose, amount, destination, notAfter, ...unchanged } = instruction
  return {
    ...unchanged,
    kind: purpose,
    amount: amount.toString(),
    destination: writeDestination(destination),
    not_after: String(notAfter ?? 0),
  }
}

function readInstruction(wire: Instruction__Output): Instruction | undefined {
  const { id, currency, reference, hint } = wire
  const purpose = oneOf(PURPOSES, wire.kind)
  const amount = readAmount(wire.amount)
  const destination = readDestination(wire.destination)
  const notAfter = readNotAfter(wire.not_after)
  const environment = readEnvironment(wire.environment)
  const { shard } = wire
  const routed = readRouted(wire)
  if ((shard !== '' && !isName(shard)) || routed === undefined) return undefined
  if (purpose === undefined || amount === undefined || destination === undefined) return undefined
  if (notAfter === undefined || environment === undefined) return undefined
  if (!isEffectId(id) || !isCurrency(currency) || !isText(reference) || !isText(hint)) {
    return undefined
  }
  const content = { purpose, amount, currency, destination, reference }
  const of = { ...routed, ...readTrace(wire), ...(shard === '' ? {} : { shard }) }
  return { id, environment, ...content, notAfter, hint, ...of }
}

/** A trace that is not valid counts as none: it must not stop a payment. */
function readTrace({ traceparent }: { readonly traceparent: string }): Traced {
  const read = readTraceparent(traceparent)
  return read === undefined ? {} : { traceparent: read }
}

function writeDestination(destination: RailDestination): WireDestination {
  const { bankCode, accountType, ...unchanged } = destination
  return { ...unchanged, bank_code: bankCode, account_type: accountType }
}

function readDestination(wire: Destination__Output | null): RailDestination | undefined {
  if (wire === null || !Object.values(wire).every(isText)) return undefined
  const { scheme: text, bank_code: bankCode, account_type: accountType, ...unchanged } = wire
  const scheme = oneOf(SCHEMES, text)
  return scheme && { ...unchanged, scheme, bankCode, accountType }
}

/** 0 on the wire: no bound. */
function readNotAfter(text: string): Instant | null | undefined {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) return undefined
  return value === 0 ? null : instant(value)
}
