/**
 * One run of a processor of two: from its start as a candidate to its end.
 *
 * Owns: the order of the start, as in the composition root: take-over, keys, memory, pipeline,
 * timers. Does not own: restarts and partitions (two_owners), the connection (books_network).
 *
 * - F2: when it begins to serve, its memory is what the books contain.
 * - In recovery mode no timer runs. After the release it begins an epoch and ends.
 * - A process that has ended emits nothing.
 */
import assert from 'node:assert/strict'
import type { Clock, Instant } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import { compareUnsubmitted } from '../../src/processor/background/orphan_comparison.js'
import { createTimers, type Timers } from '../../src/processor/background/timers.js'
import { loadMemory, type Memory } from '../../src/processor/cache/memory.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { internalWork, type Work } from '../../src/processor/cycle/command.js'
import { createBooksClock } from '../../src/processor/cycle/books_clock.js'
import { createPipeline, type Pipeline } from '../../src/processor/cycle/pipeline.js'
import { openKeyring } from '../../src/processor/master_keys/keyring.js'
import { createVault, type Vault } from '../../src/processor/keys/vault.js'
import type { RailInstruction } from '../../src/rails/rail.js'
import type { Ownership } from '../../src/store/postgres/lease.js'
import { takeOwnership, type OwnedConnection } from '../../src/store/postgres/ownership.js'
import type { CommittedEvent } from '../../src/processor/cycle/commit_batch.js'
import { Deposed, type Store } from '../../src/store/store.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { MASTER, RULES } from '../support/world.js'
import { COMMIT } from './books_server.js'
import { CONNECTION_LOST, type BooksNetwork, type Link } from './books_network.js'
import { restoredState } from './invariant_checker.js'
import { SIMULATED_RULES } from './operators.js'
import type { PlantedFault } from './planted_faults.js'
import type { Scheduler } from './scheduler.js'
import { createSimulatedStore } from './simulated_store.js'

export interface OwnerProcess {
  readonly scheduler: Scheduler
  isAlive(): boolean
  isServing(): boolean
  /** Whether it refuses writes until an operator releases the books. */
  isInRecovery(): boolean
  /** Whether a release is decided. */
  isReleased(): boolean
  /** The last acknowledged one. */
  ownership(): Ownership
  memory(): Memory
  /** The moment of decisions. */
  now(): Instant
  submit(work: Work): void
  /** Stops and releases the lease, so the next candidate takes over at once. */
  release(): void
  /** The recovery is released: begins an epoch higher than this one, and ends. */
  acceptLoss(above: number): void
  /** Ends at once. */
  end(): void
}

export interface OwnerProcessOptions {
  readonly holder: string
  readonly network: BooksNetwork
  readonly scheduler: Scheduler
  /** The clock of this machine. */
  readonly clock: Clock
  /** Monotonic, of this machine. */
  readonly elapsed: () => number
  readonly random: Random
  /** Actors in memory. */
  readonly warmActors: number
  readonly fault: () => PlantedFault | null
  readonly isReachable: () => boolean
  readonly railUp: () => boolean
  /** Whether it enters recovery mode, as with RECOVERY=yes. */
  readonly entersRecovery: () => boolean
  readonly onInstructions: (instructions: readonly RailInstruction[]) => void
  readonly onEvents: (events: readonly CommittedEvent[]) => void
  /** Called when it begins to serve. */
  readonly onServing: () => void
  /** Called at its end. */
  readonly onEnd: (why: string) => void
  readonly onViolation: (violation: Error) => void
}

/** Errors that end a process as designed; another one or a restart continues. */
const EXPECTED = [CONNECTION_LOST, 'no answer from the server', 'committed with a warning']

