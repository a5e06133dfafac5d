/**
 * The command pipeline: gather, prefetch, decide, stage, commit, release.
 *
 * Owns: the order of these steps. Does not own: decisions (processor/commands), the database
 * (store), transports (processor/servers).
 *
 * - Nothing is answered, sent to the rail or published before its batch is on disk. A read that was
 *   decided on a staged change waits for the commit of that change.
 * - Batches are committed one at a time, in the order they were decided. While one commit is in
 *   flight the next batch gathers, so batches grow with load.
 * - A commit that fails has an unknown outcome: none of its commands is answered, and the process
 *   stops and recovers from disk.
 * - A command that throws before it changed anything is answered with an error, and a corrupt row
 *   is logged and counted. A command that throws half-way stops the process.
 * - While the pipeline is held, commands wait undecided: nothing changes in memory or on disk.
 * - A nonce is kept for as long as its request is accepted, whatever the clock of a gateway says:
 *   the timestamp of the request is judged here too (SIGNED_WITHIN_MS).
 * - One batch at a time is prefetched and decided; eviction happens only between two of them, so a
 *   prefetched row stays in memory until it is decided on (cache/row_cache).
 */
import { newFingerprint } from '../../auth/fingerprint.js'
import { NONCE_KEPT_MS } from '../../auth/nonces.js'
import { assert } from '../../base/assert.js'
import {
  BATCH_MAX,
  COMMIT_BATCH_CHANGES_MAX,
  NONCE_WINDOW_MS,
  QUEUE_MAX,
  DECIDE_CHUNK_MAX,
} from '../../base/constants.js'
import { instant, type Clock, type Instant } from '../../base/clock.js'
import { createFairQueue } from '../../base/fair_queue.js'
import { CorruptRow } from '../../base/corrupt_row.js'
import { crashPoint } from '../../base/crash_point.js'
import type { ErrorCode, Refusal } from '../../base/errors.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import type { Traceparent } from '../../base/traceparent.js'
import type { RailInstruction } from '../../rails/rail.js'
import type { Store } from '../../store/store.js'
import type { Tracer } from '../../tracing/tracer.js'
import type { Rules } from './rules.js'
import type { CommandContext, QueueKey, RailStates, SignedBy, Work } from './command.js'
import { refuse } from './answer.js'
import { createCommandTraces, type CommandTraces } from './command_traces.js'
import {
  createCommitBatch,
  type CommitBatch,
  type CommittedEvent,
  type LoggedAction,
  type NonceCleanup,
  type Transition,
} from './commit_batch.js'
import { isActiveKey } from '../cache/tenant_directory.js'
import { evict, isReadOnly, type Memory } from '../cache/memory.js'
import { createNeeds } from './needs.js'
import type { Origin } from './origin.js'
import type { Vault } from '../keys/vault.js'

export interface PipelineDependencies {
  readonly clock: Clock
  /** Judges when requests were signed: `clock` is ahead while the books are. Default: `clock`. */
  readonly requestClock?: Clock
  readonly random: Random
  readonly store: Store
  readonly memory: Memory
  readonly vault: Vault
  readonly rules: Rules
  readonly log: Logger
  readonly yieldToEventLoop: () => Promise<void>
  readonly rail: RailStates & {
    send(instructions: readonly RailInstruction[], rail: string): void
  }
  /** Takes committed events, in order. */
  readonly publish: (events: readonly CommittedEvent[]) => void
  /** Called with the changes of a commit that are logged. */
  readonly logChanges?: (
    transitions: readonly Transition[],
    actions: readonly LoggedAction[],
  ) => void
  /** Called with the directory entries that a commit changed. */
  readonly directoryChanged: (partners: ReadonlySet<string>, endpoints: ReadonlySet<string>) => void
  /** Free disk space is below the reserve. */
  readonly diskIsLow: () => boolean
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined
  /** Default: nothing is measured. */
  readonly meter?: PipelineMeter
  /** Stops the process at once; called when memory may differ from disk. */
  readonly stop: (reason: string, error: unknown) => void
}

export interface Pipeline {
  /** Queues a command, or answers 503 at once when the queue is full. */
  submit(work: Work): void
  /** Resolves when all submitted commands have been released. */
  idle(): Promise<void>
  /** Resolves when the commands that were submitted before have been released; later ones wait. */
  hold(): Promise<Release>
  readonly metrics: PipelineMetrics
}

/** Takes measurements of commands and commits, in milliseconds. */
export interface PipelineMeter {
  /** Milliseconds on a clock that is never set back. */
  now(): number
  waited(ms: number): void
  committed(commands: number, ms: number): void
  refused(work: Pick<Work, 'command' | 'queueKey' | 'origin'>, refusal: Refusal): void
}

