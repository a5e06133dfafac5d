/**
 * Keeps one program running.
 *
 * Owns: its restarts and their back-off. Does not own: a single run (program), the order of the
 * stack (stack).
 *
 * - A program that never served does not come back: the start as a whole has failed, and its
 *   reason is told.
 * - One that ended by itself after it served is started again, 0.2 s later at first, then twice
 *   as long each time, 10 s at most. A run of half a minute forgives what was before.
 * - Nothing is started again once the stack is stopping: Ctrl-C reaches nats-server directly, and
 *   it may be gone before its turn.
 * - What cannot even be started again, as when the disk is full, is tried again likewise.
 * - A program that ends because the books are behind (exit code 78) is not started again: it would
 *   end the same way, and the stack is told.
 * - What runs and does not answer any more is killed, which is an end like any other.
 */
import { EXIT_BOOKS_BEHIND, type ReadyInfo } from '../base/child.js'
import { SECOND, type Clock } from '../base/clock.js'
import { createRetry, type Backoff } from '../base/retry.js'
import { StartupError } from './startup_error.js'
import { run, type Program, type Run } from './program.js'
import { PROBE_EVERY_MS, probeLiveness } from './liveness_probe.js'

const RESTART: Backoff = { firstMs: 200, maxMs: 10 * SECOND }
const FORGIVEN_AFTER_MS = 30 * SECOND

export interface ManagedProcessOptions {
  readonly name: string
  /** Asked before each run, since ports are learned by running. */
  readonly program: () => Program
  readonly logPath: string
  readonly clock: Clock
  readonly probeEveryMs?: number
  readonly isStopping: () => boolean
  /** It serves; the first time and after each restart. */
  readonly onReady: (info: ReadyInfo, isRestart: boolean) => void
  readonly onLost: (why: string, againAfterMs: number) => void
  /** It ended, and is not started again; also told while the stack is stopping. */
  readonly onRefused: (why: string, exitCode: number) => void
}

export interface ManagedProcess {
  readonly name: string
  readonly pid: number | undefined
  readonly isReady: boolean
  /** It serves reads only. */
  readonly isInRecovery: boolean
  readonly restarts: number
  /** Resolves when it serves. @throws StartupError when it does not come to that */
  start(): Promise<void>
  metrics(): Promise<string>
  stop(): Promise<void>
}

export function manageProcess(options: ManagedProcessOptions): ManagedProcess {
  const { name, program, logPath, clock, isStopping, onReady, onLost, onRefused } = options
  const { probeEveryMs = PROBE_EVERY_MS } = options
  let current: Run | undefined
  let isReady = false
  let isInRecovery = false
  let restarts = 0
  const retry = createRetry(RESTART)

  const start = async (): Promise<void> => {
    const first = run(program(), logPath)
    current = first
    const outcome = await first.started
    if (!outcome.ready) {
      await first.stop()
      const code = first.exitCode() === EXIT_BOOKS_BEHIND ? EXIT_BOOKS_BEHIND : 1
      throw new StartupError(`${name} does not start: ${outcome.why}`, code)
    }
    serve(first, outcome.info, false)
  }

  const serve = (served: Run, info: ReadyInfo, isRestart: boolean): void => {
    const since = clock.now()
    isReady = true
    isInRecovery = info['mode'] === 'recovery'
    onReady(info, isRestart)
    let isSilent = false
    const stopProbing = probe(served, info, () => {
      isSilent = true
      served.kill()
    })
    void served.ended.then((how) => {
      stopProbing()
      if (clock.now() - since > FORGIVEN_AFTER_MS) retry.reset()
      if (isRefused(served)) return
      lost(isSilent ? 'it does not answer any more' : reasonOf(how, served))
    })
  }

  const probe = ({ answers }: Run, info: ReadyInfo, onSilent: () => void): (() => void) =>
    answers === undefined
      ? () => undefined
      : probeLiveness(() => answers(info), onSilent, probeEveryMs)

  const lost = (why: string): void => {
    isReady = false
    if (isStopping()) return
    onLost(why, retry.delayMs)
    retry.schedule(() => void startAgain())
  }

  const isRefused = (ended: Run): boolean => {
    if (ended.exitCode() !== EXIT_BOOKS_BEHIND) return false
    isReady = false
    onRefused(ended.lastWords(), EXIT_BOOKS_BEHIND)
    return true
  }

  const startAgain = async (): Promise<void> => {
    restarts += 1
    const next = runOrFault()
    if (typeof next === 'string') return lost(next)
    current = next
    const outcome = await next.started
    if (outcome.ready) return serve(next, outcome.info, true)
    await next.stop()
    if (!isRefused(next)) lost(outcome.why)
  }

  const runOrFault = (): Run | string => {
    try {
      return run(program(), logPath)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  return {
    name,
    get pid() {
      return current?.pid
    },
    get isReady() {
      return isReady
    },
    get isInRecovery() {
      return isInRecovery
    },
    get restarts() {
      return restarts
    },
    start,
    metrics: () => (isReady && current !== undefined ? current.metrics() : Promise.resolve('')),
    stop: async () => {
      retry.cancel()
      await current?.stop()
    },
  }
}

/** Who was killed said nothing about it. */
function reasonOf(how: string, ended: Run): string {
  const words = how.startsWith('signal') ? '' : ended.lastWords()
  return words === '' ? how : `${how}: ${words}`
}
