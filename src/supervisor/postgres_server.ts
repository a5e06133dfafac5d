/**
 * The bundled PostgreSQL server for trial: its cluster, password and program.
 *
 * Does not own: the books in it (store/postgres); servers of others (STORE_URL).
 *
 * - It listens on loopback only, with a password that is generated at the first start.
 * - It refuses to run as root: server_user has the user that it runs as.
 * - As nats-server it stops when the supervisor's pipe closes; SIGINT ends open sessions.
 * - A cluster is of one major version: of several installed ones its own is used, else the newest.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadyInfo } from '../process/child.js'
import { writeSecretFileFor } from '../files/secret_file.js'
import type { Program } from './program.js'
import { serverUserOf, type ServerFolder, type ServerUser } from './server_user.js'
import { serverVersion } from './server_version.js'
import { messageOf, StartupError } from './startup_error.js'

export const POSTGRES_USER = 'causeway'
const VERSION_MIN = 15
/** Where distributions install versions side by side, off PATH. */
const VERSIONED = '/usr/lib/postgresql'
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

/** The folder is the cluster; created at the first start. */
export interface PostgresOptions extends ServerFolder {
  readonly binaries: PostgresBinaries
  /** The password of the server's only user. A new password needs a new `folder`. */
  readonly password: string
  readonly environment: NodeJS.ProcessEnv
  /** Settings of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface WantedPostgres {
  /** The major version of a cluster that exists. */
  readonly version?: number | undefined
  /** Where distributions install versions side by side. */
  readonly installed?: string
}

/** @throws StartupError when there is no server of VERSION_MIN or newer */
export function findPostgres(
  find: (program: string) => string | undefined,
  { version: wanted, installed = VERSIONED }: WantedPostgres = {},
): PostgresBinaries {
  const folderOf = (version: number): string => join(installed, String(version), 'bin')
  const versions = (existsSync(installed) ? readdirSync(installed).map(Number) : [])
    .filter((version) => version >= VERSION_MIN)
    .filter((version) => existsSync(join(folderOf(version), 'postgres'))) // not its clients only
    .sort((a, b) => b - a)
  const version = versions.find((each) => each === wanted) ?? versions[0]
  const folder = version === undefined ? undefined : folderOf(version)
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

/** The major version of a cluster, or of its copy. Undefined if there is none. */
export function clusterVersion(folder: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(folder, 'PG_VERSION'), 'utf8'), 10)
  } catch {
    return undefined
  }
}

/** @throws StartupError */
export function postgresServer(options: PostgresOptions): PostgresServer {
  const { binaries, folder, password, environment, settings = {} } = options
  const user = serverUserOf(options)
  if (!existsSync(join(folder, 'PG_VERSION'))) createCluster(options, user)
  const [command, ...prefix] = [...user.prefix, '/bin/sh']
  return {
    program: (port) => ({
      command,
      arguments: [
        ...[...prefix, '-c', STOP_WITH_SUPERVISOR, binaries.postgres, '-D', folder],
        ...['-p', String(port), '-c', 'listen_addresses=127.0.0.1'],
        ...['-c', 'unix_socket_directories='],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      environment,
      account: user.account,
      serverVersion: serverVersion(binaries.postgres),
      readyWhen: (pid) => readiness(folder, pid),
    }),
    url: (port) => `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/postgres`,
  }
}

function createCluster(
  { binaries, folder, password, environment }: PostgresOptions,
  { prefix, account }: ServerUser,
): void {
  const passwordFile = `${folder}.initial`
  writeSecretFileFor(passwordFile, password, account)
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
    const [command, ...words] = [...prefix, binaries.initdb, ...args]
    execFileSync(command!, [...words, `--pwfile=${passwordFile}`], {
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
