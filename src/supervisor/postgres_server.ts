/**
 * The bundled PostgreSQL server for trial: its cluster, password and program.
 *
 * Does not own: the books in it (store/postgres); servers of others (STORE_URL).
 *
 * - It listens on loopback only, with a password that is generated at the first start.
 * - It refuses to run as root, so a supervisor that is root runs it as the user `postgres` or
 *   `nobody`, who must be able to reach the folder.
 * - As nats-server it stops when the supervisor's pipe closes; SIGINT ends open sessions.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { ReadyInfo } from '../base/child.js'
import type { Program } from './program.js'
import { messageOf, StartupError } from './startup_error.js'

export const POSTGRES_USER = 'causeway'
const VERSION_MIN = 15
/** Where distributions install versions side by side, off PATH. */
const VERSIONED = '/usr/lib/postgresql'
const UNPRIVILEGED = ['postgres', 'nobody']
const STOP_WITH_SUPERVISOR =
  'trap "" INT; (read -r _ <&3; kill -INT $$ 2>/dev/null) & trap - INT; exec "$0" "$@"'

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

export interface PostgresServer {
  program(port: number): Program
  url(port: number): string
}

export interface PostgresOptions {
  readonly binaries: PostgresBinaries
  /** The cluster; created at the first start. */
  readonly folder: string
  /** Of the server's only user; `folder` must be new when it is new. */
  readonly password: string
  readonly environment: NodeJS.ProcessEnv
  /** Of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** @throws StartupError when there is no server of VERSION_MIN or newer */
export function findPostgres(find: (program: string) => string | undefined): PostgresBinaries {
  const versions = existsSync(VERSIONED) ? readdirSync(VERSIONED).map(Number) : []
  const newest = versions.filter((version) => version >= VERSION_MIN).sort((a, b) => b - a)[0]
  const folder = newest === undefined ? undefined : join(VERSIONED, String(newest), 'bin')
  const initdb = folder === undefined ? find('initdb') : join(folder, 'initdb')
  const postgres = folder === undefined ? find('postgres') : join(folder, 'postgres')
  if (initdb === undefined || postgres === undefined) {
    throw new StartupError(
      `PostgreSQL ${VERSION_MIN} or newer is missing: install it (apt-get install postgresql), ` +
        'or set STORE_URL.',
    )
  }
  return { initdb, postgres }
}

/** @throws StartupError */
export function postgresServer(options: PostgresOptions): PostgresServer {
  const { binaries, folder, password, environment, settings = {} } = options
  const account = unprivilegedAccount()
  if (!existsSync(join(folder, 'PG_VERSION'))) createCluster(options, account)
  return {
    program: (port) => ({
      command: '/bin/sh',
      arguments: [
        ...['-c', STOP_WITH_SUPERVISOR, binaries.postgres, '-D', folder],
        ...['-p', String(port), '-c', 'listen_addresses=127.0.0.1'],
        ...['-c', 'unix_socket_directories='],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      environment,
      account,
      readyWhen: (pid) => readiness(folder, pid),
    }),
    url: (port) => `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/postgres`,
  }
}

function createCluster(
  { binaries, folder, password, environment }: PostgresOptions,
  account?: Account,
): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (account !== undefined) {
    chownSync(folder, account.uid, account.gid)
    // Others may pass through, not read.
    chmodSync(dirname(folder), 0o711)
  }
  const passwordFile = `${folder}.initial`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account !== undefined) chownSync(passwordFile, account.uid, account.gid)
  const args = [
    '-D',
    folder,
    '-U',
    POSTGRES_USER,
    '--locale=C',
    '-E',
    'UTF8',
    '--auth=scram-sha-256',
  ]
  try {
    execFileSync(binaries.initdb, [...args, `--pwfile=${passwordFile}`], {
      env: environment,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      ...account,
    })
  } catch (error) {
    const { stderr } = error as { stderr?: Buffer }
    const why = stderr?.toString().trim().split('\n').at(-1) ?? messageOf(error)
    throw new StartupError(`PostgreSQL cannot use ${folder} (${why}): choose another DATA_DIR.`)
  } finally {
    rmSync(passwordFile)
  }
}

/** Undefined unless this process is root. */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of UNPRIVILEGED) {
    const found = accounts.find(([user]) => user === name)
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) }
  }
  throw new StartupError(
    'PostgreSQL does not run as root: start as another user, or set STORE_URL.',
  )
}

/** postmaster.pid: process id, folder, start, port, sockets, address, shared memory, status. */
function readiness(folder: string, pid: number): ReadyInfo | undefined {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    if (Number(lines[0]) !== pid || lines[7]?.trim() !== 'ready') return undefined
    return { port: Number(lines[3]) }
  } catch {
    return undefined
  }
}
