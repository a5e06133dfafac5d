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
import { createWorld, DEMO, type Home, type World } from '../support/world.js'
import { DISK_FAULT, holdStore, type CommitOutcome, type HeldStore } from './stalling_store.js'
import { atRest, createScheduler, type Step } from './scheduler.js'

export interface CrashableProcessor {
  readonly world: World
  /** Calls without a response. */
  underWay(): number
  submit(command: Command, heard: (answer: Answer) => void, over?: Partial<Work>): void
  /** The pending steps. */
  waiting(): readonly Step[]
  /** @returns false when it crashed and was restarted */
  letGo(place: number): Promise<boolean>
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
  let held: HeldStore | undefined
  let life = 0
  let underWay = 0
  let stopped = false
  let complaint: Error | undefined
  const own: Home = { testdir: () => home.testdir(), teardown: () => undefined }
  const world = await createWorld(own, {
    random,
    yieldToEventLoop: () => scheduler.inOrder('yield', () => Promise.resolve()),
    store: (store) => (held = holdStore(store, scheduler, commitOutcomeOf)),
    onStop: (reason, error) => {
      stopped = true
      const isFault = error instanceof Error && error.message.startsWith(DISK_FAULT)
      if (!isFault) complaint ??= new Error(reason, { cause: error })
    },
  })
  const store = held
  assert.ok(store !== undefined)
  home.teardown(() => store.close()) // without waiting for pending steps

  const submit: CrashableProcessor['submit'] = (command, heard, over = {}) => {
    const born = life
    underWay += 1
    const reply = (answer: Answer): void => {
      underWay -= 1
      try {
        assert.equal(born, life, 'the dead do not answer')
        heard(answer)
      } catch (error) {
        // Bypasses the processor's own error handling.
        complaint ??= error instanceof Error ? error : new Error(String(error))
      }
    }
    world.submit({ queueKey: DEMO, command, deadline: null, signedBy: null, reply, ...over })
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
    life += 1
    underWay = 0
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
    underWay: () => underWay,
    submit,
    waiting: scheduler.waiting,
    letGo: async (place) => {
      await scheduler.letGo(place)
      if (complaint !== undefined) throw complaint
      if (!stopped) return true
      scheduler.forget()
      await start()
      return false
    },
    kill,
  }
}
