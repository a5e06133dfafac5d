/**
 * The cycle: gather, prefetch, decide, stage, commit, release.
 *
 * Owns: the order of things. Does not own: what a command decides (commands/), the disk (store),
 * the wire (services/).
 *
 * - Nothing is answered, sent to the rail or published before the batch it was decided in is on
 *   disk. A read decided on a staged change waits for that change's commit in the same way.
 * - Batches are committed in the order they were decided, one at a time; while one is under way
 *   the next gathers, so batches grow with load by themselves.
 * - A commit that fails has an unknown outcome: nothing of it is answered, and the process stops
 *   and recovers from disk.
 * - A command that throws before it changed anything is answered as an error, and a corrupt row
 *   that it met is named and counted; one that throws half-way stops the process.
 * - One batch at a time is prefetched and decided; eviction happens only between two of them
 *   (row cache, H3).
 */
import { newFingerprint } from '../../auth/fingerprint.js'
import {
  BATCH_MAX,
  COMMIT_BATCH_MAX,
  NONCE_WINDOW_MS,
  QUEUE_MAX,
  DECIDE_CHUNK_MAX,
} from '../../base/constants.js'
import { instant, type Clock, type Instant } from '../../base/clock.js'
import { createFairQueue } from '../../base/fair_queue.js'
import { CorruptRow } from '../../base/corrupt_row.js'
import type { ErrorCode } from '../../base/errors.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import type { RailInstruction } from '../../rails/rail.js'
import type { Store, StoredEvent } from '../../store/store.js'
import type { Rules } from './rules.js'
import type { CommandContext, QueueKey, Work } from './command.js'
import { refuse } from './answer.js'
import { createCommitBatch, type Forgetting, type CommitBatch } from './commit_batch.js'
import { isActiveKey } from '../cache/tenant_directory.js'
import { evict, type Memory } from '../cache/memory.js'
import { createNeeds } from './needs.js'
import type { Vault } from '../keys/vault.js'

export interface PipelineDependencies {
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly memory: Memory
  readonly vault: Vault
  readonly rules: Rules
  readonly log: Logger
  /** Gives the event loop a turn. */
  readonly yieldToEventLoop: () => Promise<void>
  readonly rail: {
    up(): boolean
    downForMs(): number
    send(instructions: readonly RailInstruction[]): void
  }
  /** Takes committed events, in order. */
  readonly publish: (events: readonly StoredEvent[]) => void
  /** Told which directory entries a commit changed. */
  readonly directoryChanged: (partners: ReadonlySet<string>, endpoints: ReadonlySet<string>) => void
  /** The disk has room for what is under way alone. */
  readonly diskIsLow: () => boolean
  /** Stops the process at once; called when memory can no longer be trusted. */
  readonly stop: (reason: string, error: unknown) => void
}

export interface Pipeline {
  /** Takes a command in, or answers 503 at once when there is no room. */
  submit(work: Work): void
  /** Resolves when all that was submitted has been released. */
  idle(): Promise<void>
  readonly metrics: PipelineMetrics
}

export interface PipelineMetrics {
  commands: number
  commits: number
  dropped: number
  refusedFull: number
  refusedDiskLow: number
  refusedInRecovery: number
  waiting(): number
}

/** Often enough to keep up: a commit that forgets takes more rows than these bring. */
const FORGET_EVERY_COMMITS = 64

