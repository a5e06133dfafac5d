/**
 * Moves of partners between shards, as the schema `cluster` has them, and the rail's reports that
 * follow a partner.
 *
 * Does not own: the rows of the books (cluster/partner_transfer).
 *
 * - A move is requested for MOVE_WITHIN_MS. Its shards are released for it, the one that is left
 *   first, and no candidate takes them over until the move has ended or this time has passed.
 * - A report is stored before the rail's acknowledgement, and deleted after the commit that applies
 *   it: it can be applied twice, which changes nothing.
 */
import type { Connection } from '../postgres/connection.js'

/** By then both shards have been released and the rows are in the other one, or it is given up. */
export const MOVE_WITHIN_MS = 12_000
/** An owner does not release its shard for a move that is older. */
const RELEASE_WITHIN_MS = 4_000

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

/** Where a partner is, and its last move. */
export interface PartnerPlace {
  readonly shard: string
  /** Null if it does not move. */
  readonly movingTo: string | null
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
  /** Undefined: the partner is not placed. */
  partnerPlace(partner: string): Promise<PartnerPlace | undefined>
  /** @returns false when it is elsewhere by now, or a partner or one of the shards moves already */
  requestPartnerMove(move: PartnerMove, by: MovedBy): Promise<boolean>
  pendingPartnerMoves(): Promise<readonly PartnerMove[]>
  /** The move that the owner of this shard has to release it for now. */
  moveToRelease(shard: string): Promise<PartnerMove | undefined>
  /** Payments that the shard had, with their partners. */
  movedPayments(shard: string): Promise<readonly { id: string; partner: string }[]>
  forwardReport(report: MovedReport): Promise<void>
  /** Reports for the partners of a shard, the oldest first. */
  reportsFor(shard: string, limit: number): Promise<readonly StoredReport[]>
  deleteReport(id: number): Promise<void>
  /** Makes the salt of a shard without commits that of the cluster. */
  shareSalt(shard: string, epoch: number): Promise<void>
}

export const pendingAt = (now: string, withinMs = MOVE_WITHIN_MS): string =>
  `ended_at IS NULL AND requested_at >= ${now} - ${withinMs}`

const COLUMNS = 'partner, from_shard AS "from", to_shard AS "to"'

export function partnerMovesOn(
  connection: Pick<Connection, 'all' | 'run'>,
  now: string,
  shardMoveExpiresMs: number,
): PartnerMoves {
  const PLACE = `SELECT shard,
      CASE WHEN ${pendingAt(now)} THEN to_shard END AS "movingTo",
      CASE WHEN ended_at IS NULL AND NOT (${pendingAt(now)})
        THEN 'the shards were not released in time' ELSE cause END AS cause
    FROM placements LEFT JOIN partner_moves USING (partner) WHERE partner = ?`
  const REQUEST = `INSERT INTO partner_moves
      (partner, from_shard, to_shard, requested_at, actor, reason, ended_at, cause)
    SELECT partner, shard, CAST(?3 AS text), ${now}, CAST(?4 AS text), CAST(?5 AS text), NULL, NULL
      FROM placements WHERE partner = ?1 AND shard = ?2
        AND NOT EXISTS (SELECT 1 FROM partner_moves AS other WHERE ${pendingAt(now)})
        AND NOT EXISTS (SELECT 1 FROM shards WHERE shard IN (?2, ?3) AND move_to IS NOT NULL
          AND move_requested_at >= ${now} - ${shardMoveExpiresMs})
    ON CONFLICT (partner) DO UPDATE SET from_shard = excluded.from_shard,
      to_shard = excluded.to_shard, requested_at = excluded.requested_at, actor = excluded.actor,
      reason = excluded.reason, ended_at = NULL, cause = NULL`
  const PENDING = `SELECT ${COLUMNS} FROM partner_moves WHERE ${pendingAt(now)} ORDER BY partner`
  const LEAVING = `SELECT ${COLUMNS} FROM partner_moves
    WHERE ${pendingAt(now, RELEASE_WITHIN_MS)} AND from_shard = ?`
  const JOINING = `SELECT ${COLUMNS} FROM partner_moves WHERE ${pendingAt(now)} AND to_shard = ?`
  const isReleased = async (shard: string): Promise<boolean> => {
    const [owner] = await connection.all<{ holder: string }>(`SELECT holder FROM ${shard}.owner`)
    return owner?.holder === ''
  }

  return {
    partnerPlace: async (partner) => (await connection.all<PartnerPlace>(PLACE, [partner]))[0],
    requestPartnerMove: async ({ partner, from, to }, { actor, reason }) =>
      (await connection.run(REQUEST, [partner, from, to, actor, reason])) > 0,
    pendingPartnerMoves: () => connection.all<PartnerMove>(PENDING),
    moveToRelease: async (shard) => {
      const [leaving] = await connection.all<PartnerMove>(LEAVING, [shard])
      if (leaving !== undefined) return leaving
      for (const joining of await connection.all<PartnerMove>(JOINING, [shard]))
        if (await isReleased(joining.from)) return joining
      return undefined
    },
    movedPayments: (shard) => connection.all(`SELECT id, partner FROM ${shard}.moved_payments`),
    forwardReport: async ({ partner, rail, finalityWindowMs, report }) => {
      await connection.run(
        `INSERT INTO moved_reports (partner, rail, finality_window_ms, report)
         VALUES (?, ?, ?, ?)`,
        [partner, rail, finalityWindowMs, report],
      )
    },
    reportsFor: (shard, limit) =>
      connection.all(
        `SELECT id, partner, rail, finality_window_ms AS "finalityWindowMs", report
         FROM moved_reports JOIN placements USING (partner)
         WHERE shard = ? ORDER BY id LIMIT ?`,
        [shard, limit],
      ),
    deleteReport: async (id) => {
      await connection.run('DELETE FROM moved_reports WHERE id = ?', [id])
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
    },
  }
}
