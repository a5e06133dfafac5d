/**
 * Moves partners to and from the shard of this processor, while it serves the others.
 *
 * Does not own: the requests (store/cluster/partner_moves), the rows
 * (store/cluster/partner_transfer).
 *
 * - The owner of the shard that is left begins. The other owner holds its pipeline between two
 *   batches and says which one is its last. Then the first one withdraws the partner from the
 *   gateways, holds its own pipeline and moves the rows in one transaction. Both read what has
 *   changed before their pipelines go on.
 * - Neither goes on while it is not known whether the partner has moved: the process ends, and the
 *   next owner of the shard reads the books.
 * - A rail's reports wait meanwhile: afterwards they are for these books or for the other ones.
 */
import { SECOND, type Pause } from '../../base/clock.js'
import { crashPoint } from '../../base/crash_point.js'
import { ENVIRONMENTS, tenantOf, type PartnerId, type TenantId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { HeldAt, PartnerMove, PendingMove } from '../../store/cluster/partner_moves.js'
import { obstacleTo } from '../../store/cluster/partner_obstacles.js'
import {
  beginTransfer,
  transferPartner,
  type MovedKey,
} from '../../store/cluster/partner_transfer.js'
import type { Connection } from '../../store/postgres/connection.js'
import type { Store } from '../../store/store.js'
import { fingerprintOf, type IndexEntry } from '../cache/idempotency_index.js'
import {
  loadFingerprints,
  reloadTenants,
  type Memory,
  type MemoryOptions,
} from '../cache/memory.js'
import type { BooksClock } from '../cycle/books_clock.js'
import type { Pipeline, Release } from '../cycle/pipeline.js'
import type { Vault } from '../keys/vault.js'
import { loadEarlyFingerprints, type EarlyFingerprints } from './early_fingerprints.js'
import type { Member } from './member.js'

const LOOK_EVERY_MS = SECOND
/** While there is a move of this shard. */
const LOOK_SOON_MS = 50
/** While this shard waits for the other owner. */
const ASK_EVERY_MS = 20
/** Without a transaction by then, the owner of the other shard gives the move up. */
const HELD_WITHIN_MS = 3 * SECOND

export interface PartnerMoves {
  start(): void
  /** Resolves when no move is under way. */
  stop(): Promise<void>
  /** Runs it at once, or after the move that is under way. */
  whenFree(work: () => void): void
}

export interface PartnerMovesDependencies {
  readonly shard: string
  readonly moves: Member['moves']
  readonly connect: (purpose: string) => Promise<Connection>
  readonly store: Pick<Store, 'boot' | 'lastFingerprints' | 'fingerprintsAfter'> &
    Pick<Store, 'keyRows' | 'marks'>
  readonly memory: Memory
  readonly options: MemoryOptions
  readonly vault: Vault
  readonly clock: BooksClock
  readonly pipeline: Pick<Pipeline, 'hold'>
  readonly directory: {
    withdrawPartner(partner: PartnerId): void
    partnerLeft(partner: PartnerId): void
    partnerIsHere(partner: PartnerId): void
  }
  /** Called before the pipeline goes on. */
  readonly moved: (tenants: readonly TenantId[]) => void
  /** Reports of a rail about these payments follow the partner. */
  readonly left: (partner: PartnerId, payments: readonly string[]) => void
  /**
   * Ends the process, which has to read the books from the beginning. At once: its pipeline stays
   * held, so an orderly stop would wait for it.
   */
  readonly restart: (reason: string) => void
  /** Ends the process: its memory may differ from the books. */
  readonly failed: (reason: string, error: unknown) => void
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: Pause
  readonly log: Logger
}

export function createPartnerMoves(dependencies: PartnerMovesDependencies): PartnerMoves {
  const { shard, moves, store, memory, pipeline, directory, elapsed, pause, log } = dependencies
  const stopped = new AbortController()
  let running: Promise<void> = Promise.resolve()
  /** What waits for the end of a move. Null if none is under way. */
  let waiting: (() => void)[] | null = null

  const hold = async (): Promise<Release> => {
    const runs: (() => void)[] = []
    waiting = runs
    const release = await pipeline.hold()
    return (hasLeft) => {
      release(hasLeft)
      waiting = null
      for (const run of runs) run()
    }
  }

  const reload = (): Promise<void> => {
    const { vault, clock, options } = dependencies
    return reloadTenants(memory, store, vault, clock.now(), options)
  }

  const own = (): HeldAt => {
    const { epoch, lastBatch: batch } = store.marks.progress()
    return { epoch, batch }
  }

  const leave = async (move: PendingMove): Promise<void> => {
    const connection = await sessionFor(move, 'move')
    if (connection === undefined) return
    try {
      const obstacle =
        (await obstacleTo(connection, move)) ?? (await beginTransfer(connection, move))
      if (obstacle !== null) return await giveUp(move, obstacle)
      if (!(await moves.beginPartnerMove(move))) return
      const other = await heldByOther(move)
      if (other === undefined) await giveUp(move, `the owner of ${move.to} does not wait for it`)
      else await transfer(connection, move, other)
    } finally {
      await connection.close().catch(() => undefined)
    }
  }

  /** Undefined means that the server has none left. Nothing has begun, so the move is given up. */
  const sessionFor = async (
    move: PartnerMove,
    purpose: string,
  ): Promise<Connection | undefined> => {
    try {
      return await dependencies.connect(`${purpose} ${move.partner}`)
    } catch (error) {
      await giveUp(move, `the owner of ${shard} gets no session: ${String(error)}`)
      return undefined
    }
  }

  const giveUp = async (move: PartnerMove, cause: string): Promise<void> => {
    const { partner, from, to } = move
    if (await moves.giveUpPartnerMove(move, cause))
      log.error({ partner, from, to, cause }, 'move is given up')
  }

  /** Undefined when the move has ended meanwhile. */
  const heldByOther = async ({ partner }: PartnerMove): Promise<HeldAt | undefined> => {
    while (!stopped.signal.aborted) {
      const pending = await moves.pendingPartnerMoves(shard)
      const found = pending.find((each) => each.partner === partner)
      if (found === undefined) return undefined
      if (found.held !== null) return found.held
      await pause(ASK_EVERY_MS)
    }
    return undefined
  }

  const transfer = async (
    connection: Connection,
    { partner: name, from, to }: PendingMove,
    other: HeldAt,
  ): Promise<void> => {
    const partner = name as PartnerId
    const since = elapsed()
    directory.withdrawPartner(partner)
    const release = await hold()
    const entry = memory.partners.get(partner)
    memory.partners.delete(partner)
    for (const tenant of tenantsOf(partner)) memory.departed.add(tenant)
    crashPoint('partner_move.held')
    const held = { [from]: own(), [to]: other }
    const ended = await transferPartner(connection, { partner, from, to }, held)
    if (ended.kind !== 'moved') {
      if (entry !== undefined) memory.partners.set(partner, entry)
      for (const tenant of tenantsOf(partner)) memory.departed.delete(tenant)
      release(false)
      directory.partnerIsHere(partner)
      const cause = ended.kind === 'given_up' ? ended.cause : 'it has ended'
      return log.error({ partner, from, to, cause }, 'move is given up')
    }
    crashPoint('partner_move.moved')
    await reload()
    memory.keyIndex.remove(indexEntriesOf(ended.keys))
    dependencies.left(partner, ended.rest)
    dependencies.moved(tenantsOf(partner))
    memory.lastDepartureAt = dependencies.clock.now()
    directory.partnerLeft(partner)
    release(true)
    const { payments } = ended
    const heldMs = Math.round(elapsed() - since)
    log.info({ partner, from, to, payments, held_ms: heldMs }, 'partner moved')
  }

  const join = async (move: PendingMove): Promise<void> => {
    const partner = move.partner as PartnerId
    const connection = await sessionFor(move, 'fingerprints')
    if (connection === undefined) return
    const early = await loadEarly(connection, partner)
    const since = elapsed()
    const release = await hold()
    const last = await store.lastFingerprints()
    const { lastingKeys } = await store.keyRows()
    const at = own()
    const isHeld = await moves.holdForPartnerMove(move, at)
    if (!isHeld || (await endOf(move, at)) !== 'moved') {
      release(false)
      return early?.forget()
    }
    if ((await store.keyRows()).lastingKeys.length > lastingKeys.length)
      return dependencies.restart(`${partner} has come with keys of its former shard`)
    await reload()
    early?.use()
    await loadFingerprints(memory, store.fingerprintsAfter({ ...last, ...early?.last }))
    dependencies.clock.passed(memory.newestMoment)
    for (const tenant of tenantsOf(partner)) memory.departed.delete(tenant)
    dependencies.moved(tenantsOf(partner))
    release(false)
    directory.partnerIsHere(partner)
    const heldMs = Math.round(elapsed() - since)
    log.info(
      { partner, from: move.from, to: move.to, held_ms: heldMs },
      'partner moved to this shard',
    )
  }

  /** Fingerprints of what is set apart, so that no call waits for them. */
  const loadEarly = async (
    connection: Connection,
    partner: PartnerId,
  ): Promise<EarlyFingerprints | undefined> => {
    try {
      return await loadEarlyFingerprints(connection, memory, partner)
    } finally {
      await connection.close().catch(() => undefined)
    }
  }

  const endOf = async (move: PartnerMove, at: HeldAt): Promise<'moved' | 'given_up'> => {
    const since = elapsed()
    for (;;) {
      const state = await moves.partnerMoveState(move, at)
      if (state !== 'pending') return state
      const isLate = elapsed() - since > HELD_WITHIN_MS
      const cause = `the owner of ${move.from} has not moved it in time`
      if (isLate && (await moves.giveUpPartnerMove(move, cause))) return 'given_up'
      await pause(ASK_EVERY_MS)
    }
  }

  /** @returns whether there is a move of this shard */
  const look = async (): Promise<boolean> => {
    const pending = await moves.pendingPartnerMoves(shard)
    for (const move of pending) {
      if (move.from === shard && !move.isBegun) await leave(move)
      if (move.to === shard && move.isBegun && move.held === null) await join(move)
    }
    return pending.length > 0
  }

  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted)
      await pause((await look()) ? LOOK_SOON_MS : LOOK_EVERY_MS, stopped.signal)
  }

  return {
    start: () => {
      running = run().catch((error: unknown) =>
        dependencies.failed('the move of a partner failed', error),
      )
    },
    stop: () => {
      stopped.abort()
      return running
    },
    whenFree: (work) => {
      if (waiting === null) work()
      else waiting.push(work)
    },
  }
}

export const indexEntriesOf = (keys: readonly MovedKey[]): readonly IndexEntry[] =>
  keys.map(({ sequence, key }) => ({ ...fingerprintOf(key), sequence }))

const tenantsOf = (partner: PartnerId): readonly TenantId[] =>
  ENVIRONMENTS.map((environment) => tenantOf(partner, environment))
