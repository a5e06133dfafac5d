/**
 * Moves of partners between shards, as the schema `cluster` has them, and the rail's reports that
 * follow a partner.
 *
 * Does not own: the rows of the books (cluster/partner_transfer).
 *
 * - A move is requested for MOVE_WITHIN_MS; what has not ended by then is given up.
 * - The owner of the shard that is left begins it. Then the other owner stops at a batch, writes it
 *   here, and goes on when the move has ended. It can end the move itself while no transaction has
 *   the row: so it never goes on while the rows move.
 * - A partner has one row, which its next request takes, also before that owner has seen the end.
 *   So the row is of this move only while it names where the owner has stopped; else the partner's
 *   placement says how the move has ended.
 * - A report is stored before the rail's acknowledgement, and deleted after the commit that applies
 *   it: it can be applied twice, which changes nothing.
 */
import type { Connection } from '../postgres/connection.js'

/** By then the rows are in the other shard, or it is given up. */
export const MOVE_WITHIN_MS = 12_000

export interface PartnerMove {
  readonly partner: string
  readonly from: string
  readonly to: string
}

/** Who moves it, and why. */
export interface MovedBy {
  readonly actor: string
  readonly reason: string
}

/** The last batch of an owner that commits nothing until the move has ended. */
export interface HeldAt {
  readonly epoch: number
  readonly batch: number
}

/** A move that has not ended, as an owner sees it. */
export interface PendingMove extends PartnerMove {
  readonly isBegun: boolean
  /** Null until the owner of the other shard has stopped. */
  readonly held: HeldAt | null
}

export type PartnerMoveState = 'pending' | 'moved' | 'given_up'

/** Where a partner is, and its last move. */
export interface PartnerPlace {
  readonly shard: string
  /** Null if it does not move. */
  readonly movingTo: string | null
  /** Payments that are set apart for the move while the partner works. Null if none are. */
  readonly copied: number | null
  /** Why its last move was given up. Null if it was not, or there is none. */
  readonly cause: string | null
}

export interface MovedReport {
  readonly partner: string
  readonly rail: string
  readonly finalityWindowMs: number
  /** JSON. */
  readonly report: string
}

export type StoredReport = MovedReport & { readonly id: number }

export interface PartnerMoves {
  /** Undefined means that the partner is not placed. */
  partnerPlace(partner: string): Promise<PartnerPlace | undefined>
  /** @returns false when it is elsewhere by now, or a partner or one of the shards moves already */
  requestPartnerMove(move: PartnerMove, by: MovedBy): Promise<boolean>
  /**
   * Sets the partner's payments apart first.
   *
   * @returns false when it is elsewhere by now, or payments of a partner are set apart already
   */
  requestPartnerCopy(move: PartnerMove, by: MovedBy): Promise<boolean>
  /** @returns false when it does not move, or its move is under way */
  keepPartner(partner: string): Promise<boolean>
  /** Partners whose rows the owner of this shard sets apart, or puts in place. */
  partnersSetApart(shard: string): Promise<readonly string[]>
  /** Those of partners that leave this shard or come to it. */
  pendingPartnerMoves(shard: string): Promise<readonly PendingMove[]>
  /** @returns false when the move has ended */
  beginPartnerMove(move: PartnerMove): Promise<boolean>
  /** @returns false when the move has ended */
  holdForPartnerMove(move: PartnerMove, at: HeldAt): Promise<boolean>
  /** The state of the move for which an owner has stopped at this batch. */
  partnerMoveState(move: PartnerMove, held: HeldAt): Promise<PartnerMoveState>
  /** @returns false when it has ended, or its transaction is under way */
  giveUpPartnerMove(move: PartnerMove, cause: string): Promise<boolean>
  /** Payments that the shard had, with their partners, by id: those after one. */
  movedPayments(
    shard: string,
    after: string,
    limit: number,
  ): Promise<readonly { id: string; partner: string }[]>
  /** One statement for all: a rail reports thousands of payments at once, and others wait. */
  forwardReports(reports: readonly MovedReport[]): Promise<void>
  /** Reports for the partners of a shard, the oldest first. */
  reportsFor(shard: string, limit: number): Promise<readonly StoredReport[]>
  deleteReports(ids: readonly number[]): Promise<void>
  /**
   * Makes the salt of a shard without commits that of the cluster.
   *
   * @returns the salt of the cluster
   */
  shareSalt(shard: string, epoch: number): Promise<string>
}

