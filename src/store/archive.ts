/**
 * Ended payments that can leave the books for an archive file: their ledger entries stay.
 *
 * Owns: finding them. Does not own: the file (backup/archive_file), their removal
 * (processor/commands/retention/payments_archive).
 *
 * - A page reads a bounded number of rows along the primary key. Ids have the time of their
 *   creation.
 * - A payment stays while it is open, has a timer or a discrepancy that is not resolved. An intent
 *   stays while a key of it can be: a repeated create answers from its row. The keys of a partner
 *   that has come from another shard are as old as its move.
 */
import { leastIdAt } from '../base/ids.js'
import type { Instant } from '../base/clock.js'
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'
import type { Row } from './tables.js'

export type ArchivedKind = 'intents' | 'payouts'

export interface StoredPayment {
  readonly id: string
  readonly tenant: string
  readonly state: string
  /** Null means that it was never confirmed, or is a payout. */
  readonly confirmedAt: number | null
  /** Null for intents. */
  readonly reference: string | null
  readonly beneficiary: string | null
  readonly context: string
  /** 1: it must stay. */
  readonly isNeeded: 0 | 1
}

export interface ArchiveReads {
  /** Payments with ids after `after` that were created before the moment, in order. */
  payments(
    kind: ArchivedKind,
    after: string,
    before: Instant,
    limit: number,
  ): Promise<readonly StoredPayment[]>
  /** Where the payment is. Undefined if it did not leave these books. */
  archiveOf(id: string): Promise<Row<'archives'> | undefined>
}

export const createArchiveReads = (read: <R>(statement: Statement) => Promise<R[]>) =>
  ({
    payments: (kind, after, before, limit) =>
      read<StoredPayment>(archivableStatement(kind, after, before, limit)),
    archiveOf: async (id) => (await read<Row<'archives'>>(archiveOfStatement(id)))[0],
  }) satisfies ArchiveReads

/** Intents of before this moment have no key any more. NULL means that no key was deleted. */
const KEYS_DELETED_BY = `(SELECT max(a.at) FROM idempotency_ages a
  JOIN idempotency_retention r ON r.kind = 'others' AND a.through <= r.through)`

/** The partner of the payment `p`: its tenant without the environment. */
const PARTNER = `substr(p.tenant, 1, length(p.tenant)
  - CASE WHEN p.tenant LIKE '%sandbox' THEN 8 ELSE 11 END)`

/** Whether that partner came after that moment. Subjects are `{partner} {from} {to}`. */
const CAME_SINCE = `(SELECT count(*) FROM operator_log l
  WHERE l.subject >= ${PARTNER} || ' ' AND l.subject < ${PARTNER} || '!'
    AND l.action = 'move_partner' AND l.at >= ${KEYS_DELETED_BY}) > 0`

/** From its creation to the last key of its payer's app. */
const KEYS_WITHIN_MS = 86_400_000

const COLUMNS: Readonly<Record<ArchivedKind, (d: Dialect) => string>> = {
  intents: (d) => `confirmed_at AS "confirmedAt", NULL AS reference, NULL AS beneficiary, context,
    CASE WHEN state IN ('created', 'authorized') OR due_at IS NOT NULL OR ${hasDiscrepancy(d)}
      OR coalesce(CASE WHEN ${d.isJson('context')} THEN ${d.integer('context', 'createdAt')} END
        + ${KEYS_WITHIN_MS} < ${KEYS_DELETED_BY}, false) = false OR ${CAME_SINCE}
      THEN 1 ELSE 0 END`,
  payouts: (d) => `NULL AS "confirmedAt", reference, beneficiary, context,
    CASE WHEN state IN ('created', 'processing') OR due_at IS NOT NULL OR ${hasDiscrepancy(d)}
      THEN 1 ELSE 0 END`,
}

/** Whether the payment `p` has a discrepancy that is not resolved. */
export const hasDiscrepancy = (d: Dialect): string =>
  `(SELECT count(*) FROM discrepancies d ${d.indexedBy('discrepancies_of_entity')}
    WHERE d.entity = p.id AND d.resolved_at IS NULL) > 0`

const archivableStatement = (
  kind: ArchivedKind,
  after: string,
  before: Instant,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT id, tenant, state, ${COLUMNS[kind](d)} AS "isNeeded"
    FROM ${kind} p WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
  values: [after, leastIdAt(kind === 'intents' ? 'intent' : 'payout', before), limit],
})

const archiveOfStatement = (id: string): Statement => ({
  sql: () => `SELECT a.id, a.path, a.created_at FROM archived_payments x CROSS JOIN archives a
    WHERE x.id = ?`,
  values: [id],
})
