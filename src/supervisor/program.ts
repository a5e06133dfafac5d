/**
 * One run of one program.
 *
 * Owns: starting it, hearing that it serves, asking it for metrics, stopping it. Does not own:
 * starting it again (managed_process), nor which programs there are (programs).
 *
 * - A run ends as exactly one of: told to stop, or by itself with a reason.
 * - Stopping takes ten seconds at most; what is not gone by then is killed.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import type { MetricsAnswer, MetricsRequest, ReadyInfo, ReadyMessage } from '../base/child.js'
import { SECOND } from '../base/clock.js'
import { openLogFile } from './log_file.js'

const STOP_WITHIN_MS = 10 * SECOND
/** Recovery of a large store is part of a start. */
const READY_WITHIN_MS = 120 * SECOND
const METRICS_WITHIN_MS = 2 * SECOND
const LOOK_EVERY_MS = 20
/** Where a program that does not talk to us has its end of the pipe. */
const LIFELINE = 3

export interface Program {
  readonly command: string
  readonly arguments: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  /** Our own programs say that they serve; at others we have to look. */
  readonly serves: 'says' | ((pid: number) => ReadyInfo | undefined)
  /** Whether it still works. Left out where running means working. Never rejects. */
  readonly answers?: (info: ReadyInfo) => Promise<boolean>
}

export type Start =
  | { readonly ready: true; readonly info: ReadyInfo }
  | { readonly ready: false; readonly why: string }

export interface Run {
  readonly pid: number | undefined
  /** Whether it came to serve. Settles once, also when it ends before. */
  readonly started: Promise<Start>
  /** How it ended: `exit code 1`, `signal SIGKILL`. */
  readonly ended: Promise<string>
  /** Its own exit code, once it has ended; null when a signal ended it. */
  exitCode(): number | null
  /** What it wrote last. */
  lastWords(): string
  readonly answers: Program['answers'] | undefined
  metrics(): Promise<string>
  /** At once, without its help. */
  kill(): void
  stop(): Promise<void>
}

export function run(program: Program, logPath: string): Run {
  const log = openLogFile(logPath)
  const child = spawn(program.command, program.arguments, {
    env: program.environment,
    // The last pipe closes with us: a lifeline.
    stdio: ['ignore', 'pipe', 'pipe', program.serves === 'says' ? 'ipc' : 'pipe'],
  })
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => log.write(text))
  }
  const ended = endOf(child).then((how) => log.close().then(() => how))
  const lastWords = (): string => log.lastLine()
  return {
    pid: child.pid,
    started: startOf(program, child, ended, lastWords),
    ended,
    exitCode: () => child.exitCode,
    lastWords,
    answers: program.answers,
    kill: () => void child.kill('SIGKILL'),
    metrics: program.serves === 'says' ? metricsOf(child) : () => Promise.resolve(''),
    stop: () => stop(child, ended),
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    // Nobody reads it, so it would not notice its end.
    child.once('exit', () => child.stdio[LIFELINE]?.destroy())
    // All that it printed is read.
    child.once('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    )
  })
}

async function startOf(
  program: Program,
  child: ChildProcess,
  ended: Promise<string>,
  lastWords: () => string,
): Promise<Start> {
  const patience = new AbortController()
  const late = after(READY_WITHIN_MS, patience.signal).then((): Start => ({
    ready: false,
    why: `it did not serve within ${READY_WITHIN_MS / SECOND} s`,
  }))
  const gone = ended.then((how): Start => ({ ready: false, why: lastWords() || how }))
  const serves =
    program.serves === 'says' ? heard(child) : seen(child, program.serves, patience.signal)
  const start = await Promise.race([serves, gone, late])
  patience.abort()
  return start
}

function heard(child: ChildProcess): Promise<Start> {
  return new Promise((resolve) => {
    const listen = (message: unknown): void => {
      if (!isReadyMessage(message)) return
      child.off('message', listen)
      const { ready, ...info } = message
      resolve({ ready, info })
    }
    child.on('message', listen)
  })
}

function isReadyMessage(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'ready' in message
}

async function seen(
  child: ChildProcess,
  look: (pid: number) => ReadyInfo | undefined,
  patience: AbortSignal,
): Promise<Start> {
  while (!patience.aborted) {
    const info = child.pid === undefined ? undefined : look(child.pid)
    if (info !== undefined) return { ready: true, info }
    await after(LOOK_EVERY_MS, patience)
  }
  return { ready: false, why: 'nobody waits any more' }
}

function metricsOf(child: ChildProcess): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>()
  let asked = 0
  child.on('message', (message) => {
    if (isMetricsAnswer(message)) waiting.get(message.metricsId)?.(message.metrics)
  })
  return async () => {
    if (!child.connected) return ''
    const metricsId = ++asked
    const request: MetricsRequest = { metrics: true, metricsId }
    const patience = new AbortController()
    const answer = new Promise<string>((resolve) => waiting.set(metricsId, resolve))
    child.send(request, () => undefined)
    const silence = after(METRICS_WITHIN_MS, patience.signal).then(() => '')
    const text = await Promise.race([answer, silence])
    patience.abort()
    waiting.delete(metricsId)
    return text
  }
}

function isMetricsAnswer(message: unknown): message is MetricsAnswer {
  return typeof message === 'object' && message !== null && 'metricsId' in message
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  const patience = new AbortController()
  child.kill('SIGTERM')
  void after(STOP_WITHIN_MS, patience.signal).then(() => {
    if (!patience.signal.aborted) child.kill('SIGKILL')
  })
  await ended
  patience.abort()
}

/** A pause that ends early, and quietly, when nobody waits for it any more. */
function after(milliseconds: number, patience: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      patience.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    patience.addEventListener('abort', end)
  })
}
