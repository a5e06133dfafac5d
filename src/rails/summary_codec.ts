/** Encodes the summary of a rail's movements as a message, and decodes and checks one. */
import type { MovementSummary as WireSummary } from '../../protos/types/causeway/rail/v1/MovementSummary.js'
import type { MovementSum__Output as WireSum } from '../../protos/types/causeway/rail/v1/MovementSum.js'
import type { MovementSummary__Output as ReceivedSummary } from '../../protos/types/causeway/rail/v1/MovementSummary.js'
import { instant } from '../base/clock.js'
import {
  ACCEPTED,
  MOVEMENTS,
  type LineKind,
  type MovementFigures,
  type MovementSum,
} from '../base/movements.js'
import type { MovementSummary, NewestMovement } from './rail.js'
import { isCurrency, isName, oneOf } from './wire_validators.js'

export const writeSummary = (summary: MovementSummary): WireSummary => {
  const { sums, digest, newest, accepted } = summary
  return {
    sums: writeSums(sums),
    digest,
    ...(newest === null ? {} : { newest: newestMessage(newest) }),
    ...(accepted === null
      ? {}
      : { accepted: writeSums(accepted.sums), accepted_digest: accepted.digest }),
  }
}

const writeSums = (sums: readonly MovementSum[]) =>
  sums.map(({ amount, ...sum }) => ({ ...sum, amount: amount.toString() }))

const newestMessage = ({ instruction, movement, at }: NewestMovement) => ({
  instruction_id: instruction,
  movement,
  at: String(at),
})

const DIGEST = /^[0-9a-f]{64}$/
const SUM = /^[0-9]{1,39}$/

/** @returns undefined when any member violates the contract */
export function readSummary(wire: ReceivedSummary): MovementSummary | undefined {
  const figures = readFigures(wire.sums, wire.digest, MOVEMENTS)
  const newest = wire.newest === null ? null : readNewest(wire.newest)
  const { accepted, accepted_digest: digest } = wire
  const isReported = digest !== '' || accepted.length > 0
  const open = isReported ? readFigures(accepted, digest, [ACCEPTED]) : null
  if (figures === undefined || newest === undefined || open === undefined) return undefined
  return { ...figures, newest, accepted: open }
}

function readFigures(
  wire: readonly WireSum[],
  digest: string,
  kinds: readonly LineKind[],
): MovementFigures | undefined {
  const sums = wire.map((sum) => readSum(sum, kinds))
  if (!sums.every((sum) => sum !== undefined)) return undefined
  return DIGEST.test(digest) ? { sums, digest } : undefined
}

function readSum(
  { currency, movement, count, amount }: WireSum,
  kinds: readonly LineKind[],
): MovementSum | undefined {
  const known = oneOf(kinds, movement)
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
