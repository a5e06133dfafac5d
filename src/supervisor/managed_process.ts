/**
 * Runs a program and restarts it when it ends.
 *
 * - A program that never became ready is not restarted: the start of the stack fails with its
 *   reason.
 * - A program that ends after it was ready is restarted after 0.2 s, doubling to 10 s. A run of 30
 *   s resets the delay. A restart that fails is repeated in the same way.
 * - Nothing is restarted while the stack is stopping: Ctrl-C reaches nats-server directly.
 * - Exit code 78 (books behind) is final, because a restart would end the same way.
 * - A program that fails its liveness probe is killed and restarted.
 * - A replacement runs the program on disk. With an overlap the new run is ready before the former
 *   one drains, and a new run that does not become ready changes nothing. Without one the new
 *   run is loaded, then the former one ends, then the new one opens its data; if it does not become
 *   ready, it is restarted as any other.
 */
import { EXIT_BOOKS_BEHIND, type ReadyInfo } from '../process/child.js'
import { SECOND, type Clock, type Instant } from '../base/clock.js'
import { createRetry, type Backoff } from '../base/retry.js'
import { StartupError } from './startup_error.js'
import { run, type Program, type Run } from './program.js'
import { PROBE_INTERVAL_MS, probeLiveness } from './liveness_probe.js'

const RESTART: Backoff = { firstMs: 200, maxMs: 10 * SECOND }
const RESET_AFTER_MS = 30 * SECOND
const SLOW_EVERY_MS = 15 * SECOND

export interface ManagedProcessOptions {
  readonly name: string
  /** Called before each run: ports are known only after the first. */
  readonly program: () => Program
  readonly logPath: string
  readonly clock: Clock
  readonly probeIntervalMs?: number
  readonly slowEveryMs?: number
  readonly isStopping: () => boolean
  /** It is ready: after the first start and after each restart. */
  readonly onReady: (info: ReadyInfo, isRestart: boolean) => void
  /** Each message that it is ready, e.g. when a candidate begins to serve. */
  readonly onReport?: (info: ReadyInfo) => void
  /** Its first start takes long. `line`: a new last one of its log; empty when it has none. */
  readonly onSlow?: (line: string) => void
  readonly onLost: (why: string, restartInMs: number) => void
  /** It ended for good; also called while the stack is stopping. */
  readonly onRefused: (why: string, exitCode: number) => void
}

/** `overlap`: two runs can serve beside each other. */
export type Replacement = 'overlap' | 'one_at_a_time'

/** A program of others, which does not report about itself. */
export interface RunningServer {
  readonly version: string
  readonly startedAt: Instant
}

export interface ManagedProcess {
  readonly name: string
  readonly pid: number | undefined
  readonly isReady: boolean
  /** As it reported last. Undefined if it reports none. */
  readonly mode: string | undefined
  /** Why it is not in normal mode, as a sentence without its full stop. */
  readonly modeReason: string | undefined
  /** What does not work as it should while it is ready. Undefined if everything works. */
  readonly degraded: string | undefined
  /** Unplanned ones. */
  readonly restarts: number
  /** What is known of a program of others while it runs. */
  readonly server: RunningServer | undefined
  /** Resolves when it is ready. @throws StartupError */
  start(): Promise<void>
  /** Resolves when the new run is ready and the former one has ended. @throws StartupError */
  replace(how: Replacement): Promise<void>
  metrics(): Promise<string>
  stop(): Promise<void>
}