export const pendingAt = (now: string, withinMs = MOVE_WITHIN_MS): string =>
  `ended_at IS NULL AND requested_at >= ${now} - ${withinMs}`

interface PendingRow extends PartnerMove {
  readonly begunAt: number | null
  readonly epoch: number | null
  readonly batch: number | null
}

interface StateRow {
  readonly shard: string
  /** 1 while the move is pending, else 0. */
  readonly pending: number
}

const COLUMNS = 'partner, from_shard AS "from", to_shard AS "to"'

export function partnerMovesOn(
  connection: Pick<Connection, 'all' | 'run'>,
  now: string,
  shardMoveExpiresMs: number,
): PartnerMoves {
  const PLACE = `SELECT shard,
      CASE WHEN ${pendingAt(now)} THEN m.to_shard ELSE c.to_shard END AS "movingTo",
      c.payments AS copied,
      CASE WHEN ended_at IS NULL AND NOT (${pendingAt(now)})
        THEN 'it did not end in time' ELSE cause END AS cause
    FROM placements LEFT JOIN partner_moves AS m USING (partner)
      LEFT JOIN (SELECT partner, to_shard, payments FROM partner_copies
        WHERE phase IN ('copying', 'ready')) AS c USING (partner)
    WHERE partner = ?`
  const REQUEST = `INSERT INTO partner_moves
      (partner, from_shard, to_shard, requested_at, actor, reason, ended_at, cause)
    SELECT partner, shard, CAST(?3 AS text), ${now}, CAST(?4 AS text), CAST(?5 AS text), NULL, NULL
      FROM placements WHERE partner = ?1 AND shard = ?2
        AND NOT EXISTS (SELECT 1 FROM partner_moves AS other WHERE ${pendingAt(now)})
        AND NOT EXISTS (SELECT 1 FROM partner_copies AS copy WHERE copy.partner = ?1
          AND (phase <> 'ready' OR copy.to_shard <> ?3))
        AND NOT EXISTS (SELECT 1 FROM shards WHERE shard IN (?2, ?3) AND move_to IS NOT NULL
          AND move_requested_at >= ${now} - ${shardMoveExpiresMs})
    ON CONFLICT (partner) DO UPDATE SET from_shard = excluded.from_shard,
      to_shard = excluded.to_shard, requested_at = excluded.requested_at, actor = excluded.actor,
      reason = excluded.reason, ended_at = NULL, cause = NULL, begun_at = NULL, held_epoch = NULL,
      held_batch = NULL`
  const REQUEST_COPY = `INSERT INTO partner_copies
      (partner, from_shard, to_shard, actor, reason, phase)
    SELECT partner, shard, CAST(?3 AS text), CAST(?4 AS text), CAST(?5 AS text), 'copying'
      FROM placements WHERE partner = ?1 AND shard = ?2
        AND NOT EXISTS (SELECT 1 FROM partner_copies WHERE phase IN ('copying', 'ready'))
        AND NOT EXISTS (SELECT 1 FROM partner_moves WHERE ${pendingAt(now)} AND partner = ?1)
    ON CONFLICT DO NOTHING`
  const SET_APART = `SELECT partner FROM partner_copies WHERE from_shard = ? ORDER BY partner`
  const KEEP = `UPDATE partner_copies SET phase = 'undoing', cursors = '{}'
    WHERE partner = ?1 AND phase IN ('copying', 'ready')
      AND NOT EXISTS (SELECT 1 FROM partner_moves WHERE ${pendingAt(now)} AND partner = ?1)`
  const PENDING = `SELECT ${COLUMNS}, begun_at AS "begunAt", held_epoch AS epoch,
      held_batch AS batch
    FROM partner_moves WHERE ${pendingAt(now)} AND ?1 IN (from_shard, to_shard) ORDER BY partner`
  const isPending = `partner = ?1 AND from_shard = ?2 AND to_shard = ?3 AND ${pendingAt(now)}`
  const BEGIN = `UPDATE partner_moves SET begun_at = ${now} WHERE ${isPending}`
  const HOLD = `UPDATE partner_moves SET held_epoch = ?4, held_batch = ?5
    WHERE ${isPending} AND begun_at IS NOT NULL`
  const isOpen = 'partner = ?1 AND from_shard = ?2 AND to_shard = ?3 AND ended_at IS NULL'
  const STATE = `SELECT shard, (SELECT count(*) FROM partner_moves
      WHERE ${isOpen} AND held_epoch = ?4 AND held_batch = ?5) AS pending
    FROM placements WHERE partner = ?1`
  const GIVE_UP = `UPDATE partner_moves SET ended_at = ${now}, cause = ?4
    WHERE partner IN (SELECT partner FROM partner_moves WHERE ${isOpen} FOR UPDATE SKIP LOCKED)`

  return {
    partnerPlace: async (partner) => (await connection.all<PartnerPlace>(PLACE, [partner]))[0],
    requestPartnerMove: async ({ partner, from, to }, { actor, reason }) =>
      (await connection.run(REQUEST, [partner, from, to, actor, reason])) > 0,
    pendingPartnerMoves: async (shard) =>
      (await connection.all<PendingRow>(PENDING, [shard])).map(
        ({ begunAt, epoch, batch, ...move }) => ({
          ...move,
          isBegun: begunAt !== null,
          held: epoch === null || batch === null ? null : { epoch, batch },
        }),
      ),
    beginPartnerMove: async ({ partner, from, to }) =>
      (await connection.run(BEGIN, [partner, from, to])) > 0,
    holdForPartnerMove: async ({ partner, from, to }, { epoch, batch }) =>
      (await connection.run(HOLD, [partner, from, to, epoch, batch])) > 0,
    partnerMoveState: async ({ partner, from, to }, { epoch, batch }) => {
      const [row] = await connection.all<StateRow>(STATE, [partner, from, to, epoch, batch])
      if (row?.pending === 1) return 'pending'
      return row?.shard === to ? 'moved' : 'given_up'
    },
    giveUpPartnerMove: async ({ partner, from, to }, cause) =>
      (await connection.run(GIVE_UP, [partner, from, to, cause])) > 0,
    requestPartnerCopy: async ({ partner, from, to }, { actor, reason }) =>
      (await connection.run(REQUEST_COPY, [partner, from, to, actor, reason])) > 0,
    partnersSetApart: async (shard) =>
      (await connection.all<{ partner: string }>(SET_APART, [shard])).map(({ partner }) => partner),
    keepPartner: async (partner) => (await connection.run(KEEP, [partner])) > 0,
    movedPayments: (shard, after, limit) =>
      connection.all(
        `SELECT id, partner FROM ${shard}.moved_payments WHERE id > ? ORDER BY id LIMIT ?`,
        [after, limit],
      ),
    forwardReports: async (reports) => {
      const rows = reports.map(({ partner, rail, finalityWindowMs, report }) => {
        return [partner, rail, finalityWindowMs, report]
      })
      await connection.run(
        `INSERT INTO moved_reports (partner, rail, finality_window_ms, report)
         SELECT r ->> 0, r ->> 1, (r ->> 2)::bigint, r ->> 3
         FROM json_array_elements(?::json) WITH ORDINALITY AS given (r, at) ORDER BY at`,
        [JSON.stringify(rows)],
      )
    },
    reportsFor: (shard, limit) =>
      connection.all(
        `SELECT id, partner, rail, finality_window_ms AS "finalityWindowMs", report
         FROM moved_reports JOIN placements USING (partner)
         WHERE shard = ? ORDER BY id LIMIT ?`,
        [shard, limit],
      ),
    deleteReports: async (ids) => {
      await connection.run(
        `DELETE FROM moved_reports
         WHERE id IN (SELECT value::bigint FROM json_array_elements_text(?::json))`,
        [JSON.stringify(ids)],
      )
    },
    shareSalt: async (shard, epoch) => {
      await connection.run(
        `INSERT INTO fingerprint_salt (only_row, salt)
         SELECT 1, value FROM ${shard}.meta WHERE name = 'nonce_salt' ON CONFLICT DO NOTHING`,
      )
      await connection.run(
        `UPDATE ${shard}.meta SET value = (SELECT salt FROM fingerprint_salt)
         WHERE name = 'nonce_salt'
           AND EXISTS (SELECT 1 FROM ${shard}.owner WHERE epoch = ? AND last_batch = 0)`,
        [epoch],
      )
      const [shared] = await connection.all<{ salt: string }>('SELECT salt FROM fingerprint_salt')
      return shared!.salt
    },
  }
}
