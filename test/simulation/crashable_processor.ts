/**
 * A processor that is killed at any time, or exits after a failed commit, and restarts from disk.
 *
 * Owns: crashes and restarts, the calls in flight. Does not own: the calls.
 *
 * - A crashed process emits nothing: no responses, instructions or events.
 */
import assert from 'node:assert/strict'
import { createLog } from '../../src/base/log.js'
import type { Random } from '../../src/base/random.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { createTimers, type Timers } from '../../src/processor/background/timers.js'
import type { openDatabase } from '../../src/store/sqlite/database.js'
import { openStore } from '../../src/store/sqlite/store.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { createWorld, type Home } from '../support/world.js'
import { SIMULATED_RULES } from './operators.js'
import { DISK_FAULT, stallStore, type CommitOutcome, type StallingStore } from './stalling_store.js'
import { arrivedWork, subscribe, type Processors } from './processors.js'
import { atRest, createScheduler } from './scheduler.js'

const EVERY_EVENT = 100_000
/** One for all: each further one stays in memory. */
const log = createLog('simulation', { LOG_LEVEL: 'silent' })

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
  let stalling: StallingStore | undefined
  let generation = 0
  let inFlight = 0
  let stopped = false
  let failure: Error | undefined
  const own: Home = { testdir: () => home.testdir(), teardown: () => undefined }
  const world = await createWorld(own, {
    random,
    warmActors,
    rules: SIMULATED_RULES,
    yieldToEventLoop: () => scheduler.inOrder('yield', () => Promise.resolve()),
    openStore: (file) => openStore(file, open),
    store: (store) => (stalling = stallStore(store, scheduler, commitOutcomeOf)),
    onStop: (reason, error) => {
      stopped = true
      const isFault = error instanceof Error && error.message.startsWith(DISK_FAULT)
      if (!isFault) failure ??= new Error(reason, { cause: error })
    },
  })
  await world.run(subscribe())
  const store = stalling
  assert.ok(store !== undefined)
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

  const startTimers = (): Timers =>
    createTimers({
      clock: world.clock,
      store,
      pipeline: { submit: (work) => submit(() => work.command, work.reply, work) },
      rail: { up: world.isRailUp },
      memory: world.memory(),
      corruptRows: world.memory().corruptRows,
      log,
      pause: () => scheduler.inOrder('pause', () => Promise.resolve()),
    })

  const start = async (): Promise<void> => {
    generation += 1
    inFlight = 0
    stopped = false
    world.railInstructions.length = 0
    world.events.length = 0
    await world.rebuild()
    startTimers().start()
    await atRest()
  }
  const kill = async (): Promise<string> => {
    scheduler.forget()
    await store.crash(seededRandom.once(2))
    await start()
    return 'killed'
  }

  scheduler.hold()
  await start()
  let highWater = store.marks.progress()
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
      highWater = store.marks.progress()
      return { instructions: world.railInstructions.splice(0), events: world.events.splice(0) }
    },
    setRail: world.setRail,
    openEvents: () => store.openEvents(0, EVERY_EVENT),
    marks: () => ({ books: store.marks, onDisk: null, highWater }),
    disturb: () => Promise.resolve('nothing'),
    settle: () => Promise.resolve(),
    restart: async () => {
      await kill()
      return world.memory()
    },
  }
}
