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
  sql: (d) => `SELECT ${columnsOf('orphans')} FROM orphan_executions
    ${d.indexedBy(`orphan_executions_${resolved ? 'resolved' : 'open'}`)}
    WHERE resolved_at IS ${resolved ? 'NOT NULL' : 'NULL'} AND (executed_at, instruction) > (?, ?)
    ORDER BY executed_at, instruction LIMIT ?`,
  values: [at, instruction, limit],
})

export const heldForStatement = (orphans: readonly string[]): Statement => ({
  sql: (d) => `SELECT id, ${d.text('context', 'orphan')} AS orphan
      FROM payouts ${d.indexedBy('payouts_held')}
      WHERE state = 'created' AND ${d.text('context', 'orphan')} IN (${d.texts('?1')})
    UNION ALL
    SELECT id, ${d.text('context', 'heldFor', 'orphan')}
      FROM intents ${d.indexedBy('intents_under_way')}
      WHERE state = 'authorized' AND ${d.text('context', 'heldFor', 'approvedAt')} IS NULL
        AND ${d.text('context', 'heldFor', 'orphan')} IN (${d.texts('?1')})`,
  values: [JSON.stringify(orphans)],
})
