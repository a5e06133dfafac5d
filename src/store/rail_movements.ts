/**
 * The movements of a rail: entries on its account, with the instruction and rail of their payment.
 *
 * Does not own: reading them (lists), their comparison with a statement (reconciliation).
 */
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'

/** The position of a rail movement in its list. */
export interface MovementPosition {
  readonly at: number
  readonly posting: number
}

/** An entry on the rail's account. A posting has at most one. */
export interface RailMovement extends MovementPosition {
  /**
   * The instruction that the rail executed: the payment's own or, if an orphan execution is matched
   * to it, that one. For a discrepancy's entries, the id of its entity.
   */
  readonly instruction: string
  readonly currency: string
  /** Positive: paid out. */
  readonly amount: bigint
  /** 1: belongs to a discrepancy that was undone. */
  readonly undone: 0 | 1
  /** Null in a payment from before rails had names, `corrupt` in a corrupt one. */
  readonly rail: string | null
}

export const RAIL_MOVEMENT = {
  at: 'integer',
  posting: 'integer',
  instruction: 'text',
  currency: 'text',
  amount: 'int64',
  undone: 'integer',
  rail: 'text',
} as const

/** Accounts are `{tenant}:{currency}:rail_clearing`. Must equal the index's condition. */
const isOfRail = (d: Dialect): string => d.endsWith('e.account', ':rail_clearing')
const MATCHED = 'SELECT o.instruction FROM orphan_executions o WHERE o.matched_to = e.entity'
const movement = (d: Dialect): string => `e.at, e.posting,
  coalesce(d.entity, (${MATCHED}), e.entity) AS instruction,
  substr(e.account, ${d.position('e.account', ':')} + 1, 3) AS currency,
  CAST(e.amount AS TEXT) AS amount,
  CASE WHEN d.settlement = 'undo' THEN 1 ELSE 0 END AS undone,
  coalesce(CASE WHEN d.reason = 'other_rail' THEN ${railIn(d, 'd.report', 'rail')} END,
    ${railIn(d, 'p.context', 'rail')}, ${railIn(d, 't.context', 'confirmation', 'rail')}) AS rail`

/** `corrupt` when the JSON that names the rail is damaged. */
const railIn = (d: Dialect, json: string, ...path: string[]): string =>
  `CASE WHEN ${d.isJson(json)} THEN ${d.text(json, ...path)}
    WHEN ${json} IS NOT NULL THEN 'corrupt' END`

/** With the payment, which names its rail. */
const WITH_PAYMENT = `LEFT JOIN discrepancies d ON d.id = e.entity
    LEFT JOIN payouts p ON p.id = coalesce(d.entity, e.entity)
    LEFT JOIN intents t ON t.id = coalesce(d.entity, e.entity)`

export const movementsStatement = (
  { at, posting }: MovementPosition,
  to: number,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT ${movement(d)}
    FROM ledger_entries e ${d.indexedBy('ledger_entries_of_rail')}
    ${WITH_PAYMENT}
    WHERE ${isOfRail(d)} AND (e.at, e.posting) > (?, ?) AND e.at < ?
    ORDER BY e.at, e.posting LIMIT ?`,
  values: [at, posting, to, limit],
})

export const movementsOfStatement = (instructions: readonly string[]): Statement => ({
  sql: (d) => `WITH named (id) AS (${d.texts('?')}),
    booked (entity) AS (
      SELECT id FROM named
      UNION SELECT d.id FROM named
        JOIN discrepancies d ${d.indexedBy('discrepancies_of_entity')} ON d.entity = named.id
      UNION SELECT o.matched_to FROM named
        JOIN orphan_executions o ON o.instruction = named.id AND o.matched_to IS NOT NULL)
    SELECT ${movement(d)} FROM booked
      JOIN ledger_entries e ${d.indexedBy('ledger_entries_of_entity')} ON e.entity = booked.entity
      ${WITH_PAYMENT}
      WHERE ${isOfRail(d)} ORDER BY e.at, e.posting`,
  values: [JSON.stringify(instructions)],
})
