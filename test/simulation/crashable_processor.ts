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
import type { Command, Work } from '../../src/processor/cycle/command.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { createTimers, type Timers } from '../../src/processor/background/timers.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { BY_TEST, createWorld, DEMO, type Home, type World } from '../support/world.js'
import { DISK_FAULT, stallStore, type CommitOutcome, type StallingStore } from './stalling_store.js'
import { atRest, createScheduler, type Step } from './scheduler.js'

export interface CrashableProcessor {
  readonly world: World
  /** Calls without a response. */
  inFlight(): number
  submit(command: Command, onAnswer: (answer: Answer) => void, over?: Partial<Work>): void
  /** The pending steps. */
  waiting(): readonly Step[]
  /** @returns false when it crashed and was restarted */
  release(place: number): Promise<boolean>
  kill(): Promise<void>
}

export interface CrashableProcessorOptions {
  readonly home: Home
  readonly random: Random
  readonly seededRandom: SeededRandom
  readonly commitOutcomeOf: () => CommitOutcome
}

export async function startProcessor({
  home,
  random,
  seededRandom,
  commitOutcomeOf,
}: CrashableProcessorOptions): Promise<CrashableProcessor> {
  const scheduler = createScheduler()
  let stalling: StallingStore | undefined
  let generation = 0
  let inFlight = 0
  let stopped = false
  let failure: Error | undefined
  const own: Home = { testdir: () => home.testdir(), teardown: () => undefined }
  const world = await createWorld(own, {
    random,
    yieldToEventLoop: () => scheduler.inOrder('yield', () => Promise.resolve()),
    store: (store) => (stalling = stallStore(store, scheduler, commitOutcomeOf)),
    onStop: (reason, error) => {
      stopped = true
      const isFault = error instanceof Error && error.message.startsWith(DISK_FAULT)
      if (!isFault) failure ??= new Error(reason, { cause: error })
    },
  })
  const store = stalling
  assert.ok(store !== undefined)
  home.teardown(() => store.close()) // without waiting for pending steps

  const submit: CrashableProcessor['submit'] = (command, onAnswer, over = {}) => {
    const submittedIn = generation
    inFlight += 1
    const reply = (answer: Answer): void => {
      inFlight -= 1
      try {
        assert.equal(submittedIn, generation, 'a crashed process sends no answer')
        onAnswer(answer)
      } catch (error) {
        // Bypasses the processor's own error handling.
        failure ??= error instanceof Error ? error : new Error(String(error))
      }
    }
    const work = { queueKey: DEMO, command, origin: BY_TEST, deadline: null, signedBy: null }
    world.submit({ ...work, reply, ...over })
  }

  const startTimers = (): Timers =>
    createTimers({
      clock: world.clock,
      store,
      pipeline: { submit: (work) => submit(work.command, work.reply, work) },
      log: createLog('simulation', { LOG_LEVEL: 'silent' }),
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
  const kill = async (): Promise<void> => {
    scheduler.forget()
    await store.crash(seededRandom.once(2))
    await start()
  }

  scheduler.hold()
  await start()
  return {
    world,
    inFlight: () => inFlight,
    submit,
    waiting: scheduler.waiting,
    release: async (place) => {
      await scheduler.release(place)
      if (failure !== undefined) throw failure
      if (!stopped) return true
      scheduler.forget()
      await start()
      return false
    },
    kill,
  }
}
