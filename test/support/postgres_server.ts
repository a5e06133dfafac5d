/** A PostgreSQL server for a test, on a free port and in a temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import {
  connectToPrimary,
  parseStoreUrl,
  type Connection,
} from '../../src/store/postgres/connection.js'
import { findProgram } from '../../src/supervisor/environment.js'
import { freePort } from '../../src/supervisor/ports.js'
import { findPostgres, postgresServer } from '../../src/supervisor/postgres_server.js'
import { run, type Run } from '../../src/supervisor/program.js'
import { untilStarted } from './program.js'

export interface TestServer {
  readonly url: string
  /** 0 means that it does not run. */
  pid(): number
  /** SIGKILL of the server; its sessions end by themselves. */
  kill(): Promise<void>
  start(): Promise<void>
}

export const findInstalled = (program: string): string | undefined =>
  findProgram(program, process.env['PATH'] ?? '')

/** Why tests that need a server are skipped; false where one is installed. */
export const noPostgres = ((): string | false => {
  try {
    findPostgres(findInstalled)
    return false
  } catch {
    return 'PostgreSQL 15 or newer is not installed'
  }
})()

/** Ends a test file as skipped where no server is installed; else it has no time limit. */
export function requirePostgres(t: Pick<Test, 'pass' | 'setTimeout'>): void {
  t.setTimeout(0)
  if (noPostgres === false) return
  t.pass('PostgreSQL', { skip: noPostgres })
  process.exit()
}

/** A server on a free port, with its cluster in a folder, which may be new. */
export async function serverIn(
  folder: string,
  password: string,
  settings: Readonly<Record<string, string>> = {},
) {
  const port = await freePort('127.0.0.1')
  const binaries = findPostgres(findInstalled)
  const [within, environment] = [dirname(folder), process.env]
  const server = postgresServer({ binaries, folder, within, password, environment, settings })
  return { url: server.url(port), run: (): Run => run(server.program(port), `${folder}.log`) }
}

/** A connection to a server, which `t` closes. */
export async function connectedTo(
  t: Pick<Test, 'teardown'>,
  url: string,
  schema: string,
): Promise<Connection> {
  const connection = await connectToPrimary(parseStoreUrl(url), schema, 'test')
  t.teardown(() => connection.close())
  return connection
}

/**
 * `t` stops it.
 *
 * @param settings of the server, by name
 * @param parent of its folder
 */
export async function startPostgres(
  t: Pick<Test, 'teardown'>,
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<TestServer> {
  const home = mkdtempSync(join(parent, 'causeway-postgres-'))
  const server = await serverIn(join(home, 'cluster'), 'a password', settings)
  let running: Run | undefined
  const start = async (): Promise<void> => {
    running = server.run()
    await untilStarted(running)
  }
  const kill = async (): Promise<void> => {
    running?.kill()
    await running?.ended
  }
  t.teardown(async () => {
    await kill()
    rmSync(home, { recursive: true, force: true, maxRetries: 20 })
  })
  await start()
  return { url: server.url, pid: () => running?.pid ?? 0, kill, start }
}