export function startOwnerProcess(options: OwnerProcessOptions): OwnerProcess {
  const { holder, network, scheduler, elapsed, random, fault, isReachable } = options
  const clock = createBooksClock(options.clock)
  const limits = { warmActors: options.warmActors, duplicateWindowMs: RULES.duplicateWindowMs }
  let isAlive = true
  let isServing = false
  let isStopping = false
  let held: OwnedConnection | undefined
  let memory: Memory | undefined
  let pipeline: Pipeline | undefined
  let timers: Timers | undefined
  const link: Link = { holder, scheduler, isAlive: () => isAlive, isReachable }
  const connection = network.connect(link)
  const background = { ...connection, all: () => Promise.resolve([]) }

  const end = (why: string): void => {
    if (!isAlive) return
    isAlive = false
    isServing = false
    scheduler.forget()
    connection.abandon()
    options.onEnd(why)
  }
  const stop = (error: unknown): void => {
    if (!isAlive) return
    // A former owner reads rows that do not match its memory, so any error can occur.
    const isFormer = held !== undefined && held.ownership().epoch < network.owner.epoch
    const isExpected = EXPECTED.some((text) => String(error).includes(text))
    if (!isFormer && error instanceof Deposed)
      options.onViolation(new Error('F3: an owner is refused', { cause: error }))
    else if (!isFormer && !isExpected)
      options.onViolation(error instanceof Error ? error : new Error(String(error)))
    end(error instanceof Deposed ? 'deposed' : 'stopped by a fault')
  }

  const owned = (): OwnedConnection => {
    assert.ok(held !== undefined)
    return held
  }
  const storeOf = (ownership: () => Ownership): Store =>
    createSimulatedStore({ connection, scheduler, isReachable, fault, ownership, owned })

  const takeOver = async (): Promise<void> => {
    held = await takeOwnership({
      connection: fault()?.ignoresWarnings === true ? deaf(connection) : connection,
      background,
      holder,
      elapsed,
      pause,
      log,
      statement: COMMIT,
    })
    connection.onLost(held.fail)
    held.onFailure(stop)
  }
  const pause = (ms: number): Promise<void> => {
    const due = elapsed() + ms
    return scheduler.inOrder(
      'look',
      () => Promise.resolve(),
      () => elapsed() >= due,
    )
  }
  const load = async (): Promise<Vault> => {
    const store = storeOf(() => held?.ownership() ?? { epoch: 0, lastBatch: 0 })
    const vault = createVault(await openKeyring(store, [MASTER], random, clock.now()), random)
    memory = await loadMemory(store, vault, clock.now(), limits)
    if (fault()?.machineClock !== true) clock.passed(memory.newestMoment)
    return vault
  }
  /** No other process commits until this one does. */
  const checkMemory = async (vault: Vault): Promise<void> => {
    if (owned().ownership().epoch !== network.owner.epoch) return
    const inBooks = await loadMemory(network.server.store, vault, clock.now(), limits)
    assert.deepEqual(restoredState(memory!), restoredState(inBooks), 'F2: memory is the books')
  }

  const serve = async (vault: Vault): Promise<void> => {
    const submit = (work: Work): void => {
      if (!isStopping) pipeline?.submit(work)
    }
    const store = storeOf(owned().ownership)
    pipeline = createPipeline({
      clock,
      random,
      store,
      memory: memory!,
      vault,
      rules: SIMULATED_RULES,
      log,
      yieldToEventLoop: () => scheduler.inOrder('yield', () => Promise.resolve()),
      rail: { up: options.railUp, downForMs: () => 0, send: options.onInstructions },
      publish: options.onEvents,
      directoryChanged: () => undefined,
      diskIsLow: () => false,
      stop: (_, error) => stop(error),
    })
    timers = createTimers({
      clock,
      store,
      pipeline: { submit },
      rail: { up: options.railUp },
      memory: memory!,
      corruptRows: memory!.corruptRows,
      log,
      pause: () => scheduler.inOrder('pause', () => Promise.resolve()),
    })
    if (options.entersRecovery()) await enter(pipeline)
    if (!isAlive) return
    if (memory!.recovery === null) movePayments(store, submit).catch(stop)
    isServing = true
    options.onServing()
  }
  const enter = (to: Pipeline): Promise<void> =>
    new Promise((resolve) =>
      to.submit(internalWork(enterRecovery('RECOVERY=yes'), 'service', () => resolve())),
    )
  /** As the product: payments are compared with orphan executions before any timer. */
  const movePayments = async (store: Store, submit: Pipeline['submit']): Promise<void> => {
    await compareUnsubmitted({ store, memory: memory!, pipeline: { submit }, log })
    if (!isStopping) timers?.start()
  }

  const start = async (): Promise<void> => {
    const bootsFirst = fault()?.bootsFirst === true
    if (!bootsFirst) await takeOver()
    const vault = await load()
    if (bootsFirst) await takeOver()
    await scheduler.inOrder('load', () => checkMemory(vault).catch(options.onViolation))
    await serve(vault)
  }
  void start().catch(stop)

  return {
    scheduler,
    isAlive: () => isAlive,
    isServing: () => isServing,
    isInRecovery: () => isAlive && memory !== undefined && memory.recovery !== null,
    isReleased: () => isAlive && !isStopping && (memory?.recovery?.released_at ?? null) !== null,
    ownership: () => held?.ownership() ?? { epoch: 0, lastBatch: 0 },
    memory: () => memory!,
    now: () => clock.now(),
    submit: (work) => pipeline?.submit(work),
    release: () => {
      isServing = false
      isStopping = true
      void pipeline
        ?.idle()
        .then(() => held?.release())
        .then(() => end('released'), stop)
    },
    acceptLoss: (above) => {
      isServing = false
      isStopping = true
      void pipeline
        ?.idle()
        .then(() => held?.raiseEpoch(above))
        .then(() => held?.release())
        .then(() => end('released the recovery'), stop)
    },
    end: () => end('killed'),
  }
}

/** Ignores notices. */
const deaf = <Any extends { onNotice: unknown }>(connection: Any): Any => ({
  ...connection,
  onNotice: () => undefined,
})
