/**
 * What the move of a partner would take along, and what prevents it.
 *
 * - It reads on a connection of its own: its counts can take a second.
 */
import type { MasterKeys } from '../../auth/master_key.js'
import type { Random } from '../../base/random.js'
import type { PartnerMove } from '../../store/cluster/partner_moves.js'
import { isLarge, obstacleTo, sizeOf } from '../../store/cluster/partner_obstacles.js'
import { connectToPrimary, parseStoreUrl } from '../../store/postgres/connection.js'
import type { Timelines } from '../../store/postgres/timelines.js'
import type { Row } from '../../store/tables.js'
import { haveSameHashKey } from '../master_keys/keyring.js'
import type { PartnerMoveCheck } from './member.js'

export interface PartnerMoveCheckOptions {
  readonly url: string
  readonly timelines: Timelines
  readonly masters: MasterKeys
  readonly random: Random
}

export async function checkPartnerMove(
  move: PartnerMove,
  { url, timelines, masters, random }: PartnerMoveCheckOptions,
): Promise<PartnerMoveCheck> {
  const { from, to } = move
  const targets = parseStoreUrl(url)
  const connection = await connectToPrimary(targets, 'cluster', 'move check', timelines.known())
  try {
    const size = await sizeOf(connection, move)
    const keys = await connection.all<Row<'lastingKeys'>>(
      `SELECT id, sealed FROM ${from}.lasting_keys
       UNION ALL SELECT id, sealed FROM ${to}.lasting_keys`,
    )
    const obstacle = haveSameHashKey(keys, masters, random)
      ? await obstacleTo(connection, move)
      : `${from} and ${to} hash the requests of idempotency keys differently`
    return { obstacle, isLarge: await isLarge(connection, move, size), size }
  } finally {
    await connection.close()
  }
}
