/**
 * The SQL of orphan executions: pages of them, the payments held for them, and those to compare
 * with them.
 */
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'
import { columnsOf } from './tables.js'

/** The position of an orphan execution in its list. */
export interface OrphanPosition {
  /** The stored number as text: a damaged one can be beyond 2^53. */
  readonly at: string
  readonly instruction: string
}

/** Before every moment that a row can have. */
export const LOWEST = '-9223372036854775808'

export interface HeldPayment {
  readonly id: string
  readonly orphan: string
}

export const orphansStatement = (
  resolved: boolean,
  { at, instruction }: OrphanPosition,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT ${columnsOf('orphans')}, CAST(executed_at AS TEXT) AS position
    FROM orphan_executions
    ${d.indexedBy(`orphan_executions_${resolved ? 'resolved' : 'open'}`)}
    WHERE resolved_at IS ${resolved ? 'NOT NULL' : 'NULL'} AND (executed_at, instruction) > (?, ?)
    ORDER BY executed_at, instruction LIMIT ?`,
  values: [at, instruction, limit],
})

/**
 * The orphan execution for which a payment is held under way. Null means that it is not held. Most
 * contexts do not have the member, and then they are not parsed.
 */
export const heldInProcessing = (d: Dialect): string => `CASE
  WHEN ${d.position('context', '"heldFor"')} = 0 THEN NULL
  WHEN NOT ${d.isJson('context')} THEN NULL
  WHEN ${d.text('context', 'heldFor', 'approvedAt')} IS NULL
    THEN ${d.text('context', 'heldFor', 'orphan')} END`

const orphanOf = (d: Dialect): string =>
  `CASE WHEN ${d.isJson('context')} THEN ${d.text('context', 'orphan')} END`

export const heldForStatement = (orphans: readonly string[]): Statement => ({
  sql: (d) => `SELECT id, ${orphanOf(d)} AS orphan
      FROM payouts ${d.indexedBy('payouts_held')}
      WHERE state = 'created' AND ${orphanOf(d)} IN (${d.texts('?1')})
    UNION ALL
    SELECT id, ${heldInProcessing(d)}
      FROM payouts ${d.indexedBy('payouts_under_way')}
      WHERE state = 'processing' AND ${heldInProcessing(d)} IN (${d.texts('?1')})
    UNION ALL
    SELECT id, ${heldInProcessing(d)}
      FROM intents ${d.indexedBy('intents_under_way')}
      WHERE state = 'authorized' AND ${heldInProcessing(d)} IN (${d.texts('?1')})`,
  values: [JSON.stringify(orphans)],
})

/** Confirmed intents that are held, all tenants, by id. */
export const heldIntentsStatement = (after: string, limit: number): Statement => ({
  sql: (d) => `SELECT id, tenant, state, context FROM intents ${d.indexedBy('intents_under_way')}
    WHERE state = 'authorized' AND id > ? AND ${heldInProcessing(d)} IS NOT NULL
    ORDER BY id LIMIT ?`,
  values: [after, limit],
})

/** The states of payments that may be accepted and not submitted. */
const STATES = { payouts: ['created', 'processing'], intents: ['authorized'] } as const
const INDEXES = {
  created: 'payouts_held',
  processing: 'payouts_under_way',
  authorized: 'intents_under_way',
} as const

/** Ids of payments that are accepted and not submitted, of one kind, after this id. */
export const unsubmittedStatement = (
  kind: keyof typeof STATES,
  after: string,
  limit: number,
): Statement => ({
  sql: (d) =>
    `${STATES[kind]
      .map(
        (state) => `SELECT id FROM ${kind} ${d.indexedBy(INDEXES[state])}
      WHERE state = '${state}' AND id > ?1 AND ${isUnsubmitted(d)}`,
      )
      .join(' UNION ALL ')} ORDER BY id LIMIT ?2`,
  values: [after, limit],
})

const isUnsubmitted = (d: Dialect): string => `CASE WHEN ${d.isJson('context')}
  THEN ${d.text('context', 'handedOverAt')} IS NULL ELSE false END`