export function manageProcess(options: ManagedProcessOptions): ManagedProcess {
  const { name, program, logPath, clock, isStopping, onReady, onLost, onRefused } = options
  const { probeIntervalMs = PROBE_INTERVAL_MS, slowEveryMs = SLOW_EVERY_MS } = options
  const { onReport = () => undefined, onSlow = () => undefined } = options
  let current: Run | undefined
  let server: RunningServer | undefined
  let isReady = false
  let info: ReadyInfo = {}
  let restarts = 0
  /** The next run starts beside this one. */
  let isReplacing = false
  const runs = new Set<Run>()
  const retry = createRetry(RESTART)

  const start = async (): Promise<void> => {
    const first = begin()
    current = first
    let told: string | undefined
    const slow = setInterval(() => {
      const line = first.lastLogLine()
      if (line !== told) onSlow((told = line))
    }, slowEveryMs)
    const outcome = await first.started
    clearInterval(slow)
    if (!outcome.ready) {
      await first.stop()
      const code = first.exitCode() === EXIT_BOOKS_BEHIND ? EXIT_BOOKS_BEHIND : 1
      throw new StartupError(`${name} does not start: ${outcome.why}`, code)
    }
    serve(first, outcome.info, false)
  }

  const begin = (replaces = false): Run => {
    const next = program()
    const begun = run(next, logPath, replaces)
    const { serverVersion: version } = next
    server = version === undefined ? undefined : { version, startedAt: clock.now() }
    runs.add(begun)
    void begun.ended.then(() => runs.delete(begun))
    begun.onReady((reported) => {
      info = reported
      onReport(reported)
    })
    return begun
  }

  const serve = (served: Run, info: ReadyInfo, isRestart: boolean): void => {
    const since = clock.now()
    isReady = true
    onReady(info, isRestart)
    let isUnresponsive = false
    const stopProbing = probe(served, info, () => {
      isUnresponsive = true
      served.kill()
    })
    void served.ended.then((how) => {
      stopProbing()
      if (current !== served) return // replaced
      if (isReplacing) return void (isReady = false)
      if (clock.now() - since > RESET_AFTER_MS) retry.reset()
      if (isRefused(served)) return
      lost(isUnresponsive ? 'it does not respond' : reasonOf(how, served))
    })
  }

  const probe = ({ isAlive }: Run, info: ReadyInfo, onFailed: () => void): (() => void) =>
    isAlive === undefined
      ? () => undefined
      : probeLiveness(() => isAlive(info), onFailed, probeIntervalMs)

  const lost = (why: string): void => {
    isReady = false
    if (isStopping()) return
    onLost(why, retry.delayMs)
    retry.schedule(() => void restart())
  }

  const isRefused = (ended: Run): boolean => {
    if (ended.exitCode() !== EXIT_BOOKS_BEHIND) return false
    isReady = false
    onRefused(ended.lastLogLine(), EXIT_BOOKS_BEHIND)
    return true
  }

  const restart = async (): Promise<void> => {
    restarts += 1
    const next = tryRun()
    if (typeof next === 'string') return lost(next)
    current = next
    const outcome = await next.started
    if (outcome.ready) return serve(next, outcome.info, true)
    await next.stop()
    if (!isRefused(next)) lost(outcome.why)
  }

  const replace = async (how: Replacement): Promise<void> => {
    if (current === undefined || !isReady) throw new StartupError(`${name} is not ready`)
    await (how === 'overlap' ? replaceOverlapping(current) : replaceInTurn(current))
  }

  const replaceOverlapping = async (former: Run): Promise<void> => {
    const [next, outcome] = await beside(async (run) => run.started)
    if (!outcome.ready) return unchanged(next, outcome.why)
    current = next
    serve(next, outcome.info, true)
    await former.retire()
  }

  const replaceInTurn = async (former: Run): Promise<void> => {
    const loaded = program().canReplace === true ? await load() : undefined
    current = undefined
    isReady = false
    await former.stop()
    if (isStopping()) return
    const next = loaded ?? begin()
    current = next
    next.takeTurn()
    const outcome = await next.started
    if (outcome.ready) return serve(next, outcome.info, true)
    await next.stop()
    if (!isRefused(next)) lost(outcome.why)
    throw new StartupError(`${name} does not start: ${outcome.why}`)
  }

  const load = async (): Promise<Run> => {
    const [next, failure] = await beside((run) => run.loaded)
    return failure === undefined ? next : unchanged(next, failure)
  }

  /** A run that starts beside the current one, whose own end is dealt with afterwards. */
  const beside = async <T>(until: (run: Run) => Promise<T>): Promise<[Run, T]> => {
    isReplacing = true
    try {
      const next = begin(true)
      return [next, await until(next)]
    } finally {
      isReplacing = false
    }
  }

  const unchanged = async (next: Run, why: string): Promise<never> => {
    await next.stop()
    if (!isReady) lost('it ended while it was replaced')
    throw new StartupError(`${name} is not replaced: ${why}`)
  }

  const tryRun = (): Run | string => {
    try {
      return begin()
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
    get mode() {
      return textOf(info['mode'])
    },
    get modeReason() {
      return textOf(info['reason'])
    },
    get degraded() {
      return textOf(info['degraded'])
    },
    get restarts() {
      return restarts
    },
    get server() {
      return isReady ? server : undefined
    },
    start,
    replace,
    metrics: () => (isReady && current !== undefined ? current.metrics() : Promise.resolve('')),
    stop: async () => {
      retry.cancel()
      await Promise.all([...runs].map((each) => each.stop()))
    },
  }
}

const textOf = (reported: ReadyInfo[string] | undefined): string | undefined =>
  typeof reported === 'string' ? reported : undefined

/** A killed program did not log a reason. */
function reasonOf(how: string, ended: Run): string {
  const message = how.startsWith('signal') ? '' : ended.lastLogLine()
  return message === '' ? how : `${how}: ${message}`
}