const NO_METER: PipelineMeter = {
  now: () => 0,
  waited: () => undefined,
  committed: () => undefined,
  refused: () => undefined,
}

/**
 * Lets the waiting commands go on.
 *
 * @param hasLeft a partner has left the books: commands of operators and webhook pools, which may
 *   be for its next ones, are refused and can be repeated
 */
export type Release = (hasLeft: boolean) => void

export interface PipelineMetrics {
  commands: number
  commits: number
  events: number
  /** Those without an endpoint that subscribes to them. */
  unsubscribedEvents: number
  dropped: number
  refusedFull: number
  refusedDiskLow: number
  refusedSettingsFault: number
  refusedInRecovery: number
  refusedUnverified: number
  waiting(): number
}

/** One context serves the commands of a chunk; only origin and screening differ. */
type ChunkContext = Omit<CommandContext, 'origin' | 'screening' | 'joinTrace'> & {
  origin: Origin
  screening: Work['screening']
  joinTrace?: (stored: Traceparent) => void
}
const OWN_ORIGIN: Origin = { cause: 'service', requestId: null }

const isOfOthers = ({ origin: { cause } }: Work): boolean =>
  cause === 'operator' || cause === 'webhook_pool'

/** Twice that is the time for which a nonce is kept. It allows for clocks that differ a little. */
const SIGNED_WITHIN_MS = NONCE_KEPT_MS / 2

/** A cleanup deletes more rows than this many commits add. */
const CLEAN_NONCES_EVERY_COMMITS = 64

