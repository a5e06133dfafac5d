/**
 * This processor as a member of a cluster: the shard that it owns, and the placement of partners.
 *
 * Owns: what it publishes and looks up in the schema `cluster`. Does not own: waiting for a shard
 * (store/cluster/candidate), the statements (store/cluster/cluster).
 *
 * - A partner is placed before it is created, so no two shards create one name. A crash in between
 *   leaves a placement without a partner; the repeated call creates it.
 * - The shard is given up only to a processor that waits and can take it: the owner looks again
 *   before it withdraws anything, and else cancels the move.
 * - An owner that no gateway reaches requests the move itself (cluster/unreached).
 * - Every partner of the books is placed in this shard. Books with a partner of another shard are
 *   not served: its balances here are old.
 */
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import { Deposed } from '../../store/store.js'
import type { Cluster, Place } from '../../store/cluster/cluster.js'
import type { WaitingProcessor } from '../../store/cluster/waiting.js'
import { createUnreachedWatch } from './unreached.js'
import type { PartnerMove } from '../../store/cluster/partner_moves.js'
import type { PartnerSize } from '../../store/cluster/partner_obstacles.js'

const LOOK_EVERY_MS = SECOND

export interface MemberOptions {
  readonly cluster: Cluster
  readonly shard: string
  readonly epoch: number
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

/** Operators' actions on the shards of a cluster. */
export type ShardAdmin = ClusterAdmin & {
  /** What would move, and what prevents it: null if nothing does. */
  checkPartnerMove(move: PartnerMove): Promise<PartnerMoveCheck>
}

export interface PartnerMoveCheck {
  readonly obstacle: string | null
  /** Its payments are set apart first. */
  readonly isLarge: boolean
  readonly size: PartnerSize
}

type ClusterAdmin = Pick<
  Cluster,
  | 'shards'
  | 'candidates'
  | 'waitingProcessor'
  | 'addShard'
  | 'requestMove'
  | 'standbyLag'
  | 'appendSetting'
  | 'newestSettings'
  | 'skipSetting'
  | 'partnerPlace'
  | 'requestPartnerMove'
  | 'requestPartnerCopy'
  | 'keepPartner'
>

export interface Member {
  readonly name: string
  readonly shard: string
  readonly epoch: number
  /** All shards of the cluster, as of the last poll. */
  shards(): readonly string[]
  /** Where gateways reach the processors of the cluster, as of the last poll. */
  addresses(): readonly string[]
  readonly cluster: ClusterAdmin
  /** The settings that operators made for all shards. */
  readonly settings: Pick<Cluster, 'settingsFrom' | 'newestSettings' | 'reportSettingsFault'>
  /** Undefined means that the partner is not placed. */
  whereIs(partner: string): Promise<Place | undefined>
  /** Places a partner in this shard unless it is placed. @returns null when it is in this shard */
  place(partner: string): Promise<Place | null>
  /** @throws Error that names partners of the books that another shard has */
  adopt(partners: readonly string[]): Promise<void>
  /** The processor that gateways reach, while none reaches this one. */
  reachedInstead(): string | undefined
  /** Moves of partners to and from this shard. */
  readonly moves: Pick<
    Cluster,
    | 'partnersSetApart'
    | 'requestPartnerMove'
    | 'partnerPlace'
    | 'pendingPartnerMoves'
    | 'beginPartnerMove'
    | 'holdForPartnerMove'
    | 'partnerMoveState'
    | 'giveUpPartnerMove'
  >
  /** Reports of a rail that follow a partner to another shard. */
  readonly reports: Pick<
    Cluster,
    'movedPayments' | 'forwardReports' | 'reportsFor' | 'deleteReports'
  >
  /** The highest epoch of the shard that an owner has published. */
  publishedEpoch(): Promise<number>
  /**
   * Publishes the address of this processor, which serves now.
   *
   * @param isRestored the books may be an older copy, in a lower epoch than their last owner
   * @param gateways those that are connected to this processor
   * @throws Deposed
   */
  serve(address: string, isRestored: boolean, gateways: () => number): Promise<void>
  /** Called once when the shard has to be released for a move. */
  onMove(leave: (reason: string) => void): void
  /** Called when `addresses` has changed. */
  onAddresses(changed: () => void): void
  /** Called when the cluster can no longer be read. */
  onFailure(report: (error: Error) => void): void
  close(): Promise<void>
}

/** Whether the processor waits and would take the shard. */
export const canTake = (waiting: WaitingProcessor | undefined, shard: string): boolean =>
  waiting !== undefined && waiting.cannotTake[shard] === undefined

export async function createMember(options: MemberOptions): Promise<Member> {
  const { cluster, shard, epoch, elapsed, pause, log } = options
  const unreached = createUnreachedWatch(elapsed)
  let shards = await cluster.shardNames()
  let addresses = await cluster.addresses()
  let addressesChanged: () => void = () => undefined
  let moveTo: ((reason: string) => void) | undefined
  let report: (error: Error) => void = () => undefined
  cluster.onLost((error) => report(error))

  const look = async (gateways: number): Promise<void> => {
    shards = await cluster.shardNames()
    await lookAtAddresses()
    await lookForGateways(gateways)
    const target = await cluster.moveOf(shard)
    if (target === null || target === cluster.name || moveTo === undefined) return
    if (!canTake(await cluster.waitingProcessor(target), shard)) {
      log.warn({ shard, epoch, to: target }, 'the move is cancelled: its target does not wait')
      await cluster.cancelMove(shard, epoch, target)
      return
    }
    const leave = moveTo
    moveTo = undefined
    log.info({ shard, epoch, to: target }, 'shard is moved to another processor')
    leave(`the shard moves to ${target}`)
  }
  const lookAtAddresses = async (): Promise<void> => {
    const before = addresses.join()
    addresses = await cluster.addresses()
    if (addresses.join() !== before) addressesChanged()
  }
  const lookForGateways = async (gateways: number): Promise<void> => {
    const before = unreached.reached()?.name
    const candidates = gateways > 0 ? [] : await cluster.candidates()
    const able = candidates.filter((each) => canTake(each, shard))
    unreached.look(gateways, able)
    const to = unreached.reached()?.name
    if (to !== before) {
      if (to === undefined) log.info({ shard, epoch }, 'the shard stays with this owner')
      else log.warn({ shard, epoch, reached: to }, 'no gateway reaches this owner')
    }
    if (to === undefined || !unreached.isDue()) return
    if (await cluster.requestMove(shard, epoch, to))
      log.warn({ shard, epoch, to }, 'the shard is given up: no gateway reaches this owner')
  }
  let isClosed = false
  const watch = async (gateways: () => number): Promise<void> => {
    for (;;) {
      await pause(LOOK_EVERY_MS)
      if (isClosed) return
      await look(gateways())
    }
  }

  return {
    name: cluster.name,
    shard,
    epoch,
    shards: () => shards,
    addresses: () => addresses,
    cluster,
    settings: cluster,
    reports: cluster,
    moves: cluster,
    whereIs: cluster.whereIs,
    place: async (partner) => {
      const placed = await cluster.place(partner, shard)
      return placed.shard === shard ? null : placed
    },
    adopt: async (partners) => {
      const elsewhere = await cluster.placeAll(partners, shard)
      if (elsewhere.length > 0)
        throw new Error(`${shard} has partners that other shards have: ${elsewhere.join(', ')}`)
    },
    publishedEpoch: async () => (await cluster.placeOf(shard))?.epoch ?? 0,
    reachedInstead: () => unreached.reached()?.name,
    serve: async (address, isRestored, gateways) => {
      await cluster.setServing()
      if (!(await cluster.announce(shard, epoch, address, isRestored)))
        throw new Deposed('another process owns the books')
      watch(gateways).catch((error: unknown) => {
        if (!isClosed) report(error as Error)
      })
    },
    onAddresses: (handler) => (addressesChanged = handler),
    onMove: (handler) => (moveTo = handler),
    onFailure: (handler) => (report = handler),
    close: async () => {
      isClosed = true
      await cluster.close()
    },
  }
}
