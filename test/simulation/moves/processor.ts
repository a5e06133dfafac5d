/**
 * A processor of the cluster with simple books: entities with a state that grows, and their events.
 * It waits for a shard, serves it, and gives it up for a move, with the product's own code.
 *
 * Owns: the order of start and stop, as in the composition root. Does not own: restarts.
 *
 * - Commands of one batch are answered after its commit, reads after the barrier.
 * - A drain answers every command that has arrived before the shard is released.
 */
import type { PartnerUpdate__Output } from '../../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type {
  ProgressMark,
  ProgressMark__Output,
} from '../../../protos/types/causeway/internal/v1/ProgressMark.js'
import type { Clock } from '../../../src/base/clock.js'
import { createLog } from '../../../src/base/log.js'
import { createMember, type Member } from '../../../src/processor/cluster/member.js'
import { NoAnswer } from '../../../src/store/postgres/answers.js'
import { awaitShard } from '../../../src/store/cluster/candidate.js'
import {
  clusterOn,
  holderOf,
  type Cluster,
  type SeenShard,
} from '../../../src/store/cluster/cluster.js'
import { takeOwnership, TakenByAnother } from '../../../src/store/postgres/ownership.js'
import type { OwnedConnection } from '../../../src/store/postgres/ownership.js'
import { COMMIT } from '../books_server.js'
import type { Scheduler } from '../scheduler.js'
import type { MoveFault } from './faults.js'
import { startRecovery, type ProcessorRestores, type ShardRecovery } from './recovery.js'
import type { ClusterServer, EntityRow, Link, ServerConnection } from './server.js'

/** A call of a partner: creates the entity of its key, advances its state, or reads it. */
export interface KeyedCall {
  readonly kind: 'create' | 'advance' | 'read'
  readonly partner: string
  readonly key: string
}

export interface Reply {
  /** Empty means that it was accepted. */
  readonly code: '' | 'not_here' | 'not_found' | 'configuration_error'
  readonly entity: string
  readonly state: number
  /** The number of restores before it. */
  readonly era: number
  /** Absent where the books are never set back. */
  readonly mark?: ProgressMark__Output
}

/** The gateway's end of a stream to a processor. */
export interface StreamEnds {
  announced(update: PartnerUpdate__Output): void
  draining(): void
  replied(ticket: number, reply: Reply): void
  /** The stream has ended. */
  ended(): void
}

/** The processor's end of a stream of commands. */
export interface OpenStreams {
  /** The marks that the gateway has, before its first call. */
  show(marks: readonly ProgressMark[]): void
  submit(ticket: number, call: KeyedCall): void
  /** No command follows. */
  endCommands(): void
}

export interface ClusterProcess {
  readonly name: string
  isAlive(): boolean
  /** The shard that it serves. */
  shard(): string | undefined
  /** The shard that it has taken. */
  taken(): string | undefined
  epoch(): number
  isInRecovery(): boolean
  /** An operator releases its books. */
  release(): void
  /** The stream of announcements. @returns false: it does not listen */
  watch(ends: Pick<StreamEnds, 'announced' | 'ended'>): boolean
  /** The stream of commands. @returns undefined: it does not listen */
  open(ends: Omit<StreamEnds, 'announced'>): OpenStreams | undefined
  cluster(): Pick<Cluster, 'requestMove' | 'seenShards'>
  end(why: string): void
}

export interface ClusterProcessOptions {
  readonly name: string
  /** The shard that it takes first. Undefined if it is a spare. */
  readonly own: string | undefined
  readonly partnersOf: (shard: string) => readonly string[]
  readonly server: ClusterServer
  readonly scheduler: Scheduler
  readonly elapsed: () => number
  readonly clock: Clock
  readonly isReachable: () => boolean
  readonly fault: MoveFault | undefined
  /** Absent where the books are never set back. */
  readonly restores?: ProcessorRestores
  readonly onEnd: (why: string) => void
  readonly onViolation: (violation: Error) => void
}

interface GatewayStream {
  readonly ends: Omit<StreamEnds, 'announced'>
  unanswered: number
  isEnding: boolean
}

interface Arrived {
  readonly stream: GatewayStream
  readonly ticket: number
  readonly call: KeyedCall
}

const log = createLog('simulation', { LOG_LEVEL: 'silent' })
/** Why a process ends whose books are behind a mark. */
export const REFUSED = 'refused'
/** Why one ends whose release is complete. */
export const RELEASED = 'released'
const CLOSE_WITHIN_MS = 5_000

export const update = (more: Partial<PartnerUpdate__Output>): PartnerUpdate__Output => ({
  ...{ partners: [], token_keys: [], gone: [], shards: [], addresses: [] },
  ...{ complete: false, waiting: false, shard: '', epoch: '0' },
  ...more,
})

