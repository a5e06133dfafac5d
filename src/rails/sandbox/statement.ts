/**
 * The sandbox bank's statement: what it moved in a period, as a CSV file of one movement a line.
 *
 * Owns: reading it out of the journal, the columns of a bank's statement. Does not own: writing the
 * journal (journal), what anybody makes of the file.
 *
 * - It is written from the journal alone, as a bank would: nothing of our books is in it.
 * - A page is in memory at a time; the lines are in the order of instructions, not of time.
 */
import { csvLine } from '../../base/csv.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import type { Database } from '../../store/database.js'

const HEAD = [
  ...['time', 'transaction_id', 'instruction_id', 'movement', 'currency', 'amount'],
  ...['environment', 'purpose', 'destination_account', 'reference'],
]
const PAGE_ROWS = 5_000

const PAGE = `
  SELECT id, coalesce(transaction_id, '') AS transaction_id, currency,
    CAST(amount AS TEXT) AS amount, coalesce(environment, '') AS environment,
    purpose, account, coalesce(reference, '') AS reference,
    iif(executed_at >= ?2 AND executed_at < ?3, executed_at, NULL) AS executed_at,
    iif(returned_at >= ?2 AND returned_at < ?3, returned_at, NULL) AS returned_at
  FROM instructions
  WHERE id > ?1 AND (executed_at >= ?2 AND executed_at < ?3
    OR returned_at >= ?2 AND returned_at < ?3)
  ORDER BY id LIMIT ?4`

interface Row {
  readonly id: string
  readonly transaction_id: string
  readonly currency: string
  readonly amount: string
  readonly environment: string
  readonly purpose: string
  readonly account: string
  readonly reference: string
  readonly executed_at: number | null
  readonly returned_at: number | null
}

/** @param to excluded */
export async function* statementOf(
  journal: Database,
  from: number,
  to: number,
): AsyncGenerator<string> {
  yield csvLine(HEAD)
  for (let after = ''; ;) {
    const rows = await journal.all<Row>(PAGE, [after, from, to, PAGE_ROWS])
    yield rows.map(linesOf).join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = last.id
  }
}

function linesOf(row: Row): string {
  const line = (movement: string, at: number | null): string =>
    at === null
      ? ''
      : csvLine([
          ...[toRfc3339(instant(at)), row.transaction_id, row.id, movement],
          ...[row.currency, row.amount],
          ...[row.environment, row.purpose, row.account, row.reference],
        ])
  return line('executed', row.executed_at) + line('returned', row.returned_at)
}
