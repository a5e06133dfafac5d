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
  type Routed,
  type Traced,
  type Unfinished,
} from './rail.js'
import {
  addRouted,
  isCurrency,
  isEffectId,
  isName,
  isRouted,
  isText,
  oneOf,
  readAmount,
  readEnvironment,
} from './wire_validators.js'

/** @param shard the shard of the sender; empty means that it has the only books */
export function writeRailInstruction(railInstruction: RailInstruction, shard = ''): Order {
  const of = shard === '' ? {} : { shard }
  switch (railInstruction.kind) {
    case 'instruct':
      return { instruct: writeInstruction(railInstruction.instruction, shard) }
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

type Of<Kind extends RailInstruction['kind']> = Extract<RailInstruction, { readonly kind: Kind }>

/** @returns undefined when any member violates the contract */
export function readRailInstruction(wire: Order__Output): RailInstruction | undefined {
  if (wire.instruct) {
    const instruction = readInstruction(wire.instruct)
    return instruction && { kind: 'instruct', instruction }
  }
  if (wire.query) {
    const { id } = wire.query
    const environment = readEnvironment(wire.query.environment)
    if (!isEffectId(id) || environment === undefined || !isRouted(wire.query)) return undefined
    const query: Of<'query'> = { kind: 'query', id, environment }
    return withRoute(query, wire.query)
  }
  if (wire.recall) {
    const { id, reason } = wire.recall
    const environment = readEnvironment(wire.recall.environment)
    if (!isEffectId(id) || !isText(reason) || environment === undefined) return undefined
    if (!isRouted(wire.recall)) return undefined
    const recall: Of<'recall'> = { kind: 'recall', id, reason, environment }
    return withRoute(recall, wire.recall)
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

function writeInstruction(instruction: Instruction, shard: string): WireInstruction {
  const { id, environment, currency, reference, hint, route, rail, traceparent } = instruction
  const wire: WireInstruction = {
    id,
    environment,
    kind: instruction.purpose,
    amount: instruction.amount.toString(),
    currency,
    destination: writeDestination(instruction.destination),
    reference,
    not_after: String(instruction.notAfter ?? 0),
    hint,
  }
  if (route !== undefined) wire.route = route
  if (rail !== undefined) wire.rail = rail
  if (traceparent !== undefined) wire.traceparent = traceparent
  const sender = shard === '' ? instruction.shard : shard
  if (sender !== undefined) wire.shard = sender
  return wire
}

function readInstruction(wire: Instruction__Output): Instruction | undefined {
  const { id, currency, reference, hint } = wire
  const purpose = oneOf(PURPOSES, wire.kind)
  const amount = readAmount(wire.amount)
  const destination = readDestination(wire.destination)
  const notAfter = readNotAfter(wire.not_after)
  const environment = readEnvironment(wire.environment)
  const { shard } = wire
  if ((shard !== '' && !isName(shard)) || !isRouted(wire)) return undefined
  if (purpose === undefined || amount === undefined || destination === undefined) return undefined
  if (notAfter === undefined || environment === undefined) return undefined
  if (!isEffectId(id) || !isCurrency(currency) || !isText(reference) || !isText(hint)) {
    return undefined
  }
  const instruction: Unfinished<Instruction> = {
    id,
    environment,
    purpose,
    amount,
    currency,
    destination,
    reference,
    notAfter,
    hint,
  }
  if (shard !== '') instruction.shard = shard
  return withRoute(instruction, wire)
}

type OnWire = Required<Routed> & { readonly traceparent: string }

/** A trace that is not valid counts as none: it must not stop a payment. */
function withRoute<Message extends Routed & Traced>(message: Message, wire: OnWire): Message {
  const given: Unfinished<Routed & Traced> = message
  addRouted(given, wire)
  const traceparent = readTraceparent(wire.traceparent)
  if (traceparent !== undefined) given.traceparent = traceparent
  return message
}

function writeDestination(destination: RailDestination): WireDestination {
  const { scheme, country, account, reference1, reference2, name } = destination
  const { bankCode: bank_code, accountType: account_type } = destination
  return { scheme, country, bank_code, account, account_type, reference1, reference2, name }
}

function readDestination(wire: Destination__Output | null): RailDestination | undefined {
  if (wire === null || !Object.values(wire).every(isText)) return undefined
  const { bank_code: bankCode, account_type: accountType } = wire
  const { country, account, reference1, reference2, name } = wire
  const scheme = oneOf(SCHEMES, wire.scheme)
  return scheme && { scheme, country, bankCode, account, accountType, reference1, reference2, name }
}

/** 0 on the wire: no bound. */
function readNotAfter(text: string): Instant | null | undefined {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) return undefined
  return value === 0 ? null : instant(value)
}
