/** Figures of a statement on the wire and in an approval request. */
import type { StatementFigures__Output as WireFigures } from '../../../protos/types/causeway/operator/v1/StatementFigures.js'
import type { StatementSum } from '../../../protos/types/causeway/operator/v1/StatementSum.js'
import { instant } from '../../base/clock.js'
import {
  ACCEPTED,
  createMovementTally,
  MOVEMENTS,
  type LineKind,
  type MovementFigures,
  type MovementSum,
} from '../../base/movements.js'
import type { StatementFigures } from './statement_check.js'

/** The form in which an approval request stores them. */
export interface StoredFigures {
  readonly sums: readonly Required<StatementSum>[]
  readonly digest: string
  readonly first_at: string | null
  readonly last_at: string | null
  /** Absent in those from before they were known. */
  readonly accepted?: readonly Required<StatementSum>[]
  readonly accepted_digest?: string
}

const DIGEST = /^[0-9a-f]{64}$/
const AMOUNT = /^[0-9]{1,39}$/
const CURRENCY = /^[A-Z]{3}$/

/** Null when a member is not valid. */
export function readFigures(wire: WireFigures | StoredFigures): StatementFigures | null {
  const { first_at: first, last_at: last } = wire
  const moved = readSums(wire.sums, wire.digest, MOVEMENTS)
  const accepted = readAccepted(wire.accepted, wire.accepted_digest)
  if (moved === null || accepted === null) return null
  const figures = { ...moved, accepted }
  const [begin, end] = [Number(first ?? -1), Number(last ?? -1)]
  if (begin < 0 && end < 0 && moved.sums.length === 0) return { ...figures, span: null }
  if (!(begin >= 0 && end >= begin)) return null
  return { ...figures, span: { first: instant(begin), last: instant(end) } }
}

/** A caller of an earlier version has read no accepted instructions. */
function readAccepted(sums: readonly StatementSum[] = [], digest = ''): MovementFigures | null {
  if (sums.length === 0 && digest === '') return createMovementTally().figures()
  return readSums(sums, digest, [ACCEPTED])
}

function readSums(
  wire: readonly StatementSum[],
  digest: string,
  kinds: readonly LineKind[],
): MovementFigures | null {
  const sums = wire.map((sum) => readSum(sum, kinds))
  if (!DIGEST.test(digest) || !sums.every((sum) => sum !== null)) return null
  return { sums, digest }
}

function readSum(
  { currency, movement, count, amount }: StatementSum,
  kinds: readonly LineKind[],
): MovementSum | null {
  const known = kinds.find((each) => each === movement)
  const isValid = CURRENCY.test(currency ?? '') && AMOUNT.test(amount ?? '')
  if (known === undefined || !isValid || !(Number(count) > 0)) return null
  return { currency: currency!, movement: known, count: Number(count), amount: BigInt(amount!) }
}

export const writeSums = (sums: readonly MovementSum[]): readonly Required<StatementSum>[] =>
  sums.map(({ currency, movement, count, amount }) => ({
    ...{ currency, movement, count },
    amount: amount.toString(),
  }))

export const storedFigures = (figures: StatementFigures): StoredFigures => ({
  sums: writeSums(figures.sums),
  digest: figures.digest,
  accepted: writeSums(figures.accepted.sums),
  accepted_digest: figures.accepted.digest,
  ...spanMembers(figures.span),
})

const spanMembers = (span: StatementFigures['span']) => ({
  first_at: span === null ? null : String(span.first),
  last_at: span === null ? null : String(span.last),
})
