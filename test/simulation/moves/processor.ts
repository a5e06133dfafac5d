/**
 * A processor of the cluster with simple books: entities with a state that grows, their events and
 * their payments. It waits for a shard, serves it, gives it up for a move, and moves partners to
 * and from it, with the product's own code.
 *
 * Owns: the order of start and stop, as in the composition root. Does not own: restarts, decisions
 * (books), the streams of gateways (streams).
 *
 * - Commands of one batch are answered after its commit, reads after the barrier.
 * - A drain answers every command that has arrived before the shard is released.
 */
import type { PartnerUpdate } from '../../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { PartnerUpdate__Output } from '../../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { Clock, Pause } from '../../../src/base/clock.js'
import { createMember, type Member } from '../../../src/processor/cluster/member.js'
import type { PeriodicWork } from '../../../src/base/periodic_work.js'
import { createPartnerCopies } from '../../../src/processor/cluster/partner_copies.js'
import {
  createPartnerMoves,
  indexEntriesOf,
  type PartnerMoves,
} from '../../../src/processor/cluster/partner_move.js'
import { createBooksClock } from '../../../src/processor/cycle/books_clock.js'
import type { Answer, Reply } from '../../../src/processor/cycle/answer.js'
import type { Command } from '../../../src/processor/cycle/command.js'
import {
  directoryService,
  type DirectoryService,
} from '../../../src/processor/servers/directory_stream.js'
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
import { SILENT_LOG as log } from '../../support/logs.js'
import { COMMIT } from '../books_server.js'
import type { Scheduler } from '../scheduler.js'
import { createBatches } from './batches.js'
import { loadBooks, MEMORY_OPTIONS, VAULT, type ShardBooks } from './books.js'
import type { MoveFault } from './faults.js'
import { movePayments, reportCommand, type OwnCommand } from './payment_timers.js'
import type { Effects, Moment } from './payments.js'
import type { SharedRail } from './rail.js'
import { startRecovery, type ProcessorRestores, type ShardRecovery } from './recovery.js'
import type { ClusterServer, Link, ServerConnection } from './server.js'
import { createStreams, type Arrived, type OpenStreams, type StreamEnds } from './streams.js'

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
  /** An operator's command. @throws Error when it ends before it has answered */
  ask(command: Command): Promise<Answer>
  /** The stream of announcements. @returns false: it does not listen */
  watch(ends: Pick<StreamEnds, 'announced' | 'ended'>): boolean
  /** The stream of commands. @returns undefined: it does not listen */
  open(ends: Omit<StreamEnds, 'announced'>): OpenStreams | undefined
  cluster(): Pick<Cluster, 'requestMove' | 'seenShards'> &
    Pick<Cluster, 'requestPartnerMove' | 'requestPartnerCopy' | 'keepPartner'>
  end(why: string): void
}

export interface ClusterProcessOptions {
  readonly name: string
  /** The shard that it takes first. Undefined if it is a spare. */
  readonly own: string | undefined
  readonly server: ClusterServer
  readonly scheduler: Scheduler
  readonly elapsed: () => number
  readonly clock: Clock
  readonly isReachable: () => boolean
  readonly isPaused: () => boolean
  readonly fault: MoveFault | undefined
  /** It sets rows of partners apart. */
  readonly copies: boolean
  /** Absent where the books are never set back. */
  readonly restores?: ProcessorRestores
  readonly rail: SharedRail
  readonly onEnd: (why: string) => void
  readonly onViolation: (violation: Error) => void
}

/** A call of a partner, or a command of an operator or of the processor itself. */
type Item = Arrived | OwnCommand

interface Decided {
  readonly effects: Effects
  reply(): void
}

/** Why a process ends whose books are behind a mark. */
export const REFUSED = 'refused'
/** Why one ends whose release is complete. */
export const RELEASED = 'released'
const CLOSE_WITHIN_MS = 5_000
const NEVER = new Promise<never>(() => undefined)

