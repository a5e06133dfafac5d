/** What a run reads of the tables of its books around a restore. */

/** An orphan execution. */
export interface Orphan {
  readonly instruction: string
  readonly status: 'open' | 'matched' | 'resolved'
  readonly state: 'accepted' | 'executed' | 'refused' | 'returned'
  /** The payment. Null if it is not matched. */
  readonly matchedTo: string | null
}

export interface Held {
  readonly id: string
  readonly kind: 'payout' | 'intent'
  readonly mark: string
}

/** What an operator has accepted as lost. */
export interface Accepted {
  readonly kind: 'event' | 'instruction'
  readonly id: string
}

export interface RestoredTables {
  /** Their statuses, by id. */
  readonly beneficiaries: ReadonlyMap<string, string>
  /** The conversion of each FX quote, if there is one. */
  readonly quotes: ReadonlyMap<string, string | null>
  /** By the id of the key. */
  readonly revokedKeys: ReadonlyMap<string, 0 | 1>
  /** The amounts of confirmed intents, by mark. */
  readonly confirmed: ReadonlyMap<string, string>
}

const IS_HELD = `context ->> '$.heldFor' IS NOT NULL
  AND context ->> '$.heldFor.approvedAt' IS NULL`

export const RESTORED = {
  orphans: `SELECT instruction, status, state, matched_to AS matchedTo FROM orphan_executions
    ORDER BY instruction`,
  held: `SELECT id, 'payout' AS kind, context ->> 'description' AS mark FROM payouts
      WHERE state = 'created' AND context ->> 'orphan' IS NOT NULL
        OR state = 'processing' AND ${IS_HELD}
    UNION ALL
    SELECT id, 'intent', CAST(context ->> 'amountCents' AS TEXT) FROM intents
      WHERE state = 'authorized' AND ${IS_HELD}
    ORDER BY id`,
  accepted: 'SELECT kind, id FROM accepted_losses ORDER BY kind, id',
  beneficiaries: 'SELECT id, status AS value FROM beneficiaries',
  quotes: 'SELECT id, conversion AS value FROM fx_quotes',
  revokedKeys: 'SELECT id, revoked AS value FROM signing_keys',
  confirmed: `SELECT CAST(context ->> 'amountCents' AS TEXT) AS id,
      CAST(context ->> '$.scanned.quote.localMinor' AS TEXT) AS value
    FROM intents WHERE confirmed_at IS NOT NULL`,
} as const
