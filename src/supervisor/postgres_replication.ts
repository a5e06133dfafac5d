/**
 * Streaming replication between two bundled PostgreSQL servers: the copy of a primary, its
 * synchronous standby, the promotion.
 *
 * Does not own: the servers (postgres_server), when to promote (cluster/postgres_pair).
 */
import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { POSTGRES_USER, unprivilegedAccount, type PostgresBinaries } from './postgres_server.js'

const PROMOTED_WITHIN_S = 60
const SYNCHRONOUS_WITHIN_MS = 60_000
const POLL_INTERVAL_MS = 100
const REMOVE_RETRIES = 20

/** One of the servers, on loopback. */
export interface PostgresPlace {
  readonly folder: string
  readonly port: number
}

export interface Replication {
  /** Replaces the folder by a copy of the primary that starts as its standby. */
  copy(primary: PostgresPlace, to: PostgresPlace): Promise<void>
  /** Resolves when each commit of the primary waits for its standby. */
  makeSynchronous(primary: PostgresPlace): Promise<void>
  promote(standby: PostgresPlace): Promise<void>
}

export interface ReplicationOptions {
  readonly binaries: PostgresBinaries
  readonly password: string
  readonly environment: NodeJS.ProcessEnv
}

export function createReplication(options: ReplicationOptions): Replication {
  const { binaries, password, environment } = options
  const account = unprivilegedAccount()

  const run = async (program: string, port: number, args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(join(dirname(binaries.postgres), program), args, {
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
  const query = ({ port }: PostgresPlace, sql: string): Promise<string> =>
    run('psql', port, ['-XtAqc', sql])

  return {
    copy: async (primary, { folder }) => {
      rmSync(folder, { recursive: true, force: true, maxRetries: REMOVE_RETRIES })
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (account !== undefined) chownSync(folder, account.uid, account.gid)
      await run('pg_basebackup', primary.port, [
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
