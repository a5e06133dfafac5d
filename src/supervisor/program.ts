/**
 * One run of one program: start, readiness, liveness, metrics, stop.
 *
 * - A run ends either by `stop` or by itself with a reason.
 * - `stop` sends SIGTERM, and SIGKILL after ten seconds. `retire` lets the program drain first.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import type {
  DrainRequest,
  LoadedMessage,
  MetricsAnswer,
  MetricsRequest,
  MigratingMessage,
  ProbeMessage,
  ReadyInfo,
  ReadyMessage,
  TurnMessage,
} from '../process/child.js'
import { SECOND } from '../base/clock.js'
import { openLogFile } from './log_file.js'

const REPLACES_OPTION = '--replaces'
const STOP_TIMEOUT_MS = 10 * SECOND
/** A start includes the recovery of a large store. A migration of its data has no limit. */
const READY_TIMEOUT_MS = 120 * SECOND
/** Longer than a gateway drains. */
const RETIRE_TIMEOUT_MS = 20 * SECOND
const METRICS_TIMEOUT_MS = 2 * SECOND
/** With liveness_probe a program that hangs ends after 30 s, as by systemd (`WatchdogSec`). */
const PROBE_TIMEOUT_MS = 5 * SECOND
const POLL_INTERVAL_MS = 20
/** File descriptor of the pipe in programs without an IPC channel. */
const LIFELINE = 3

export interface Program {
  readonly command: string
  readonly arguments: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  /** The user it runs as. Absent means the user of this process. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined
  /** Our programs send a message when they are ready; others are polled. */
  readonly readyWhen: 'message' | ((pid: number) => ReadyInfo | undefined)
  readonly readyTimeoutMs?: number
  /**
   * The version of a program of others, which has no metrics of ours. Empty means that it does not
   * say.
   */
  readonly serverVersion?: string
  /** It knows the option of a program that replaces a running process. */
  readonly canReplace?: true
  /**
   * Liveness check of a program of others; ours answer probes. Without one the process counts as
   * alive while it runs. Never rejects.
   */
  readonly isAlive?: (info: ReadyInfo) => Promise<boolean>
  readonly probeTimeoutMs?: number
}

/** A program of a stack, before it runs. */
export interface PlannedProgram {
  readonly name: string
  program(): Program
  /** Stores the reported port, and describes where the program listens. */
  describe(info: ReadyInfo): string
}

export type Start =
  | { readonly ready: true; readonly info: ReadyInfo }
  | { readonly ready: false; readonly why: string }

export interface Run {
  readonly pid: number | undefined
  /** Readiness. Settles once, also when the program ends first. */
  readonly started: Promise<Start>
  /** `exit code 1` or `signal SIGKILL`. */
  readonly ended: Promise<string>
  /** The exit code once it has ended; null after a signal. */
  exitCode(): number | null
  /** Its last log message as plain text. */
  lastLogLine(): string
  readonly isAlive: Program['isAlive'] | undefined
  /** Called with each message that it is ready; a candidate sends another one when it serves. */
  onReady(handler: (info: ReadyInfo) => void): void
  metrics(): Promise<string>
  /** Resolves when a run that replaces another one is loaded, or with why it is not. */
  readonly loaded: Promise<string | undefined>
  /** The run that it replaces has ended. */
  takeTurn(): void
  /** Another run serves: ends this one when it has drained. */
  retire(): Promise<void>
  /** SIGKILL. */
  kill(): void
  stop(): Promise<void>
}

/** @param replaces it starts beside the run that it replaces */
export function run(program: Program, logPath: string, replaces = false): Run {
  const log = openLogFile(logPath)
  const words = replaces && program.canReplace ? [REPLACES_OPTION] : []
  const child = spawn(program.command, [...program.arguments, ...words], {
    env: program.environment,
    ...program.account,
    // The last pipe closes with the supervisor.
    stdio: ['ignore', 'pipe', 'pipe', program.readyWhen === 'message' ? 'ipc' : 'pipe'],
  })
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => log.write(text))
  }
  const ended = endOf(child).then((how) => log.close().then(() => how))
  const lastLogLine = (): string => log.lastLine()
  const started = startOf(program, child, ended, lastLogLine)
  return {
    pid: child.pid,
    started,
    ended,
    exitCode: () => child.exitCode,
    lastLogLine,
    loaded: Promise.race([
      loadedMessage(child),
      started.then((start) => (start.ready ? undefined : start.why)),
    ]),
    takeTurn: () => {
      const turn: TurnMessage = { turn: true }
      if (child.connected) child.send(turn, () => undefined)
    },
    isAlive: program.readyWhen === 'message' ? probeOf(program, child) : program.isAlive,
    onReady: (handler) => {
      child.on('message', (message: unknown) => {
        if (isReadyMessage(message)) handler(infoOf(message))
      })
    },
    kill: () => void child.kill('SIGKILL'),
    metrics: program.readyWhen === 'message' ? metricsOf(child) : () => Promise.resolve(''),
    retire: () => retire(child, ended),
    stop: () => stop(child, ended),
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    // Nothing reads this pipe, so it does not close by itself.
    child.once('exit', () => child.stdio[LIFELINE]?.destroy())
    // `close` follows the last output.
    child.once('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    )
  })
}

