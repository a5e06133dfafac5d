/**
 * Streaming replication between two bundled PostgreSQL servers: the copy of a primary, its
 * synchronous standby, the promotion.
 *
 * Does not own: the servers (postgres_server), when to promote (trial_cluster/postgres_pair).
 */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { POSTGRES_USER, type PostgresBinaries } from './postgres_server.js'
import { serverUserOf, type ServerUser } from './server_user.js'

const PROMOTED_WITHIN_S = 60
const SYNCHRONOUS_WITHIN_MS = 60_000
const POLL_INTERVAL_MS = 100
const REMOVE_RETRIES = 20

/** One of the servers, on loopback. */
export interface PostgresInstance {
  readonly folder: string
  readonly port: number
}

export interface Replication {
  /** Replaces the folder by a copy of the primary that starts as its standby. */
  copy(primary: PostgresInstance, to: PostgresInstance): Promise<void>
  /** Resolves when each commit of the primary waits for its standby. */
  makeSynchronous(primary: PostgresInstance): Promise<void>
  promote(standby: PostgresInstance): Promise<void>
}

export interface ReplicationOptions {
  readonly binaries: PostgresBinaries
  readonly password: string
  readonly environment: NodeJS.ProcessEnv
  /** The DATA_DIR of both servers. */
  readonly within: string
}

export function createReplication(options: ReplicationOptions): Replication {
  const { binaries, password, environment, within } = options

  const run = async (
    { prefix, account }: ServerUser,
    program: string,
    port: number,
    args: readonly string[],
  ): Promise<string> => {
    const path = join(dirname(binaries.postgres), program)
    const [command, ...words] = [...prefix, path, ...args]
    const { stdout } = await promisify(execFile)(command!, words, {
      cwd: '/',
      env: {
        ...environment,
        PGHOST: '127.0.0.1',
        PGPORT: String(port),
        PGUSER: POSTGRES_USER,
        PGPASSWORD: password,
        PGDATABASE: 'postgres',
      },
      ...account,
    })
    return stdout.trim()
  }
  const query = ({ folder, port }: PostgresInstance, sql: string): Promise<string> =>
    run(serverUserOf({ folder, within }), 'psql', port, ['-XtAqc', sql])

  return {
    copy: async (primary, { folder }) => {
      rmSync(folder, { recursive: true, force: true, maxRetries: REMOVE_RETRIES })
      await run(serverUserOf({ folder, within }), 'pg_basebackup', primary.port, [
        ...['-D', folder, '-R', '--checkpoint=fast', '--no-sync'],
      ])
    },
    makeSynchronous: async (primary) => {
      await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
      await query(primary, 'SELECT pg_reload_conf()')
      const deadline = performance.now() + SYNCHRONOUS_WITHIN_MS
      const isSynchronous = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`
      while ((await query(primary, isSynchronous)) === '') {
        if (performance.now() > deadline) throw new Error('the standby does not become synchronous')
        await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
      }
    },
    promote: async (standby) => {
      await query(standby, `SELECT pg_promote(true, ${PROMOTED_WITHIN_S})`)
    },
  }
}
