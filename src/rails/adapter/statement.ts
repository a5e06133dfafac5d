/**
 * An adapter's statement of a period: a CSV file with one movement a line.
 *
 * - Its only source is the rail's journal, not our ledger.
 * - An instruction that is accepted and not ended when the statement is written has a line of its
 *   own, also when it was received before the period: its money may still move.
 * - One page is in memory at a time; lines are ordered by instruction id, not by time.
 */
import { csvLine } from '../../base/csv.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import { ACCEPTED } from '../../base/movements.js'
import type { Reader } from '../../store/database.js'
import type { AccountBox, StoredAccount } from './account_box.js'

const HEAD = [
  ...['time', 'transaction_id', 'instruction_id', 'movement', 'currency', 'amount'],
  ...['environment', 'purpose', 'destination_account', 'reference', 'shard'],
]
const PAGE_ROWS = 5_000

const PAGE = `
  SELECT id, coalesce(transaction_id, '') AS transaction_id, currency,
    CAST(amount AS TEXT) AS amount, coalesce(environment, '') AS environment,
    purpose, account, sealed_account, coalesce(reference, '') AS reference,
    iif(executed_at >= ?2 AND executed_at < ?3, executed_at, NULL) AS executed_at,
    iif(returned_at >= ?2 AND returned_at < ?3, returned_at, NULL) AS returned_at,
    iif(state = 'pending', received_at, NULL) AS accepted_at, coalesce(shard, '') AS shard
  FROM instructions
  WHERE id > ?1 AND (executed_at >= ?2 AND executed_at < ?3
    OR returned_at >= ?2 AND returned_at < ?3
    OR state = 'pending' AND received_at < ?3)
  ORDER BY id LIMIT ?4`

interface Row extends StoredAccount {
  readonly transaction_id: string
  readonly currency: string
  readonly amount: string
  readonly environment: string
  readonly purpose: string
  readonly reference: string
  readonly executed_at: number | null
  readonly returned_at: number | null
  readonly accepted_at: number | null
  readonly shard: string
}

/**
 * @param from epoch ms, inclusive
 * @param to epoch ms, exclusive
 */
export async function* statementOf(
  journal: Reader,
  accounts: AccountBox,
  from: number,
  to: number,
): AsyncGenerator<string> {
  yield csvLine(HEAD)
  for (let after = ''; ;) {
    const rows = await journal.all<Row>(PAGE, [after, from, to, PAGE_ROWS])
    yield rows.map((row) => linesOf(row, accounts.open(row))).join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = last.id
  }
}

function linesOf(row: Row, account: string): string {
  const line = (movement: string, at: number | null): string =>
    at === null
      ? ''
      : csvLine([
          ...[toRfc3339(instant(at)), row.transaction_id, row.id, movement],
          ...[row.currency, row.amount],
          ...[row.environment, row.purpose, account, row.reference, row.shard],
        ])
  const moved = line('executed', row.executed_at) + line('returned', row.returned_at)
  return moved + line(ACCEPTED, row.accepted_at)
}