export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { clock, store, memory, log, yieldToEventLoop, meter = NO_METER } = dependencies
  const { requestClock = clock } = dependencies
  const queue = createFairQueue<QueueKey, Work>()
  const { tracer } = dependencies
  const traces = tracer === undefined ? undefined : createCommandTraces(tracer)
  let gathering = createCommitBatch(1)
  let committedBatch = 0
  let deciding = false
  let committing = false
  let stopped = false
  let idleWaiters: (() => void)[] = []
  /** What was submitted while the pipeline is held. Null if it is not. */
  let held: Work[] | null = null
  let released: Promise<void> = Promise.resolve()
  const scratch = newFingerprint()
  /** The time of `requestClock` in the chunk. */
  let requestsNow = requestClock.now()
  const metrics: PipelineMetrics = {
    commands: 0,
    commits: 0,
    events: 0,
    unsubscribedEvents: 0,
    dropped: 0,
    refusedFull: 0,
    refusedDiskLow: 0,
    refusedSettingsFault: 0,
    refusedInRecovery: 0,
    refusedUnverified: 0,
    waiting: () => queue.size + (held?.length ?? 0),
  }

  const submit = (work: Work): void => {
    if (stopped) return
    if (work.queueKey !== 'internal' && isFullFor(work.queueKey)) {
      metrics.refusedFull += 1
      work.reply(refuse('configuration_error'))
      return
    }
    work.queuedAt = meter.now()
    if (held !== null) held.push(work)
    else enqueue(work)
  }

  /** A tenant may have as many waiting as it leaves free: it cannot fill the queue for others. */
  const isFullFor = (queueKey: QueueKey): boolean =>
    queue.count(queueKey) >= QUEUE_MAX - metrics.waiting()

  const enqueue = (work: Work): void => {
    queue.add(work.queueKey, work)
    if (!deciding)
      void decideAll().catch((error: unknown) => stop('the command pipeline failed', error))
  }

  const decideAll = async (): Promise<void> => {
    deciding = true
    await yieldToEventLoop() // commands that arrive in the same event-loop iteration join the batch
    while (queue.size > 0 && !stopped) {
      evict(memory, committedBatch)
      const batch = queue.take(BATCH_MAX)
      await prefetch(batch)
      for (let start = 0; start < batch.length && !stopped; start += DECIDE_CHUNK_MAX) {
        if (gathering.changes >= COMMIT_BATCH_CHANGES_MAX) await batchHasCapacity()
        decideChunk(batch, start, Math.min(start + DECIDE_CHUNK_MAX, batch.length))
        startCommit()
        await yieldToEventLoop()
      }
    }
    deciding = false
    settleIdle()
  }

  /** A command that names no missing row has all of its rows; only the others are asked again. */
  const prefetch = async (batch: readonly Work[]): Promise<void> => {
    let waiting = batch
    for (;;) {
      const needs = createNeeds(memory)
      waiting = waiting.filter(({ command }) => {
        const before = needs.missing()
        try {
          command.needs(needs, memory)
        } catch (error) {
          log.error(
            { error, command: command.name },
            'the rows that a command needs could not be determined',
          )
        }
        return needs.missing() > before
      })
      if (waiting.length === 0) return
      needs.fill(await store.load(needs.wanted()))
    }
  }

  const decideChunk = (batch: readonly Work[], start: number, end: number): void => {
    const now = clock.now()
    requestsNow = requestClock.now()
    const meterNow = meter.now()
    const ctx: ChunkContext = {
      origin: OWN_ORIGIN,
      screening: undefined,
      now,
      random: dependencies.random,
      rails: dependencies.rail,
      memory,
      batch: gathering,
      vault: dependencies.vault,
      rules: dependencies.rules,
    }
    for (let i = start; i < end && !stopped; i++) {
      const work = batch[i]!
      meter.waited(meterNow - (work.queuedAt ?? meterNow))
      ctx.screening = work.screening
      if (traces === undefined) ctx.origin = work.origin
      else beginTrace(traces, work, ctx)
      decideOne(work, ctx)
    }
  }

  const beginTrace = (traces: CommandTraces, work: Work, ctx: ChunkContext): void => {
    ctx.origin = traces.begin(work)
    ctx.joinTrace = (stored) => {
      ctx.origin = traces.join(work, ctx.origin, stored)
    }
  }

  const decideOne = (work: Work, ctx: ChunkContext): void => {
    if (work.deadline !== null && ctx.now > work.deadline) {
      metrics.dropped += 1
      return work.reply(refuse('timeout'))
    }
    metrics.commands += 1
    const commitBatch = ctx.batch
    if (memory.departed.size > 0 && hasDeparted(work))
      return commitBatch.addReply(work.reply, refuse('configuration_error'))
    const fault = work.signedBy === null ? null : signatureFault(work.signedBy, work, ctx)
    if (fault !== null) return commitBatch.addReply(work.reply, refuse(fault))
    if (memory.settingsFault !== null && isWriteOfPartner(work)) {
      metrics.refusedSettingsFault += 1
      return commitBatch.addReply(work.reply, refuse('configuration_error'))
    }
    if (dependencies.diskIsLow() && isWriteOfPartner(work)) {
      metrics.refusedDiskLow += 1
      return commitBatch.addReply(work.reply, refuse('configuration_error'))
    }
    if (isReadOnly(memory) && work.command.allowedInRecovery !== true) {
      if (memory.isUnverified) metrics.refusedUnverified += 1
      else metrics.refusedInRecovery += 1
      const isNamed = memory.recovery !== null && work.origin.cause === 'operator'
      const code = isNamed ? 'recovery_active' : 'configuration_error'
      return commitBatch.addReply(work.reply, refuse(code))
    }
    const before = commitBatch.changes
    try {
      const decided = work.command.decide(ctx)
      if (!decided.ok) meter.refused(work, decided)
      commitBatch.addReply(work.reply, decided)
      const span = traces?.decided(work, ctx.origin, decided)
      if (span !== undefined) commitBatch.spans.push(span)
    } catch (error) {
      if (commitBatch.changes !== before) return stop(`${work.command.name} failed half-way`, error)
      logFailure(error, work.command.name)
      commitBatch.addReply(work.reply, refuse('internal_error'))
    }
  }

  const logFailure = (error: unknown, command: string): void => {
    if (!(error instanceof CorruptRow)) return log.error({ error, command }, 'command failed')
    const { entity } = error
    if (!memory.corruptRows.add(entity)) return
    log.error({ error, entity_id: entity, command }, 'corrupt row; commands that need it fail')
  }

  const hasDeparted = ({ queueKey }: Work): boolean =>
    queueKey !== 'internal' && memory.departed.has(queueKey)

  /**
   * Refused below the disk reserve (the nonces of reads take little space), and while a setting for
   * all shards cannot be applied. Payments in progress and operators go on.
   */
  const isWriteOfPartner = ({ queueKey, command }: Work): boolean =>
    queueKey !== 'internal' && command.allowedInRecovery !== true

  /**
   * Consumes the nonce, or returns the error code of the refusal. The key is checked again because
   * a revocation may not have reached the gateway yet, the timestamp because the gateway's clock
   * may be wrong. A full nonce table is a 503, because it must not make valid calls look like
   * replays.
   */
  const signatureFault = (
    { keyId, nonce, signedAt }: SignedBy,
    { queueKey }: Work,
    ctx: CommandContext,
  ): ErrorCode | null => {
    const { nonces } = memory
    const key = memory.keys.get(keyId)
    if (key === undefined || key.tenant !== queueKey) return 'authentication_failed'
    if (!isActiveKey(key, ctx.now)) return 'authentication_failed'
    if (Math.abs(requestsNow - (signedAt ?? requestsNow)) > SIGNED_WITHIN_MS)
      return 'authentication_failed'
    if (nonces.isFull(ctx.now)) return 'configuration_error'
    nonces.fingerprint(key.tenant, nonce, scratch)
    if (!nonces.add(scratch, ctx.now)) return 'authentication_failed'
    ctx.batch.addNonce(scratch)
    memory.lastSignedAt = ctx.now
    return null
  }

  let capacityWaiter: (() => void) | null = null
  const batchHasCapacity = (): Promise<void> =>
    new Promise((resolve) => {
      capacityWaiter = () => {
        capacityWaiter = null
        resolve()
      }
    })

  const startCommit = (): void => {
    if (committing || stopped) return
    if (!gathering.hasRows() && !gathering.hasReplies()) return
    const commitBatch = gathering
    gathering = createCommitBatch(commitBatch.number + 1)
    committing = true
    void commit(commitBatch).then(
      () => {
        committing = false
        startCommit()
        capacityWaiter?.() // Not before: the full batch would take a further chunk.
        settleIdle()
      },
      (error: unknown) => stop('commit failed with an unknown outcome', error),
    )
  }

  const commit = async (commitBatch: CommitBatch): Promise<void> => {
    const startedAt = traces?.now() ?? 0
    if (commitBatch.hasRows()) {
      const now = clock.now()
      const began = meter.now()
      crashPoint('commit.decided')
      await store.commit(commitBatch.toCommit(now, nonceCleanup(now)))
      crashPoint('commit.stored')
      metrics.commits += 1
      meter.committed(commitBatch.replyCount(), meter.now() - began)
    } else await store.barrier()
    committedBatch = commitBatch.number
    release(commitBatch)
    if (traces === undefined || commitBatch.spans.length === 0) return
    const commands = commitBatch.replyCount()
    const endedAt = traces.now()
    traces.committed(commitBatch.spans, commitBatch.transitions, { startedAt, endedAt, commands })
  }

  /**
   * Every CLEAN_NONCES_EVERY_COMMITS commits a bounded number of the oldest nonce rows is deleted,
   * but none that the nonce table holds, even after a clock change. Rows written while the clock
   * was ahead are deleted too: left in place they would block the deletion of all later rows.
   */
  const nonceCleanup = (now: Instant): NonceCleanup | null => {
    if (metrics.commits % CLEAN_NONCES_EVERY_COMMITS !== 0) return null
    const { nonces } = memory
    const before = instant(Math.min(now - 2 * NONCE_WINDOW_MS, nonces.heldSince()))
    return { before, after: nonces.heldUntil() }
  }

  const release = (commitBatch: CommitBatch): void => {
    commitBatch.sendReplies()
    crashPoint('commit.answered')
    const { transitions, actions } = commitBatch
    if (transitions.length + actions.length > 0) {
      dependencies.logChanges?.(transitions, actions)
    }
    for (const [rail, sent] of commitBatch.instructions) dependencies.rail.send(sent, rail)
    if (commitBatch.instructions.size > 0) crashPoint('submit.sent')
    if (commitBatch.events.length > 0) publish(commitBatch.events)
    if (commitBatch.changedPartners.size + commitBatch.changedEndpoints.size > 0) {
      dependencies.directoryChanged(commitBatch.changedPartners, commitBatch.changedEndpoints)
    }
  }

  const publish = (events: readonly CommittedEvent[]): void => {
    metrics.events += events.length
    for (const { isSettled } of events) if (isSettled === true) metrics.unsubscribedEvents += 1
    dependencies.publish(events)
  }

  const stop = (reason: string, error: unknown): void => {
    if (stopped) return
    stopped = true
    dependencies.stop(reason, error)
  }

  const isIdle = (): boolean => !deciding && !committing && queue.size === 0
  const settleIdle = (): void => {
    if (!isIdle()) return
    const waiters = idleWaiters
    idleWaiters = []
    for (const resolve of waiters) resolve()
  }
  const untilIdle = (): Promise<void> =>
    isIdle() ? Promise.resolve() : new Promise((resolve) => void idleWaiters.push(resolve))

  const hold = async (): Promise<Release> => {
    assert(held === null, 'the pipeline is held once')
    const waiting: Work[] = []
    held = waiting
    let resolve = (): void => undefined
    released = new Promise((done) => (resolve = done))
    await untilIdle()
    return (hasLeft) => {
      held = null
      for (const work of waiting) {
        if (hasLeft && isOfOthers(work)) work.reply(refuse('configuration_error'))
        else enqueue(work)
      }
      resolve()
    }
  }

  return {
    submit,
    idle: async () => {
      await released
      await untilIdle()
    },
    hold,
    metrics,
  }
}
