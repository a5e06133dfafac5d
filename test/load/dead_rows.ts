/**
 * Dead rows and vacuums of PostgreSQL during a long load.
 *
 * - Read from the server's statistics, which it updates after each transaction.
 */
import { finding, type Finding } from './result.js'
import type { Stack } from './stacks.js'
import { storedRows } from '../support/stored_rows.js'

interface TableRows {
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

const TABLE_ROWS = `SELECT schemaname || '.' || relname AS "table", n_live_tup AS live,
    n_dead_tup AS dead, autovacuum_count AS vacuums, pg_total_relation_size(relid) AS bytes
  FROM pg_stat_user_tables WHERE n_live_tup + n_dead_tup > 0`

/** Samples the tables of the processor during a load. @returns what ends it and has the samples */
export function sampleTables({ dataDir, store }: Stack, sampleMs: number) {
  const samples: Promise<readonly TableRows[]>[] = []
  const sample = (): void => {
    const rows = storedRows<TableRows>(dataDir, store, 'processor', TABLE_ROWS)
    rows.catch(() => undefined) // the end rejects
    samples.push(rows)
  }
  sample()
  const timer = setInterval(sample, sampleMs)
  return () => {
    clearInterval(timer)
    sample()
    return Promise.all(samples)
  }
}

export function deadRowFindings(samples: readonly (readonly TableRows[])[]): readonly Finding[] {
  const share = ({ live, dead }: TableRows): number => dead / Math.max(1, live + dead)
  const [worst] = samples
    .flat()
    .filter(({ live, dead }) => live + dead >= JUDGED_ROWS_MIN)
    .sort((one, other) => share(other) - share(one))
  const total = (of: Exclude<keyof TableRows, 'table'>): number =>
    (samples.at(-1) ?? []).reduce((sum, row) => sum + row[of], 0)
  const name = `dead rows, largest share${worst === undefined ? '' : ` (${worst.table})`}`
  return [
    finding(name, worst === undefined ? 0 : share(worst), '', { atMost: DEAD_SHARE_MAX }),
    finding('dead rows at the end', total('dead'), ''),
    finding('live rows at the end', total('live'), ''),
    finding('vacuums by autovacuum', total('vacuums'), ''),
    finding('tables and indexes at the end', total('bytes') / 1_048_576, 'MiB'),
  ]
}
