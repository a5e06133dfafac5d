/** Figures of a statement on the wire and in an approval request. */
import type { StatementFigures__Output as WireFigures } from '../../../protos/types/causeway/operator/v1/StatementFigures.js'
import type { StatementSum } from '../../../protos/types/causeway/operator/v1/StatementSum.js'
import { instant } from '../../base/clock.js'
import { MOVEMENTS, type MovementSum } from '../../base/movements.js'
import type { StatementFigures } from './statement_check.js'

/** The form in which an approval request stores them. */
export interface StoredFigures {
  readonly sums: readonly Required<StatementSum>[]
  readonly digest: string
  readonly first_at: string | null
  readonly last_at: string | null
}

const DIGEST = /^[0-9a-f]{64}$/
const AMOUNT = /^[0-9]{1,39}$/
const CURRENCY = /^[A-Z]{3}$/

/** Null when a member is not valid. */
export function readFigures(wire: WireFigures | StoredFigures): StatementFigures | null {
  const { digest, first_at: first, last_at: last } = wire
  const sums = wire.sums.map(readSum)
  if (!DIGEST.test(digest) || !sums.every((sum) => sum !== null)) return null
  const [begin, end] = [Number(first ?? -1), Number(last ?? -1)]
  if (begin < 0 && end < 0 && sums.length === 0) return { sums, digest, span: null }
  if (!(begin >= 0 && end >= begin)) return null
  return { sums, digest, span: { first: instant(begin), last: instant(end) } }
}

function readSum({ currency, movement, count, amount }: StatementSum): MovementSum | null {
  const known = MOVEMENTS.find((each) => each === movement)
  const isValid = CURRENCY.test(currency ?? '') && AMOUNT.test(amount ?? '')
  if (known === undefined || !isValid || !(Number(count) > 0)) return null
  return { currency: currency!, movement: known, count: Number(count), amount: BigInt(amount!) }
}

export const writeSums = (sums: readonly MovementSum[]): readonly Required<StatementSum>[] =>
  sums.map(({ currency, movement, count, amount }) => ({
    ...{ currency, movement, count },
    amount: amount.toString(),
  }))

export const storedFigures = ({ sums, digest, span }: StatementFigures): StoredFigures => ({
  sums: writeSums(sums),
  digest,
  first_at: span === null ? null : String(span.first),
  last_at: span === null ? null : String(span.last),
})
