/** Encodes the summary of a rail's movements as a message, and decodes and checks one. */
import type { MovementSummary as WireSummary } from '../../protos/types/causeway/rail/v1/MovementSummary.js'
import type { MovementSum__Output as WireSum } from '../../protos/types/causeway/rail/v1/MovementSum.js'
import type { MovementSummary__Output as ReceivedSummary } from '../../protos/types/causeway/rail/v1/MovementSummary.js'
import { instant } from '../base/clock.js'
import { MOVEMENTS, type MovementSum } from '../base/movements.js'
import type { MovementSummary, NewestMovement } from './rail.js'
import { isCurrency, isName, oneOf } from './wire_validators.js'

export const writeSummary = ({ sums, digest, newest }: MovementSummary): WireSummary => ({
  sums: sums.map(({ amount, ...sum }) => ({ ...sum, amount: amount.toString() })),
  digest,
  ...(newest === null ? {} : { newest: newestMessage(newest) }),
})

const newestMessage = ({ instruction, movement, at }: NewestMovement) => ({
  instruction_id: instruction,
  movement,
  at: String(at),
})

const DIGEST = /^[0-9a-f]{64}$/
const SUM = /^[0-9]{1,39}$/

/** @returns undefined when any member violates the contract */
export function readSummary(wire: ReceivedSummary): MovementSummary | undefined {
  const sums = wire.sums.map(readSum)
  const newest = wire.newest === null ? null : readNewest(wire.newest)
  if (!sums.every((sum) => sum !== undefined) || newest === undefined) return undefined
  return DIGEST.test(wire.digest) ? { sums, digest: wire.digest, newest } : undefined
}

function readSum({ currency, movement, count, amount }: WireSum): MovementSum | undefined {
  const known = oneOf(MOVEMENTS, movement)
  if (known === undefined || !isCurrency(currency) || !SUM.test(amount)) return undefined
  return { currency, movement: known, count, amount: BigInt(amount) }
}

function readNewest({
  instruction_id: instruction,
  movement,
  at,
}: NonNullable<ReceivedSummary['newest']>): NewestMovement | undefined {
  const known = oneOf(MOVEMENTS, movement)
  if (known === undefined || !isName(instruction) || !(Number(at) >= 0)) return undefined
  return { instruction, movement: known, at: instant(Number(at)) }
}
