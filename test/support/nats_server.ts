/**
 * A real nats-server for a test, on a free port with a temporary store.
 *
 * Owns: the process. Does not own: the stream (bus/nats).
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../../src/supervisor/ports.js'
import { eventually } from './eventually.js'
import { tempFolder } from './temp_folder.js'

export interface NatsServer {
  /** Contains the password. */
  readonly url: string
  readonly port: number
  /** The id of the running process. */
  pid(): number
  start(): Promise<void>
  /** kill -9. */
  kill(): Promise<void>
  /** SIGSTOP and SIGCONT: a peer that neither responds nor closes. Resolves once it is stopped. */
  freeze(): Promise<void>
  thaw(): void
  /** Removes its storage; only while it is not running. */
  wipe(): void
}

const PASSWORD = 'test-password'
const READY = 'Server is ready'

/**
 * @param more flags of nats-server, e.g. for TLS or a configuration file
 * @param hasJetStream without it, it stores nothing
 */
export async function createNatsServer(
  folder: string,
  more: readonly string[] = [],
  hasJetStream = true,
): Promise<NatsServer> {
  const port = await freePort('127.0.0.1')
  const store = join(folder, 'store')
  const isTls = more.some((flag) => flag.startsWith('--tls'))
  let server: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const flags = [...more, '-a', '127.0.0.1', '-p', String(port)]
    if (hasJetStream) flags.push('-js', '-sd', store)
    const child = spawn('nats-server', [...flags, '--user', 'test', '--pass', PASSWORD], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    server = child
    const end = (): void => void child.kill('SIGKILL')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    await new Promise<void>((resolve, reject) => {
      let text = ''
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        if (text.includes(READY)) resolve()
      })
      child.once('exit', () => reject(new Error(`nats-server ended: ${text}`)))
      child.once('error', reject)
    })
  }

  const kill = async (): Promise<void> => {
    const running = server
    server = undefined
    if (running === undefined || running.exitCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }

  return {
    url: `${isTls ? 'tls' : 'nats'}://test:${PASSWORD}@127.0.0.1:${port}`,
    port,
    pid: () => server?.pid ?? 0,
    start,
    kill,
    freeze: async () => {
      const pid = server?.pid ?? 0
      server?.kill('SIGSTOP')
      await eventually('all its threads are stopped', () =>
        threadStates(pid).every((s) => s === 'T'),
      )
    },
    thaw: () => server?.kill('SIGCONT'),
    wipe: () => rmSync(store, { recursive: true, force: true }),
  }
}

/** Runs in the folder of `t`, which kills it. @param configuration of its file */
export async function startNats(
  t: Pick<Test, 'testdir' | 'teardown'>,
  configuration?: string,
): Promise<NatsServer> {
  const folder = tempFolder(t)
  const file = join(folder, 'nats.conf')
  if (configuration !== undefined) writeFileSync(file, configuration)
  const server = await createNatsServer(folder, configuration === undefined ? [] : ['-c', file])
  t.teardown(() => server.kill())
  await server.start()
  return server
}

/** One letter per thread (proc(5), `stat`): a signal stops them one after another. */
const threadStates = (pid: number): readonly string[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
    return stat.charAt(stat.lastIndexOf(')') + 2)
  })
