/**
 * Ends the moves of partners whose two shards are released, while this processor waits for a shard.
 *
 * Does not own: the transaction (store/cluster/partner_transfer).
 *
 * - Whichever candidate looks first does it; its connection is open for the move only.
 */
import type { Logger } from '../../base/log.js'
import type { Cluster } from '../../store/cluster/cluster.js'
import type { PartnerMove } from '../../store/cluster/partner_moves.js'
import { transferPartner } from '../../store/cluster/partner_transfer.js'
import { connectToPrimary, parseStoreUrl } from '../../store/postgres/connection.js'
import type { Timelines } from '../../store/postgres/timelines.js'

export interface PartnerTransferOptions {
  readonly cluster: Pick<Cluster, 'pendingPartnerMoves' | 'seenShards'>
  readonly url: string
  readonly timelines: Timelines
  readonly log: Logger
}

/** @returns moves what can be moved; resolves with the shards that wait for a move */
export function createPartnerTransfers({
  cluster,
  url,
  timelines,
  log,
}: PartnerTransferOptions): () => Promise<ReadonlySet<string>> {
  const transfer = async (move: PartnerMove): Promise<boolean> => {
    const name = `move ${move.partner}`
    const connection = await connectToPrimary(
      parseStoreUrl(url),
      'cluster',
      name,
      timelines.known(),
    )
    try {
      const { partner, from, to } = move
      const ended = await transferPartner(connection, move)
      if (ended.kind === 'given_up')
        log.error({ partner, from, to, cause: ended.cause }, 'move is given up')
      if (ended.kind === 'moved')
        log.info({ partner, from, to, payments: ended.payments }, 'partner moved')
      return ended.kind !== 'not_now'
    } finally {
      await connection.close()
    }
  }

  return async () => {
    const pending = await cluster.pendingPartnerMoves()
    if (pending.length === 0) return new Set()
    const seen = await cluster.seenShards()
    const isReleased = (shard: string): boolean =>
      seen.some((each) => each.shard === shard && each.holder === '')
    const waiting = new Set<string>()
    for (const move of pending) {
      const isReady = isReleased(move.from) && isReleased(move.to)
      const isEnded =
        isReady &&
        (await transfer(move).catch((error: unknown) => {
          log.error({ error, partner: move.partner }, 'moving a partner failed')
          return false
        }))
      if (isEnded) continue
      waiting.add(move.from).add(move.to)
    }
    return waiting
  }
}
