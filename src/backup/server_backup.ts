/**
 * A backup of the PostgreSQL server of the books, by its own tools: pg_basebackup and
 * pg_verifybackup.
 *
 * - It is a copy of the whole server of one moment: the books of all shards, and the pools there.
 * - The state of the server and the free space are checked first, so a fault is one sentence and
 *   not the output of a tool.
 * - The audit needs a running server, so it is not part of such a backup.
 */
import { execFile } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toRfc3339, type Clock } from '../base/clock.js'
import { writeSecretFile } from '../files/secret_file.js'
import { connectToPrimary, type PostgresTarget } from '../store/postgres/connection.js'
import type { BackupFolder } from './backups.js'
import { stateOf } from './books_state.js'
import { requireFree } from './free_space.js'
import {
  BackupFault,
  digestOf,
  MANIFEST,
  manifestText,
  readManifest,
  SERVER_FILES,
  type BooksState,
  type Manifest,
} from './manifest.js'

/** Where the copy of the server's folder is in a backup. */
export const BASE = 'base'
/** The CA certificates of the system; tools of PostgreSQL 15 have no name for them. */
const SYSTEM_CA = '/etc/ssl/certs/ca-certificates.crt'

export interface ServerTools {
  /** The folder of the programs. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

export interface ServerBackupOptions {
  readonly targets: readonly PostgresTarget[]
  /** A file of CA certificates that the URL names. */
  readonly caFile: string | undefined
  readonly schema: string
  readonly into: BackupFolder
  /** @param version the major version of the server @throws BackupFault */
  readonly tools: (version: number) => ServerTools
  readonly version: string
  readonly clock: Clock
  /** Bytes that are free where the folder is. */
  readonly freeBytes: (folder: string) => Promise<number>
  readonly signal: AbortSignal
}

/** @throws BackupFault */
export async function backUpServer(
  options: ServerBackupOptions,
): Promise<{ readonly folder: string; readonly manifest: Manifest }> {
  const { into, clock, signal } = options
  const { target, books, version, bytes } = await checkedServer(options)
  const tools = options.tools(version)
  requireFree(into.path, await options.freeBytes(into.path), bytes)
  const begun = clock.now()
  const draft = into.draft(begun)
  try {
    const base = join(draft, BASE)
    const environment = { ...tools.environment, ...variablesOf(target, options.caFile) }
    await runTool({ ...tools, environment }, signal, 'pg_basebackup', [
      ...['--pgdata', base, '--wal-method', 'stream', '--checkpoint', 'fast'],
      ...['--manifest-checksums', 'SHA256', '--no-password'],
    ])
    chmodSync(base, 0o700)
    await verifyBase(base, tools, signal)
    const files = await Promise.all(
      SERVER_FILES.map(async (name) => {
        const path = join(draft, name)
        return { name, bytes: (await stat(path)).size, sha256: await digestOf(path), schema: 0 }
      }),
    )
    const manifest = {
      version: options.version,
      snapshot_at: toRfc3339(begun),
      completed_at: toRfc3339(clock.now()),
      ...{ books, files },
      audit: { conclusion: 'not audited: run make audit against the server' },
    }
    writeSecretFile(join(draft, MANIFEST), manifestText(manifest))
    const folder = await into.finish(draft, begun)
    return { folder, manifest: readManifest(folder) }
  } catch (error) {
    into.discard(draft)
    throw error
  }
}

/** Compares each file with the digests that pg_basebackup has written. @throws BackupFault */
export const verifyBase = (base: string, tools: ServerTools, signal: AbortSignal): Promise<void> =>
  runTool(tools, signal, 'pg_verifybackup', [base])

async function runTool(
  { folder, environment }: ServerTools,
  signal: AbortSignal,
  name: string,
  args: readonly string[],
): Promise<void> {
  try {
    const program = join(folder, name)
    await promisify(execFile)(program, [...args], { env: environment, signal, cwd: '/' })
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    const [line = message] = (stderr ?? '').split('\n').filter((each) => each !== '')
    throw new BackupFault(`${line.trim()}.`)
  }
}

const variablesOf = (target: PostgresTarget, caFile: string | undefined): NodeJS.ProcessEnv => ({
  PGHOST: target.host,
  PGPORT: String(target.port),
  ...(target.user === undefined ? {} : { PGUSER: target.user }),
  ...(target.password === undefined ? {} : { PGPASSWORD: target.password }),
  ...(target.ssl === undefined
    ? { PGSSLMODE: 'disable' }
    : { PGSSLMODE: 'verify-full', PGSSLROOTCERT: caFile ?? SYSTEM_CA }),
})

interface ServerRow {
  readonly level: string
  readonly senders: number
  readonly may_replicate: boolean
  /** Major. */
  readonly version: number
  readonly bytes: number
}

/** A server hides the size of a database from a role that cannot connect to it. */
const SERVER = `SELECT current_setting('wal_level') AS level,
  CAST(current_setting('max_wal_senders') AS integer) AS senders,
  (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user) AS may_replicate,
  CAST(current_setting('server_version_num') AS integer) / 10000 AS version,
  (SELECT CAST(sum(CASE WHEN has_database_privilege(oid, 'CONNECT')
      THEN pg_database_size(oid) ELSE 0 END) AS float8) FROM pg_database) AS bytes`

interface CheckedServer {
  readonly target: PostgresTarget
  readonly books: BooksState
  /** Major. */
  readonly version: number
  /** The size of the databases; the copy also has the WAL of its time. */
  readonly bytes: number
}

async function checkedServer({ targets, schema }: ServerBackupOptions): Promise<CheckedServer> {
  const connection = await connectToPrimary(targets, schema, 'backup')
  try {
    const [state] = await connection.all<ServerRow>(SERVER)
    const fault = faultOf(state!)
    if (fault !== undefined) throw new BackupFault(fault)
    const { version, bytes } = state!
    return { target: connection.target, books: await stateOf(connection), version, bytes }
  } finally {
    await connection.close()
  }
}

function faultOf({ level, senders, may_replicate }: ServerRow): string | undefined {
  if (level === 'minimal') return 'wal_level of the server is minimal: set it to replica.'
  if (senders === 0) return 'max_wal_senders of the server is 0: set it to 10.'
  if (!may_replicate) return 'the role of STORE_URL has no REPLICATION: ALTER ROLE … REPLICATION.'
  return undefined
}