async function startOf(
  program: Program,
  child: ChildProcess,
  ended: Promise<string>,
  lastLogLine: () => string,
): Promise<Start> {
  const timeout = new AbortController()
  const { readyTimeoutMs = READY_TIMEOUT_MS } = program
  const late = new Promise<Start>((resolve) => {
    const timer = setTimeout(() => {
      const lines = [`not ready within ${readyTimeoutMs / SECOND} s`, lastLogLine()]
      resolve({ ready: false, why: lines.filter((line) => line !== '').join(': ') })
    }, readyTimeoutMs)
    const unlimited = (): void => clearTimeout(timer)
    timeout.signal.addEventListener('abort', unlimited)
    child.on('message', (message: unknown) => {
      if (isMigratingMessage(message)) unlimited()
    })
  })
  const exited = ended.then((how): Start => ({ ready: false, why: lastLogLine() || how }))
  const ready =
    program.readyWhen === 'message'
      ? readyMessage(child)
      : pollReady(child, program.readyWhen, timeout.signal)
  const start = await Promise.race([ready, exited, late])
  timeout.abort()
  return start
}

function readyMessage(child: ChildProcess): Promise<Start> {
  return new Promise((resolve) => {
    const listen = (message: unknown): void => {
      if (!isReadyMessage(message)) return
      child.off('message', listen)
      resolve({ ready: true, info: infoOf(message) })
    }
    child.on('message', listen)
  })
}

const loadedMessage = (child: ChildProcess): Promise<undefined> =>
  new Promise((resolve) => {
    child.on('message', (message: unknown) => {
      if (isLoadedMessage(message)) resolve(undefined)
    })
  })

const isLoadedMessage = (message: unknown): message is LoadedMessage =>
  typeof message === 'object' && message !== null && 'loaded' in message

const isMigratingMessage = (message: unknown): message is MigratingMessage =>
  typeof message === 'object' && message !== null && 'migrating' in message

function isReadyMessage(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'ready' in message
}

function infoOf({ ready: _, ...info }: ReadyMessage): ReadyInfo {
  return info
}

async function pollReady(
  child: ChildProcess,
  readiness: (pid: number) => ReadyInfo | undefined,
  signal: AbortSignal,
): Promise<Start> {
  while (!signal.aborted) {
    const info = child.pid === undefined ? undefined : readiness(child.pid)
    if (info !== undefined) return { ready: true, info }
    await sleep(POLL_INTERVAL_MS, signal)
  }
  return { ready: false, why: 'aborted' }
}

function metricsOf(child: ChildProcess): () => Promise<string> {
  const request = requestsTo<MetricsAnswer>(child, 'metricsId', METRICS_TIMEOUT_MS)
  return async () => {
    const answer = await request((metricsId): MetricsRequest => ({ metrics: true, metricsId }))
    return answer?.metrics ?? ''
  }
}

/** A program of a former version answers no probe: it counts as alive until it has answered one. */
function probeOf(program: Program, child: ChildProcess): () => Promise<boolean> {
  const { probeTimeoutMs = PROBE_TIMEOUT_MS } = program
  const request = requestsTo<ProbeMessage>(child, 'probeId', probeTimeoutMs)
  let answers = false
  return async () => {
    const answer = await request((probeId): ProbeMessage => ({ probeId }))
    answers ||= answer !== undefined
    return answer !== undefined || !answers
  }
}

/** Numbered requests to a program. Undefined means that no answer came in time. */
function requestsTo<Answer extends object>(
  child: ChildProcess,
  idName: keyof Answer & string,
  timeoutMs: number,
): (request: (id: number) => object) => Promise<Answer | undefined> {
  const waiting = new Map<number, (answer: Answer) => void>()
  let lastId = 0
  child.on('message', (message: Record<string, unknown>) => {
    const id = message[idName]
    if (typeof id === 'number') waiting.get(id)?.(message as Answer)
  })
  return async (request) => {
    if (!child.connected) return undefined
    const id = ++lastId
    const timeout = new AbortController()
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    child.send(request(id), () => undefined)
    const noAnswer = sleep(timeoutMs, timeout.signal).then(() => undefined)
    const answered = await Promise.race([answer, noAnswer])
    timeout.abort()
    waiting.delete(id)
    return answered
  }
}

async function retire(child: ChildProcess, ended: Promise<string>): Promise<void> {
  const timeout = new AbortController()
  const request: DrainRequest = { drain: true }
  if (child.connected) child.send(request, () => undefined)
  await Promise.race([ended, sleep(RETIRE_TIMEOUT_MS, timeout.signal)])
  timeout.abort()
  await stop(child, ended)
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  const timeout = new AbortController()
  child.kill('SIGTERM')
  void sleep(STOP_TIMEOUT_MS, timeout.signal).then(() => {
    if (!timeout.signal.aborted) child.kill('SIGKILL')
  })
  await ended
  timeout.abort()
}

/** Sleep that resolves early when aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}