export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { clock, store, memory, log, yieldToEventLoop } = dependencies
  const queue = createFairQueue<QueueKey, Work>()
  let gathering = createCommitBatch(1)
  let committedBatch = 0
  let deciding = false
  let committing = false
  let stopped = false
  let idleWaiters: (() => void)[] = []
  const scratch = newFingerprint()
  const metrics: PipelineMetrics = {
    commands: 0,
    commits: 0,
    dropped: 0,
    refusedFull: 0,
    refusedDiskLow: 0,
    refusedInRecovery: 0,
    waiting: () => queue.size,
  }

  const submit = (work: Work): void => {
    if (stopped) return
    if (queue.size >= QUEUE_MAX && work.queueKey !== 'ours') {
      metrics.refusedFull += 1
      work.reply(refuse('configuration_error'))
      return
    }
    queue.add(work.queueKey, work)
    if (!deciding) void decideAll().catch((error: unknown) => stop('the cycle broke', error))
  }

  const decideAll = async (): Promise<void> => {
    deciding = true
    await yieldToEventLoop() // whatever else this turn of the event loop brings joins the batch
    while (queue.size > 0 && !stopped) {
      evict(memory, committedBatch)
      const batch = queue.take(BATCH_MAX)
      await prefetch(batch)
      for (let start = 0; start < batch.length && !stopped; start += DECIDE_CHUNK_MAX) {
        if (gathering.changes > COMMIT_BATCH_MAX) await batchHasRoom()
        decideChunk(batch, start, Math.min(start + DECIDE_CHUNK_MAX, batch.length))
        startCommit()
        await yieldToEventLoop()
      }
    }
    deciding = false
    settleIdle()
  }

  const prefetch = async (batch: readonly Work[]): Promise<void> => {
    for (;;) {
      const needs = createNeeds(memory)
      for (const { command } of batch) {
        try {
          command.needs(needs, memory)
        } catch (error) {
          log.error({ err: error, command: command.name }, 'a command does not know what it needs')
        }
      }
      if (needs.isEmpty()) return
      needs.fill(await store.load(needs.wanted()))
    }
  }

  const decideChunk = (batch: readonly Work[], start: number, end: number): void => {
    const now = clock.now()
    const ctx: CommandContext = {
      now,
      random: dependencies.random,
      railUp: dependencies.rail.up(),
      railDownForMs: dependencies.rail.downForMs(),
      memory,
      batch: gathering,
      vault: dependencies.vault,
      rules: dependencies.rules,
    }
    for (let i = start; i < end && !stopped; i++) decideOne(batch[i]!, ctx)
  }

  const decideOne = (work: Work, ctx: CommandContext): void => {
    if (work.deadline !== null && ctx.now > work.deadline) {
      metrics.dropped += 1
      return work.reply(refuse('timeout'))
    }
    metrics.commands += 1
    const commitBatch = ctx.batch
    const fault = work.signedBy === null ? null : signatureFault(work.signedBy, work, ctx)
    if (fault !== null) return commitBatch.addReply(work.reply, refuse(fault))
    if (mustWait(work)) {
      metrics.refusedDiskLow += 1
      return commitBatch.addReply(work.reply, refuse('configuration_error'))
    }
    if (memory.recovery !== null && work.command.allowedInRecovery !== true) {
      metrics.refusedInRecovery += 1
      return commitBatch.addReply(work.reply, refuse('configuration_error'))
    }
    const before = commitBatch.changes
    try {
      commitBatch.addReply(work.reply, work.command.decide(ctx))
    } catch (error) {
      if (commitBatch.changes !== before) return stop(`${work.command.name} failed half-way`, error)
      noteFailure(error, work.command.name)
      commitBatch.addReply(work.reply, refuse('internal_error'))
    }
  }

  const noteFailure = (error: unknown, command: string): void => {
    if (!(error instanceof CorruptRow))
      return log.error({ err: error, command }, 'a command failed')
    const { entity } = error
    if (!memory.corruptRows.add(entity)) return
    log.error({ err: error, entity, command }, 'the row is corrupt; it is set apart')
  }

  /**
   * While the disk is almost full callers only read; the nonces of their reads take little. What is
   * under way, and operators, have the reserve.
   */
  const mustWait = ({ queueKey, command }: Work): boolean =>
    queueKey !== 'ours' && command.allowedInRecovery !== true && dependencies.diskIsLow()

  /**
   * Consumes the nonce, or says why the call goes no further. Its gateway may not have heard yet
   * that the key is revoked. A full table must not make honest calls look like replays.
   */
  const signatureFault = (
    { keyId, nonce }: NonNullable<Work['signedBy']>,
    { queueKey }: Work,
    ctx: CommandContext,
  ): ErrorCode | null => {
    const { nonces } = memory
    const key = memory.keys.get(keyId)
    if (key === undefined || key.tenant !== queueKey) return 'authentication_failed'
    if (!isActiveKey(key, ctx.now)) return 'authentication_failed'
    if (nonces.isFull(ctx.now)) return 'configuration_error'
    nonces.fingerprint(key.tenant, nonce, scratch)
    if (!nonces.add(scratch, ctx.now)) return 'authentication_failed'
    ctx.batch.addNonce(scratch)
    return null
  }

  let roomWaiter: (() => void) | null = null
  const batchHasRoom = (): Promise<void> =>
    new Promise((resolve) => {
      roomWaiter = () => {
        roomWaiter = null
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
        settleIdle()
      },
      (error: unknown) => stop('a commit failed; its outcome is unknown', error),
    )
  }

  const commit = async (commitBatch: CommitBatch): Promise<void> => {
    if (commitBatch.hasRows()) {
      const now = clock.now()
      await store.commit(commitBatch.toCommit(now, forgetting(now)))
      metrics.commits += 1
    }
    committedBatch = commitBatch.number
    release(commitBatch)
  }

  /**
   * Old nonce rows are deleted with some commits, a bounded number at a time: none that the table
   * still holds, whatever the clock did meanwhile. Rows of a clock that was ahead go as well: only
   * the oldest are looked at, and those would stand before all that come later.
   */
  const forgetting = (now: Instant): Forgetting | null => {
    if (metrics.commits % FORGET_EVERY_COMMITS !== 0) return null
    const { nonces } = memory
    const before = instant(Math.min(now - 2 * NONCE_WINDOW_MS, nonces.heldSince()))
    return { before, after: nonces.heldUntil() }
  }

  const release = (commitBatch: CommitBatch): void => {
    commitBatch.sendReplies()
    if (commitBatch.instructions.length > 0) dependencies.rail.send(commitBatch.instructions)
    if (commitBatch.events.length > 0) dependencies.publish(commitBatch.events)
    if (commitBatch.changedPartners.size + commitBatch.changedEndpoints.size > 0) {
      dependencies.directoryChanged(commitBatch.changedPartners, commitBatch.changedEndpoints)
    }
    roomWaiter?.()
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

  return {
    submit,
    idle: () =>
      isIdle() ? Promise.resolve() : new Promise((resolve) => void idleWaiters.push(resolve)),
    metrics,
  }
}
