/**
 * Dead rows and vacuums of PostgreSQL during a long load.
 *
 * - Read from the server's statistics, which it updates after each transaction.
 */
import { finding, type Finding } from './result.js'
import { readStored, type StoreSettings } from './stored.js'

export interface TableRows {
  readonly table: string
  readonly live: number
  readonly dead: number
  readonly vacuums: number
  /** With indexes. */
  readonly bytes: number
}

/** Dead rows of smaller tables are ignored: a full read of them is fast. */
const JUDGED_ROWS_MIN = 10_000
/** A vacuum begins at a fiftieth of busy tables, at a fifth of the others. */
const DEAD_SHARE_MAX = 0.5

/** Tables of the processor and of the first webhook pool. */
export async function tableRows(
  dataDir: string,
  store: StoreSettings,
): Promise<readonly TableRows[]> {
  const [rows] = await readStored(dataDir, store, 'processor', (reader) =>
    reader.all<TableRows>(
      `SELECT schemaname || '.' || relname AS "table", n_live_tup AS live, n_dead_tup AS dead,
         autovacuum_count AS vacuums, pg_total_relation_size(relid) AS bytes
       FROM pg_stat_user_tables WHERE n_live_tup + n_dead_tup > 0`,
    ),
  )
  return rows ?? []
}

export function deadRowFindings(samples: readonly (readonly TableRows[])[]): readonly Finding[] {
  const last = samples.at(-1) ?? []
  const share = ({ live, dead }: TableRows): number => dead / Math.max(1, live + dead)
  const large = samples
    .flat()
    .filter(({ live, dead }) => live + dead >= JUDGED_ROWS_MIN)
    .sort((one, other) => share(other) - share(one))
  const [worst] = large
  const sum = (of: (rows: TableRows) => number): number =>
    last.reduce((all, row) => all + of(row), 0)
  return [
    finding(
      `dead rows, largest share${worst === undefined ? '' : ` (${worst.table})`}`,
      worst === undefined ? 0 : share(worst),
      '',
      { atMost: DEAD_SHARE_MAX },
    ),
    finding(
      'dead rows at the end',
      sum(({ dead }) => dead),
      '',
    ),
    finding(
      'live rows at the end',
      sum(({ live }) => live),
      '',
    ),
    finding(
      'vacuums by autovacuum',
      sum(({ vacuums }) => vacuums),
      '',
    ),
    finding('tables and indexes at the end', sum(({ bytes }) => bytes) / 1_048_576, 'MiB'),
  ]
}
