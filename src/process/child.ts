/**
 * The child side of the supervisor protocol: readiness, metrics, signals and orderly stop.
 *
 * Does not own: what to stop (each `main.ts`), restarts (supervisor).
 *
 * - `stop` runs once; then the process exits with 0, or with 1 when stopping failed.
 * - A process that another one replaces is drained first, and so is one without a supervisor on
 *   SIGTERM; a second SIGTERM, or SIGINT, stops it at once.
 * - A process whose supervisor has ended stops by itself, so no process is left behind.
 * - Under a supervisor SIGINT is ignored: Ctrl-C reaches the whole process group at once, and the
 *   supervisor stops the processes in order.
 * - Without a supervisor (started by hand or by systemd) the process works the same and Ctrl-C
 *   stops it.
 */
import { connectServiceManager } from './service_manager.js'
import { startupDone } from './startup_faults.js'
import type { Logger } from '../base/log.js'

/** Unknown outcome of a commit: memory may differ from the disk, and a restart reads it. */
export const EXIT_RECOVER = 70
/** Another process owns the data: this one must start again as a candidate. */
export const EXIT_DEPOSED = 71
/** The books are behind a mark outside them; a restart does not help, an operator must act. */
export const EXIT_BOOKS_BEHIND = 78

const ORPHANED = 'the supervisor has ended'
/** As a supervisor grants; nothing else ends an orphan whose stop hangs. */
const ORPHAN_STOPS_WITHIN_MS = 10_000

/** What a process reports when it is ready, such as its ports. */
export type ReadyInfo = Readonly<Record<string, string | number | boolean>>

/** Process to supervisor: once, and by a candidate again when it serves. */
export type ReadyMessage = { readonly ready: true } & ReadyInfo

/** Supervisor to process. */
export interface MetricsRequest {
  readonly metrics: true
  readonly metricsId: number
}

/** Supervisor to process, and its answer: the event loop of the process runs. */
export interface ProbeMessage {
  readonly probeId: number
}

/** Process to supervisor: it is loaded, and waits for the end of the one that it replaces. */
export interface LoadedMessage {
  readonly loaded: true
}

/** Process to supervisor: it converts its data before it is ready, however long that takes. */
export interface MigratingMessage {
  readonly migrating: true
}

/** Supervisor to process: the one that it replaces has ended. */
export interface TurnMessage {
  readonly turn: true
}

/** Supervisor to process: another one has taken its place. */
export interface DrainRequest {
  readonly drain: true
}

/** Process to supervisor, in Prometheus' text format. */
export interface MetricsAnswer {
  readonly metrics: string
  readonly metricsId: number
}

export interface ChildDuties {
  readonly log: Pick<Logger, 'info'>
  /** Absent means that the process has no metrics. */
  readonly metrics?: () => string | Promise<string>
  /** Leaves its clients to another process, in bounded time. Absent means that it stops at once. */
  readonly drain?: () => Promise<void>
  /** Finishes work in flight and closes all resources. Called at most once. */
  readonly stop: () => Promise<void>
}

export interface ChildProcess {
  /** Reports that the start takes as long as a migration of its data. */
  migrating(): void
  /** Reports that this process works and serves later, e.g. as a candidate. */
  waiting(info?: ReadyInfo): void
  /** Reports to the supervisor that this process serves. */
  ready(info?: ReadyInfo): void
  /** Reports changed information of a process that is ready. */
  update(info: ReadyInfo): void
  /** Stops in order, as on a signal, when the process cannot continue. */
  stop(reason: string, exitCode?: number): void
}

/** Whether a supervisor has started this process. */
export const isSupervised = (): boolean => process.send !== undefined

/** The option of a program that the supervisor starts beside the process that it replaces. */
export const REPLACES = {
  replaces: { about: 'by the supervisor: replaces a process that still runs' },
} as const

/** Resolves when the process that this one replaces has ended. */
export const formerEnded = (): Promise<void> =>
  new Promise((resolve) => {
    const listen = (message: unknown): void => {
      if (!isTurnMessage(message)) return
      process.off('message', listen)
      resolve()
    }
    process.on('message', listen)
    send({ loaded: true })
  })

export function childProcess(duties: ChildDuties): ChildProcess {
  const supervised = isSupervised()
  const manager = connectServiceManager()
  let stopping = false
  let draining = false

  const stop = (reason: string, exitCode = 0): void => {
    if (stopping) return
    stopping = true
    manager.stopping()
    duties.log.info({ reason }, 'stopping')
    duties.stop().then(
      () => {
        duties.log.info({ reason }, 'stopped')
        process.exit(exitCode)
      },
      (error: unknown) => {
        process.stderr.write(`stopping failed: ${textOf(error)}\n`)
        process.exit(1)
      },
    )
  }

  const drain = (reason: string): void => {
    if (draining || duties.drain === undefined) return stop(reason)
    draining = true
    manager.stopping()
    duties.log.info({ reason }, 'draining')
    const drained = (): void => stop(reason)
    duties.drain().then(drained, drained)
  }

  process.on('SIGTERM', () => (supervised ? stop('SIGTERM') : drain('SIGTERM')))
  process.on('SIGINT', () => {
    if (!supervised) stop('SIGINT')
  })
  const stopOrphan = (): void => {
    setTimeout(() => process.exit(1), ORPHAN_STOPS_WITHIN_MS).unref()
    stop(ORPHANED)
  }
  process.on('disconnect', stopOrphan)
  // It may have disconnected during the start, before the handler was set.
  if (supervised && !process.connected) stopOrphan()
  process.on('message', (message) => {
    if (isProbe(message)) send({ probeId: message.probeId })
    else if (isMetricsRequest(message)) void answerMetrics(message.metricsId, duties)
    else if (isDrainRequest(message) && !draining) drain('replaced by another process')
  })

  const report = (info: ReadyInfo): void => {
    send({ ...info, ready: true })
    manager.ready()
  }

  return {
    migrating: () => send({ migrating: true }),
    waiting: (info = {}) => report(info),
    ready: (info = {}) => {
      startupDone()
      report(info)
    },
    update: (info) => send({ ...info, ready: true }),
    stop,
  }
}

/** A failing collector answers with an empty text and does not end the process. */
async function answerMetrics(metricsId: number, duties: ChildDuties): Promise<void> {
  let text = ''
  try {
    text = (await duties.metrics?.()) ?? ''
  } catch (error) {
    process.stderr.write(`metrics failed: ${textOf(error)}\n`)
  }
  send({ metrics: text, metricsId })
}

/** The empty callback ignores a closed channel: `disconnect` stops the process. */
function send(
  message: ReadyMessage | LoadedMessage | MigratingMessage | ProbeMessage | MetricsAnswer,
): void {
  process.send?.(message, undefined, undefined, () => undefined)
}

function isProbe(message: unknown): message is ProbeMessage {
  return typeof message === 'object' && message !== null && 'probeId' in message
}

function isMetricsRequest(message: unknown): message is MetricsRequest {
  return typeof message === 'object' && message !== null && 'metricsId' in message
}

function isDrainRequest(message: unknown): message is DrainRequest {
  return typeof message === 'object' && message !== null && 'drain' in message
}

function isTurnMessage(message: unknown): message is TurnMessage {
  return typeof message === 'object' && message !== null && 'turn' in message
}

const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
