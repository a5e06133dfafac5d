/**
 * A process of the stack, seen from inside: it says when it serves, gives metrics, stops when told.
 *
 * Owns: the messages between the supervisor and a process, and the signals. Does not own: what
 * there is to stop (each `main.ts`), nor restarts (supervisor).
 *
 * - `stop` runs once, whoever asks first; then the process ends: 0, or 1 when stopping failed.
 * - A process whose supervisor is gone stops by itself: nothing is left behind.
 * - Under a supervisor SIGINT is not ours: Ctrl-C reaches the whole group at once, and the
 *   supervisor keeps the order.
 * - Without a supervisor (started by hand) the process works the same and Ctrl-C stops it.
 */

/** The books went back in time: to start again changes nothing, an operator has to act. */
export const EXIT_BOOKS_BEHIND = 78

/** What a process tells about itself once it serves: the ports it got, for instance. */
export type ReadyInfo = Readonly<Record<string, string | number | boolean>>

/** Process to supervisor, once. */
export type ReadyMessage = { readonly ready: true } & ReadyInfo

/** Supervisor to process. */
export interface MetricsRequest {
  readonly metrics: true
  readonly metricsId: number
}

/** Process to supervisor, in Prometheus' text format. */
export interface MetricsAnswer {
  readonly metrics: string
  readonly metricsId: number
}

export interface ChildDuties {
  /** Called when somebody asks for the metrics; a process without any leaves it out. */
  readonly metrics?: () => string | Promise<string>
  /** Lets go of everything, what is in flight first. It is called at most once. */
  readonly stop: () => Promise<void>
}

export interface ChildProcess {
  /** Tells the supervisor that this process serves. */
  ready(info?: ReadyInfo): void
  /** Stops in order, as a signal would: for a process that finds it cannot go on. */
  stop(exitCode?: number): void
}

export function childProcess(duties: ChildDuties): ChildProcess {
  const supervised = process.send !== undefined
  let stopping = false

  const stop = (exitCode = 0): void => {
    if (stopping) return
    stopping = true
    duties.stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        process.stderr.write(`stopping failed: ${reason(error)}\n`)
        process.exit(1)
      },
    )
  }

  process.on('SIGTERM', () => stop())
  process.on('SIGINT', () => {
    if (!supervised) stop()
  })
  process.on('disconnect', () => stop())
  // It may have gone while this process was still starting, before anybody listened.
  if (supervised && !process.connected) stop()
  process.on('message', (message) => {
    if (isMetricsRequest(message)) void answerMetrics(message.metricsId, duties)
  })

  return {
    ready: (info = {}) => tell({ ...info, ready: true }),
    stop,
  }
}

/** A failing collector must not take the process down: it answers with nothing. */
async function answerMetrics(metricsId: number, duties: ChildDuties): Promise<void> {
  let text = ''
  try {
    text = (await duties.metrics?.()) ?? ''
  } catch (error) {
    process.stderr.write(`metrics failed: ${reason(error)}\n`)
  }
  tell({ metrics: text, metricsId })
}

/** The empty callback: a supervisor that just went away is no error here, C2 deals with it. */
function tell(message: ReadyMessage | MetricsAnswer): void {
  process.send?.(message, undefined, undefined, () => undefined)
}

function isMetricsRequest(message: unknown): message is MetricsRequest {
  return typeof message === 'object' && message !== null && 'metricsId' in message
}

const reason = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