const received = ({ epoch, ...more }: PartnerUpdate): PartnerUpdate__Output => ({
  ...{ partners: [], token_keys: [], gone: [], shards: [], addresses: [] },
  ...{ complete: false, waiting: false, shard: '', epoch: String(epoch ?? 0) },
  ...(more as Partial<PartnerUpdate__Output>),
})

/** What a processor has while it serves a shard. */
interface Serving {
  readonly shard: string
  readonly held: OwnedConnection
  readonly writer: ServerConnection
  readonly books: ShardBooks
  readonly member: Member
  readonly directory: DirectoryService
  readonly recovery: ShardRecovery | undefined
  readonly moves: PartnerMoves
  readonly copies: PeriodicWork | undefined
}

export function startClusterProcess(options: ClusterProcessOptions): ClusterProcess {
  const { name, own, server, scheduler, elapsed, fault, restores, onViolation } = options
  const holder = holderOf(name, 'here')
  const endings: (() => void)[] = []
  const watchers = new Set<Pick<StreamEnds, 'announced' | 'ended'>>()
  let alive = true
  let taken: { readonly shard: string; readonly held: OwnedConnection } | undefined
  let serving: Serving | undefined
  let isDraining = false
  let isWithdrawn = false

  const link: Link = {
    holder,
    scheduler,
    isAlive: () => alive,
    isReachable: options.isReachable,
    isPaused: options.isPaused,
    onEnd: (call) => void endings.push(call),
  }
  const end = (why: string): void => {
    if (!alive) return
    alive = false
    scheduler.forget()
    for (const call of endings) call()
    for (const watcher of watchers) watcher.ended()
    streams.breakOff()
    options.onEnd(why)
  }
  const pause: Pause = (ms, signal) => {
    const due = elapsed() + ms
    return scheduler.inOrder(
      'look',
      () => Promise.resolve(),
      () => elapsed() >= due || signal?.aborted === true,
    )
  }
  const stop = (error: unknown): void => {
    const isOwner = serving !== undefined && !isWithdrawn
    end(isOwner ? `stopped: ${String(error)}` : 'stopped before it served')
  }
  /** Reads of the books wait for the server. */
  const read = <Result>(from: () => Result): Promise<Result> =>
    alive ? scheduler.inOrder('load', () => Promise.resolve(from()), options.isReachable) : NEVER

  /** @param moment that of all decisions of a batch */
  const decideOne = (item: Item, moment: Moment): Decided => {
    const { books, recovery } = serving!
    if ('command' in item) {
      const { answer, effects } = books.payments.run(item.command, moment)
      return { effects, reply: () => item.reply(answer) }
    }
    const era = restores?.timeline(item.call.partner) ?? 0
    const isReadOnly = recovery?.isReadOnly() === true
    const decision = isReadOnly ? books.readOnly(item.call) : books.decide(item.call, moment)
    return {
      effects: decision.effects,
      reply: () => {
        const mark = recovery?.mark()
        item.reply({ ...decision.reply, era, ...(mark === undefined ? {} : { mark }) })
      },
    }
  }
  const decide = async (batch: readonly Item[]): Promise<void> => {
    const { held, writer, recovery } = serving!
    const moment: Moment = {
      now: options.clock.now(),
      epoch: held.ownership().epoch,
      recovery: recovery?.current() ?? null,
      railUp: options.rail.isUp(),
    }
    const decided = batch.map((item) => decideOne(item, moment))
    const all = <Row>(of: (effects: Effects) => readonly Row[]): Row[] =>
      decided.flatMap(({ effects }) => of(effects))
    const [changes, payouts] = [all((each) => each.changes), all((each) => each.payouts)]
    const orphans = all((each) => each.orphans)
    if (changes.length + payouts.length + orphans.length > 0) {
      writer.prepare({ changes, payouts, orphans })
      await (recovery?.commit() ?? held.commit((epoch, number) => [epoch, number]))
    } else await (recovery ?? held).barrier()
    if (!alive) return
    sendToRail(all((each) => each.instructions))
    for (const { reply } of decided) reply()
  }
  const batches = createBatches<Item>({ decide, isAlive: () => alive, onFailure: stop })
  const submitOwn = (command: Command, reply: Reply = () => undefined): void => {
    if (alive && serving !== undefined && !isDraining) batches.submit({ command, reply })
  }
  const sendToRail = (sent: Effects['instructions']): void =>
    options.rail.send(sent, serving!.shard, (report) => submitOwn(reportCommand(report)))
  const streams = createStreams({
    submit: batches.submit,
    shown: (marks) => serving?.recovery?.shown(marks),
  })

  /** Ends with every stream, or after CLOSE_WITHIN_MS, and all that was answered. */
  const leave = async (whole: Serving): Promise<void> => {
    const { copies, moves, recovery, held, member, directory } = whole
    await copies?.stop()
    await moves.stop()
    isDraining = true
    directory.close()
    watchers.clear()
    await Promise.race([streams.drain(), pause(CLOSE_WITHIN_MS)])
    await batches.idle()
    await recovery?.close()
    await held.release()
    await member.close()
  }
  const moveAway = async (whole: Serving): Promise<void> => {
    isWithdrawn = true
    if (fault?.keepsAnnouncing !== true) whole.directory.withdraw()
    if (fault?.releasesFirst === true) await whole.held.release()
    await leave(whole)
    end('moved')
  }
  /** The restart that follows a release. */
  const restart = async (whole: Serving): Promise<void> => {
    await leave(whole)
    end(RELEASED)
  }

  const cluster = clusterOn(server.connect(link, 'cluster'), name)
  const open = async (
    schema: Parameters<Parameters<typeof awaitShard>[0]['open']>[0],
  ): Promise<{ readonly held: OwnedConnection; readonly writer: ServerConnection }> => {
    const writer = server.connect(link, schema.shard)
    const background = { ...writer, all: () => Promise.resolve([]) }
    try {
      const owned = { ...schema, connection: writer, background, statement: COMMIT }
      return { writer, held: await takeOwnership(owned) }
    } catch (error) {
      const isExpected = error instanceof TakenByAnother || error instanceof NoAnswer
      if (!isExpected) onViolation(error as Error)
      throw error
    }
  }
  const take = async () => {
    await cluster.setWaiting()
    if (own !== undefined) await cluster.addShard(own)
    const seenShards = async (): Promise<readonly SeenShard[]> => {
      const seen = await cluster.seenShards()
      if (fault?.takesEarly !== true) return seen
      return seen.map((each) => (each.moveTo === name ? { ...each, holder: '' } : each))
    }
    return awaitShard({
      ...{ cluster: { ...cluster, seenShards }, url: '', holder, shard: own, elapsed, pause, log },
      ...{ booksVersion: 1, address: `${name}:1` },
      gateways: () => 0,
      masterKeys: () => [],
      failedLoad: () => undefined,
      onWaiting: () => undefined,
      open,
    })
  }
  /** The moves of partners to and from the shard, as in the composition root. */
  const partnerMoves = (whole: Omit<Serving, 'moves' | 'copies'>): PartnerMoves => {
    const { shard, held, books, member, directory } = whole
    const progress = () => ({ booksId: shard, ...held.ownership() })
    return createPartnerMoves({
      ...{ shard, moves: member.moves, memory: books.memory, directory, elapsed, pause, log },
      store: { ...books.store, marks: { progress } as never },
      ...{ options: MEMORY_OPTIONS, vault: VAULT, clock: createBooksClock(options.clock) },
      pipeline: fault?.goesOn === true ? GOES_ON : batches,
      connect: () => Promise.resolve(server.connectForMove(link)),
      ...{ moved: () => undefined, left: () => undefined },
      restart: (reason) => end(`stopped: ${reason}`),
      failed: (reason, error) => {
        if (alive) end(`stopped: ${reason}: ${String(error)}`)
      },
    })
  }
  const partnerCopies = ({
    shard,
    books: { memory },
    member,
  }: Pick<Serving, 'shard' | 'books' | 'member'>): PeriodicWork =>
    createPartnerCopies({
      ...{ shard, moves: member.moves, elapsed, pause, log },
      connect: () => Promise.resolve(server.connectForMove(link)),
      willLeave: () => undefined,
      forget: (keys) => memory.keyIndex.remove(indexEntriesOf(keys)),
    })
  const start = async (): Promise<void> => {
    const { shard, books: owned } = await take()
    const { held, writer } = owned
    taken = { shard, held }
    held.onFailure(stop)
    const books = await loadBooks(() => read(() => server.books(shard)), fault)
    const { epoch } = held.ownership()
    const member = await createMember({ cluster, shard, epoch, elapsed, pause, log })
    member.onFailure(stop)
    await member.adopt([...books.memory.partners.keys()]).catch((error: unknown) => {
      onViolation(error as Error)
      return NEVER
    })
    const recovery = restores && (await recoveryOf(shard, held, writer, member, restores))
    const info = { shard, epoch: () => held.ownership().epoch, shards: member.shards }
    const directory = directoryService(books.memory, VAULT, info, () => Promise.resolve())
    const opened = { shard, held, writer, books, member, directory, recovery }
    const copies = options.copies ? partnerCopies(opened) : undefined
    const whole: Serving = { ...opened, moves: partnerMoves(opened), copies }
    recovery?.serving(() => void restart(whole).catch(stop))
    member.onMove(() => void moveAway(whole).catch(stop))
    serving = whole
    await member.serve(`${name}:1`, recovery?.isActive === true, () => streams.size)
    if (recovery?.isActive === true) return
    whole.moves.start()
    copies?.start()
    if (restores !== undefined) void startPayments(whole)
  }
  const startPayments = ({ shard, books }: Pick<Serving, 'shard' | 'books'>): Promise<void> =>
    movePayments({
      ...{ books, pause, clock: options.clock, submit: submitOwn, send: sendToRail },
      unsubmitted: (after) => read(() => server.unsubmitted(shard, after)),
      railUp: options.rail.isUp,
      isEnding: () => !alive || isDraining,
    })
  const recoveryOf = async (
    shard: string,
    held: OwnedConnection,
    writer: ServerConnection,
    member: Member,
    given: ProcessorRestores,
  ): Promise<ShardRecovery> => {
    const stored = await read(() => server.recovery(shard))
    return startRecovery({
      ...{ ...given, shard, stored, fault, clock: options.clock, pause },
      ...{ held, writer, publishedEpoch: member.publishedEpoch },
      refuse: () => end(REFUSED),
    })
  }
  void start().catch(stop)

  return {
    name,
    isAlive: () => alive,
    shard: () => (alive && !isWithdrawn ? serving?.shard : undefined),
    epoch: () => taken?.held.ownership().epoch ?? 0,
    taken: () => taken?.shard,
    isInRecovery: () => serving?.recovery?.isActive === true,
    release: () => batches.between(() => serving!.recovery!.release()),
    ask: (command) =>
      new Promise((resolve, reject) => {
        const failed = (): void => reject(new Error(`${name} does not answer`))
        if (!alive || serving === undefined || isDraining) return failed()
        endings.push(failed)
        submitOwn(command, resolve)
      }),
    cluster: () => cluster,
    end,
    watch: (ends) => {
      if (!alive || serving === undefined || isDraining) return false
      watchers.add(ends)
      serving.directory.handlers.WatchPartners({
        write: (update: PartnerUpdate) => alive && ends.announced(received(update)),
        ...{ end: () => alive && ends.ended(), destroy: onViolation, on: () => undefined },
      } as never)
      return true
    },
    open: (ends) => (alive && serving !== undefined ? streams.open(ends) : undefined),
  }
}

/** It holds nothing: a planted fault. */
const GOES_ON = { hold: () => Promise.resolve(() => undefined) }
