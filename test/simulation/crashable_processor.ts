/**
 * A processor that is killed at any time, or exits after a failed commit, and restarts from disk,
 * also from an older copy of its books.
 *
 * Owns: crashes and restarts, recovery mode, the calls in flight. Does not own: the calls, what the
 * operator does in recovery mode (restores/operator).
 *
 * - A crashed process emits nothing: no responses, instructions or events.
 * - In recovery mode no timer runs, and the high-water mark stays the evidence of the loss.
 * - Books that are behind that mark enter recovery mode at each start, as with RECOVERY=yes.
 */
import assert from 'node:assert/strict'
import type { Random } from '../../src/base/random.js'
import { compareUnsubmitted } from '../../src/processor/background/orphan_comparison.js'
import { createOrphanInquiries } from '../../src/processor/background/orphan_inquiries.js'
import { createTimers, type Timers } from '../../src/processor/background/timers.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { Work } from '../../src/processor/cycle/command.js'
import { isAhead } from '../../src/processor/recovery/high_water.js'
import type { openDatabase } from '../../src/store/sqlite/database.js'
import { SANDBOX_RAIL } from '../../src/rails/rail.js'
import { openStore } from '../../src/store/sqlite/store.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { createWorld, type Home, type World } from '../support/world.js'
import { SIMULATED_RULES } from './operators.js'
import { DISK_FAULT, stallStore, type CommitOutcome, type StallingStore } from './stalling_store.js'
import { arrivedWork, subscribe, type Processors } from './processors.js'
import { atRest, createScheduler } from './scheduler.js'

const EVERY_EVENT = 100_000
/** One for all: each further one stays in memory. */

export interface CrashableProcessorOptions {
  readonly home: Home
  readonly open: typeof openDatabase
  readonly random: Random
  readonly seededRandom: SeededRandom
  readonly commitOutcomeOf: () => CommitOutcome
  readonly warmActors: number
}

export async function startProcessor({
  home,
  open,
  random,
  seededRandom,
  commitOutcomeOf,
  warmActors,
}: CrashableProcessorOptions): Promise<Processors> {
  const scheduler = createScheduler()
  const own: Home = { testdir: () => home.testdir(), teardown: () => undefined }
  let store: StallingStore
  let generation = 0
  let inFlight = 0
  let stopped = false
  let isStarting = false
  let failure: Error | undefined

  const openWorld = (clock?: World['clock']): Promise<World> =>
    createWorld(own, {
      random,
      warmActors,
      rules: SIMULATED_RULES,
      ...(clock === undefined ? {} : { clock }),
      yieldToEventLoop: () => scheduler.inOrder('yield', () => Promise.resolve()),
      openStore: (file) => openStore(file, open),
      store: (opened) => {
        const outcome = (): CommitOutcome => (isStarting ? 'done' : commitOutcomeOf())
        return (store = stallStore(opened, scheduler, outcome))
      },
      onStop: (reason, error) => {
        stopped = true
        const isFault = error instanceof Error && error.message.startsWith(DISK_FAULT)
        if (!isFault) failure ??= new Error(reason, { cause: error })
      },
    })
  let world = await openWorld()
  await world.run(subscribe())
  home.teardown(() => store.close()) // Pending steps are not awaited.

  const submit: Processors['submit'] = (commandAt, onAnswer, options = {}) => {
    const submittedIn = generation
    inFlight += 1
    const reply = (answer: Answer): void => {
      inFlight -= 1
      try {
        assert.equal(submittedIn, generation, 'a crashed process sends no answer')
        onAnswer(answer, false)
      } catch (error) {
        // Bypasses the processor's own error handling.
        failure ??= error instanceof Error ? error : new Error(String(error))
      }
    }
    world.submit({ ...arrivedWork(commandAt, options, world.clock.now()), reply })
  }
  const pipeline = {
    submit: (work: Work) => submit(() => work.command, work.reply, work),
  }

  const createOwnTimers = (): Timers =>
    createTimers({
      clock: world.clock,
      store,
      pipeline,
      rail: { up: world.isRailUp },
      memory: world.memory(),
      corruptRows: world.memory().corruptRows,
      log,
      pause: () => scheduler.inOrder('pause', () => Promise.resolve()),
    })
  /** As the product: payments are compared with orphan executions before any timer. */
  const movePayments = async (): Promise<void> => {
    const { lists } = store
    const unsubmitted: typeof lists.unsubmitted = (...page) =>
      scheduler.inOrder('load', () => lists.unsubmitted(...page))
    const memory = world.memory()
    await compareUnsubmitted({ store: { lists: { ...lists, unsubmitted } }, memory, pipeline, log })
    createOwnTimers().start()
  }

  const start = async (inRecovery = false): Promise<void> => {
    generation += 1
    inFlight = 0
    stopped = false
    world.railInstructions.length = 0
    world.events.length = 0
    await world.rebuild()
    if (inRecovery || isAhead(highWater, store.marks.progress())) await enter()
    if (world.memory().recovery === null) void movePayments()
    await atRest()
  }
  /** As with RECOVERY=yes. */
  const enter = async (): Promise<void> => {
    isStarting = true
    scheduler.free()
    await world.run(enterRecovery('RECOVERY=yes'))
    scheduler.hold()
    isStarting = false
  }
  const kill = async (): Promise<string> => {
    scheduler.forget()
    await store.crash(seededRandom.once(2))
    await start()
    return 'killed'
  }

  let highWater = store!.marks.progress()
  scheduler.hold()
  await start()
  highWater = store!.marks.progress()
  return {
    count: 1,
    clock: world.clock,
    keyId: () => [...world.memory().keys.values()][0]!.id,
    memories: () => [world.memory()],
    inFlight: () => inFlight,
    isServing: () => true,
    isContested: () => false,
    submit,
    waiting: scheduler.waiting,
    release: async (index) => {
      await scheduler.release(index)
      if (failure !== undefined) throw failure
      if (!stopped) return null
      scheduler.forget()
      await start()
      return 'stopped by a failed commit'
    },
    kill,
    takeOutput: () => {
      if (world.memory().recovery === null) highWater = store.marks.progress()
      return { instructions: world.railInstructions.splice(0), events: world.events.splice(0) }
    },
    setRail: (up) => world.setRail(up),
    openEvents: () => store.openEvents(0, EVERY_EVENT),
    marks: () => ({ books: store.marks, onDisk: null, highWater }),
    disturb: () => Promise.resolve('nothing'),
    settle: () => Promise.resolve(),
    restart: async () => {
      await kill()
      return world.memory()
    },
    recovery: {
      isActive: () => world.memory().recovery !== null,
      isRefusing: () => world.memory().recovery !== null,
      openOrphans: () => world.memory().orphans.open,
      restore: async (replace) => {
        const { clock, isRailUp } = world
        scheduler.forget()
        await store.close()
        await replace()
        isStarting = true
        scheduler.free()
        world = await openWorld(clock)
        world.setRail(isRailUp())
        const isBehind = isAhead(highWater, store.marks.progress())
        await start(true)
        return isBehind
      },
      released: async () => {
        scheduler.forget()
        await store.crash(true)
        await store.raiseEpoch(highWater.epoch)
        highWater = store.marks.progress()
        await start()
        return 'restarted above the lost books'
      },
      inquire: ({ up, send }) =>
        createOrphanInquiries({
          memory: world.memory(),
          rails: { names: [SANDBOX_RAIL], up, send },
        }).inquire(),
    },
  }
}
