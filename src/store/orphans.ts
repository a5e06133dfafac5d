/** The SQL of orphan executions: pages of them, and the payments held for them. */
import type { Statement } from './database.js'
import { columnsOf } from './tables.js'

/** The position of an orphan execution in its list. */
export interface OrphanPlace {
  readonly at: number
  readonly instruction: string
}

export interface HeldPayment {
  readonly id: string
  readonly orphan: string
}

export const orphansStatement = (
  resolved: boolean,
  { at, instruction }: OrphanPlace,
  limit: number,
): Statement => ({
  sql: `SELECT ${columnsOf('orphans')} FROM orphan_executions
    INDEXED BY orphan_executions_${resolved ? 'resolved' : 'open'}
    WHERE resolved_at IS ${resolved ? 'NOT NULL' : 'NULL'} AND (executed_at, instruction) > (?, ?)
    ORDER BY executed_at, instruction LIMIT ?`,
  values: [at, instruction, limit],
})

export const heldForStatement = (orphans: readonly string[]): Statement => ({
  sql: `SELECT id, context ->> 'orphan' AS orphan FROM payouts INDEXED BY payouts_held
      WHERE state = 'created' AND context ->> 'orphan' IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT id, context ->> '$.heldFor.orphan' FROM intents INDEXED BY intents_under_way
      WHERE state = 'authorized' AND context ->> '$.heldFor.approvedAt' IS NULL
        AND context ->> '$.heldFor.orphan' IN (SELECT value FROM json_each(?1))`,
  values: [JSON.stringify(orphans)],
})
