/**
 * A stack of one's own for a while: the supervisor as a child, on free ports.
 *
 * Owns: starting it, waiting for it, stopping it. Does not own: what is done with it (demo, tests).
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../base/protos.js'
import { FILES } from '../base/subjects.js'
import { readEnvironment } from '../supervisor/environment.js'
import { readSandbox, type Sandbox } from './sandbox.js'

export interface EphemeralStack {
  readonly process: ChildProcess
  /** Resolves when it serves. Rejects with what it printed when it does not come to that. */
  readonly ready: Promise<Sandbox>
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** What it printed so far. */
  output(): string
}

export const FREE_PORTS = { HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', NATS_PORT: '0' }

/**
 * It runs outside of the project's folder: only where webhooks may go is taken from the caller's
 * `.env`.
 * @param root another built checkout than this one
 */
export function startEphemeralStack(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  root = projectRoot(),
): EphemeralStack {
  const main = join(root, '.build/src/supervisor/main.js')
  const child = spawn(process.execPath, [main], {
    cwd: tmpdir(),
    env: readEnvironment().forSupervisor({ ...FREE_PORTS, ...settings, DATA_DIR: dataDir }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the last one ends it with us, however we end
  })
  let output = ''
  const collect = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout?.on('data', collect)
  child.stderr?.on('data', collect)
  const ready = new Promise<Sandbox>((resolve, reject) => {
    const look = (): void => {
      if (!/^ready: /m.test(output)) return
      child.stdout?.off('data', look)
      resolve(readSandbox(join(dataDir, FILES.sandbox)))
    }
    child.stdout?.on('data', look)
    child.once('close', () => reject(new Error(output.trim())))
  })
  ready.catch(() => undefined) // whoever only waits for the end has no use for it
  const ended = once(child, 'close').then(([exitCode]) => exitCode as number | null)
  return { process: child, ready, ended, output: () => output }
}
