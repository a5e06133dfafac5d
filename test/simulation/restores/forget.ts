/**
 * The partner's records after a restore: what the restored books lack was accepted and is lost, and
 * the partner requests it again under the same keys.
 */
import type { Row } from '../invariant_checker.js'
import type {
  AnyRecord,
  FxQuote,
  IntentRecord,
  PayoutRecord,
  RecordedAnswer,
  SavedBeneficiary,
} from '../client_oracle.js'
import type { OperatorDeposit, SigningKeys } from '../operators.js'
import type { RestoredTables } from './tables.js'

/** What the restored books have, and the intents that were confirmed before the restore. */
export interface RestoredBooks extends RestoredTables {
  readonly rows: readonly Row[]
}

export interface PartnerRecords {
  readonly intents: readonly IntentRecord[]
  readonly payouts: readonly PayoutRecord[]
  readonly saved: SavedBeneficiary[]
  readonly quotes: FxQuote[]
  readonly keys: SigningKeys
  readonly deposits: Iterable<RecordedAnswer>
  readonly operatorDeposits: readonly OperatorDeposit[]
}

/** @returns what the partner and its users repeat */
export function forgetLost(records: PartnerRecords, books: RestoredBooks): readonly AnyRecord[] {
  const { intents, payouts, saved, quotes, keys, deposits, operatorDeposits } = records
  const byMark = new Map(books.rows.map((row) => [row.mark, row]))
  const lost = [...intents, ...payouts].filter(
    (record) => forgetAnswers(record, byMark.get(record.mark), books) && record.sent > 0,
  )
  keep(saved, ({ id }) => books.beneficiaries.has(id))
  for (const one of saved) one.disabled = books.beneficiaries.get(one.id) === 'disabled'
  keep(quotes, ({ id }) => books.quotes.has(id))
  for (const { id, conversion } of quotes)
    if (books.quotes.get(id) === null) conversion.answer = null
  const known = [...keys.revoked, ...keys.active].filter((id) => books.revokedKeys.has(id))
  replace(
    keys.revoked,
    known.filter((id) => books.revokedKeys.get(id) === 1),
  )
  replace(
    keys.active,
    known.filter((id) => books.revokedKeys.get(id) === 0),
  )
  for (const made of deposits) made.answer = null
  for (const one of operatorDeposits) {
    one.made.answer = null
    one.isApproved = false
  }
  return lost
}

/** @returns whether the partner repeats it, or its confirmation */
function forgetAnswers(
  record: AnyRecord,
  row: Row | undefined,
  { confirmed }: RestoredBooks,
): boolean {
  // Before an earlier restore it was another one.
  const isLost = row === undefined || (record.id !== null && row.id !== record.id)
  record.status = record.stored = isLost || record.id === null ? null : row.state
  if (isLost) {
    record.creation.answer = null
    record.id = null
  }
  if (record.kind === 'payout') return isLost
  if (isLost) record.tokens.length = 0
  record.refund.answer = null
  if (!isLost && row.state !== 'created') return false
  record.confirmation.answer = null
  const amount = confirmed.get(record.mark) ?? record.scanAgain?.amount
  if (amount !== undefined) record.scanAgain = { amount, isDone: false }
  return isLost || amount !== undefined
}

function keep<Item>(items: Item[], isKept: (item: Item) => boolean): void {
  replace(items, items.filter(isKept))
}

function replace<Item>(items: Item[], by: readonly Item[]): void {
  items.splice(0, items.length, ...by)
}