export function startClusterProcess(options: ClusterProcessOptions): ClusterProcess {
  const { name, own, server, scheduler, elapsed, fault, restores, onViolation } = options
  const holder = holderOf(name, 'here')
  const endings: (() => void)[] = []
  let alive = true
  let isServing = false
  let shard: string | undefined
  let held: OwnedConnection | undefined
  let writer: ServerConnection | undefined
  const streams = new Set<GatewayStream>()
  const watchers = new Set<Pick<StreamEnds, 'announced' | 'ended'>>()
  const entities = new Map<string, EntityRow>()
  const sequences = new Map<string, number>()
  let queue: Arrived[] = []
  let isBusy = false
  let isDraining = false
  let isWithdrawn = false
  let recovery: ShardRecovery | undefined
  let isReleasing = false
  let onIdle: () => void = () => undefined

  const link: Link = {
    holder,
    scheduler,
    isAlive: () => alive,
    isReachable: options.isReachable,
    onEnd: (call) => void endings.push(call),
  }
  const end = (why: string): void => {
    if (!alive) return
    alive = false
    isServing = false
    scheduler.forget()
    for (const call of endings) call()
    for (const ends of [...watchers, ...[...streams].map((stream) => stream.ends)]) ends.ended()
    options.onEnd(why)
  }
  const pause = (ms: number): Promise<void> => {
    const due = elapsed() + ms
    return scheduler.inOrder(
      'look',
      () => Promise.resolve(),
      () => elapsed() >= due,
    )
  }
  const stop = (error: unknown): void => {
    const isOwner = held !== undefined && isServing && !isWithdrawn
    if (isOwner) return end(`stopped: ${String(error)}`)
    end('stopped before it served')
  }

  const load = async (books: string): Promise<void> => {
    for (const row of await server.entities(books)) {
      entities.set(row.key, row)
      sequences.set(row.partner, row.sequence)
    }
  }

  /** Decides a batch: the new rows, and the replies that follow their commit. */
  const decide = (batch: readonly Arrived[]): readonly [EntityRow[], (() => void)[]] => {
    const rows: EntityRow[] = []
    const replies: (() => void)[] = []
    for (const { stream, ticket, call } of batch) {
      const before = entities.get(call.key)
      const isHere = options.partnersOf(shard!).includes(call.partner)
      const changes =
        isHere && (before === undefined ? call.kind === 'create' : call.kind === 'advance')
      let after = before
      const isRefused = changes && recovery?.isReadOnly() === true
      if (changes && !isRefused) {
        const sequence = (sequences.get(call.partner) ?? 0) + 1
        const id = before?.id ?? `${call.key}@${held!.ownership().epoch}`
        after = { ...call, id, state: (before?.state ?? 0) + 1, sequence }
        rows.push(after)
        entities.set(call.key, after)
        sequences.set(call.partner, sequence)
      }
      const code = isRefused
        ? 'configuration_error'
        : !isHere
          ? 'not_here'
          : after === undefined
            ? 'not_found'
            : ''
      const era = restores?.timeline() ?? 0
      const reply: Reply = { code, entity: after?.id ?? '', state: after?.state ?? 0, era }
      replies.push(() => {
        stream.unanswered -= 1
        const mark = recovery?.mark()
        stream.ends.replied(ticket, mark === undefined ? reply : { ...reply, mark })
        endAnswered(stream)
      })
    }
    return [rows, replies]
  }
  const endAnswered = (stream: GatewayStream): void => {
    if (!stream.isEnding || stream.unanswered > 0 || !streams.delete(stream)) return
    stream.ends.ended()
    if (streams.size === 0) onIdle()
  }
  const work = async (): Promise<void> => {
    while (alive && (queue.length > 0 || isReleasing)) {
      if (isReleasing) {
        isReleasing = false
        await recovery!.release()
        continue
      }
      const batch = queue
      queue = []
      const [rows, replies] = decide(batch)
      if (rows.length > 0) {
        writer!.prepare(rows)
        await (recovery?.commit() ?? held!.commit((epoch, number) => [epoch, number]))
      } else await (recovery ?? held!).barrier()
      if (alive) for (const reply of replies) reply()
    }
  }
  const pump = (): void => {
    if (isBusy || !alive) return
    isBusy = true
    work().then(() => {
      isBusy = false
      if (queue.length > 0) pump()
      else onIdle()
    }, stop)
  }

  /** Resolves when every stream has ended, or after CLOSE_WITHIN_MS, and all is answered. */
  const drained = async (): Promise<void> => {
    isDraining = true
    for (const watcher of watchers) watcher.ended()
    watchers.clear()
    for (const { ends } of streams) ends.draining()
    const closed = new Promise<void>((resolve) => {
      onIdle = () => {
        if (streams.size === 0) resolve()
      }
      onIdle()
    })
    await Promise.race([closed, pause(CLOSE_WITHIN_MS)])
    await new Promise<void>((resolve) => {
      onIdle = () => {
        if (!isBusy) resolve()
      }
      onIdle()
    })
  }
  const moveAway = async (member: Member): Promise<void> => {
    isWithdrawn = true
    const gone = [...options.partnersOf(shard!)]
    if (fault?.keepsAnnouncing !== true)
      for (const watcher of watchers) watcher.announced(update({ gone }))
    if (fault?.releasesFirst === true) await held!.release()
    await drained()
    await recovery?.close()
    await held!.release()
    await member.close()
    end('moved')
  }

  /** The restart that follows a release. */
  const restart = async (member: Member): Promise<void> => {
    await drained()
    await recovery!.close()
    await held!.release()
    await member.close()
    end(RELEASED)
  }

  const cluster = clusterOn(server.connect(link, 'cluster'), name)
  const start = async (): Promise<void> => {
    await cluster.setWaiting()
    if (own !== undefined) await cluster.addShard(own)
    const seenShards = async (): Promise<readonly SeenShard[]> => {
      const seen = await cluster.seenShards()
      if (fault?.takesEarly !== true) return seen
      return seen.map((each) => (each.moveTo === name ? { ...each, holder: '' } : each))
    }
    const owned = await awaitShard({
      ...{ cluster: { ...cluster, seenShards }, url: '', holder, shard: own, elapsed, pause, log },
      ...{ booksVersion: 1, address: `${name}:1` },
      gateways: () => 0,
      masterKeys: () => [],
      failedLoad: () => undefined,
      onWaiting: () => undefined,
      open: async (schema) => {
        const connection = server.connect(link, schema.shard)
        const background = { ...connection, all: () => Promise.resolve([]) }
        try {
          const taken = await takeOwnership({
            ...schema,
            ...{ connection, background, statement: COMMIT },
          })
          writer = connection
          return taken
        } catch (error) {
          const isExpected = error instanceof TakenByAnother || error instanceof NoAnswer
          if (!isExpected) onViolation(error as Error)
          throw error
        }
      },
    })
    shard = owned.shard
    held = owned.books
    held.onFailure(stop)
    await scheduler.inOrder('load', () => load(owned.shard))
    const { epoch } = held.ownership()
    const member = await createMember({ cluster, shard, epoch, elapsed, pause, log })
    member.onFailure(stop)
    if (restores !== undefined) {
      const stored = await scheduler.inOrder('load', () => server.recovery(owned.shard))
      recovery = await startRecovery({
        ...{ ...restores, shard, stored, fault, clock: options.clock, pause },
        ...{ held: owned.books, writer: writer!, publishedEpoch: member.publishedEpoch },
        refuse: () => end(REFUSED),
      })
      recovery.serving(() => void restart(member).catch(stop))
    }
    member.onMove(() => void moveAway(member).catch(stop))
    isServing = true
    await member.serve(`${name}:1`, recovery?.isActive === true, () => streams.size)
  }
  void start().catch(stop)

  return {
    name,
    isAlive: () => alive,
    shard: () => (isServing && !isWithdrawn ? shard : undefined),
    epoch: () => held?.ownership().epoch ?? 0,
    taken: () => shard,
    isInRecovery: () => recovery?.isActive === true,
    release: () => {
      isReleasing = true
      pump()
    },
    cluster: () => cluster,
    end,
    watch: (ends) => {
      if (!isServing || isDraining) return false
      watchers.add(ends)
      const partners = isWithdrawn ? [] : options.partnersOf(shard!)
      const epoch = String(held!.ownership().epoch)
      ends.announced(update({ shard: isWithdrawn ? '' : shard!, epoch }))
      const all = partners.map((partner_id) => ({
        ...{ partner_id, keys: [], allowed_ips: [], packages: [], rate_limit_per_second: 0 },
      }))
      ends.announced(update({ partners: all, complete: true }))
      return true
    },
    open: (ends) => {
      if (!isServing) return undefined
      const stream: GatewayStream = { ends, unanswered: 0, isEnding: false }
      streams.add(stream)
      if (isDraining) ends.draining()
      return {
        show: (marks) => recovery?.shown(marks),
        submit: (ticket, call) => {
          stream.unanswered += 1
          queue.push({ stream, ticket, call })
          pump()
        },
        endCommands: () => {
          stream.isEnding = true
          endAnswered(stream)
        },
      }
    },
  }
}
