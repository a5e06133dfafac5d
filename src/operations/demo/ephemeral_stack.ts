/** A temporary stack on free ports, for the demo and tests: the supervisor as a child process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../base/project_root.js'
import { FILES } from '../../base/subjects.js'
import { readEnvironment } from '../../supervisor/environment.js'
import { readSandbox, type Sandbox } from '../calls/sandbox.js'

export interface EphemeralStack {
  readonly process: ChildProcess
  /** Resolves when it serves; rejects with its output when the start fails. */
  readonly ready: Promise<Sandbox>
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>
  /** Standard output and standard error so far. */
  output(): string
}

/** As in the Makefile: the supervisor does little, and its memory stays level. */
const YOUNG_GENERATION = '--max-semi-space-size=2'

/** Without a console, which no partner needs. */
export const FREE_PORTS = {
  ...{ HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', NATS_PORT: '0' },
  ...{ CONSOLE: 'off', CONSOLE_PORT: '0' },
}

/**
 * It runs outside the project folder and so without `.env`, except for WEBHOOK_ALLOW_PRIVATE.
 *
 * @param root a built checkout; this one by default
 * @param program its main program: a stack, or the trial cluster
 */
export function startEphemeralStack(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  root = projectRoot(),
  program = 'supervisor/main.js',
): EphemeralStack {
  const main = join(root, '.build/src', program)
  const child = spawn(process.execPath, [YOUNG_GENERATION, main], {
    cwd: tmpdir(),
    env: readEnvironment().forSupervisor({ ...FREE_PORTS, ...settings, DATA_DIR: dataDir }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel ends it with this process
  })
  let output = ''
  const collect = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout?.on('data', collect)
  child.stderr?.on('data', collect)
  const ready = new Promise<Sandbox>((resolve, reject) => {
    const onOutput = (): void => {
      if (!/^ready: /m.test(output)) return
      child.stdout?.off('data', onOutput)
      resolve(readSandbox(join(dataDir, FILES.sandbox)))
    }
    child.stdout?.on('data', onOutput)
    child.once('close', () => reject(new Error(output.trim())))
  })
  ready.catch(() => undefined) // a caller may wait for `ended` alone
  const ended = once(child, 'close').then(([exitCode]) => exitCode as number | null)
  return { process: child, ready, ended, output: () => output }
}
