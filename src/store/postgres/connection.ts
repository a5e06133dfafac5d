/**
 * A connection to the PostgreSQL server that accepts writes.
 *
 * Owns: the hosts of STORE_URL, TLS, session settings, prepared statements. Does not own: tables,
 * transactions, what happens when a connection is lost (postgres/store).
 *
 * - All hosts are dialled at once. Of those that are not in recovery the one with the newest
 *   timeline is used: the others are former primaries, which accept connections until they are
 *   stopped. A standby is never read.
 * - A server of an older timeline than this process, or an earlier one in its data directory, has
 *   used is refused (postgres/timelines).
 * - Beyond loopback and Unix sockets the connection uses TLS and verifies the certificate.
 * - A lost connection is not replaced: memory may differ from the books, so the process restarts.
 * - 64-bit integers arrive as numbers; amounts are read as text (see store/tables).
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type pg from 'pg'
import { SECOND } from '../../base/clock.js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { isDamage } from '../../base/damage.js'
import type { Bindable, Reader } from '../database.js'
import { POSTGRES } from '../dialect.js'
import { answerWithin, NoAnswer } from './answers.js'
import { sessionName } from './holder.js'

export interface PostgresTarget {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string | undefined
  readonly password: string | undefined
  readonly ssl: ConnectionOptions | undefined
}

const DEFAULT_PORT = 5432
const CONNECT_WITHIN_MS = 5_000
/** A host that is up answers in this time after the first primary that does. */
const OTHERS_WITHIN_MS = 500
/** The list of all settings would take as long as the rest of ROLE. */
const SINCE_17 = 'transaction_timeout'
/** The timeline is the first part of the name of a WAL file, in hexadecimal digits. */
const ROLE = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS session,
  current_setting('default_transaction_read_only') = 'on' AS "isReadOnly",
  (SELECT system_identifier::text FROM pg_control_system()) AS system,
  CASE WHEN pg_is_in_recovery() THEN '0'
    ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline,
  CASE WHEN current_setting('${SINCE_17}', true) IS NOT NULL
    THEN set_config('${SINCE_17}', '0', false) END`
const BIGINT_OID = 20
/** A server that does not answer does not hold up the end of a connection. */
const CLOSE_WITHIN_MS = SECOND
/**
 * Whatever a server, a database or a role has for sessions without settings of their own: a commit
 * is on the synchronous standbys, or a warning tells that it is not, and neither a rest nor a wait
 * ends a session. A rest within a transaction does, as the server has it: that releases the locks
 * of a dead owner. In our SQL a backslash is a character.
 */
const SESSION = [
  ...['synchronous_commit=on', 'default_transaction_isolation=read\\ committed', 'jit=off'],
  ...['statement_timeout=0', 'lock_timeout=0', 'idle_session_timeout=0'],
  ...['client_min_messages=warning', 'standard_conforming_strings=on'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/**
 * The server ends the session of a machine that does not answer it, which frees its locks and its
 * name. Otherwise it waits for hours: no process that takes its place could join the cluster.
 */
export const ENDS_WHEN_SILENT = `SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1;
  SET tcp_keepalives_count = ${ANSWER_WITHIN_MS / SECOND - 2};
  SET tcp_user_timeout = ${ANSWER_WITHIN_MS}`

/**
 * The hosts of `postgres://user:password@a,b:5433/name?sslrootcert=FILE`; `?host=/folder` is a
 * Unix socket.
 *
 * @throws Error when it is not such a URL
 */
export function parseStoreUrl(url: string): readonly PostgresTarget[] {
  const found = /^postgres(?:ql)?:\/\/(?:([^@/]*)@)?([^/]*)\/([^?]+)(?:\?(.*))?$/.exec(url)
  if (found === null) throw new Error('STORE_URL is not postgres://user@host,host/database')
  const [, credentials = '', hosts = '', database = '', query = ''] = found
  const parameters = new URLSearchParams(query)
  const [user, password] = credentials.split(':').map(decodeURIComponent)
  const socket = parameters.get('host')
  const listed = socket === null ? hosts.split(',') : [socket]
  return listed.map((text) => {
    const [, name = '', port] = /^(.*?)(?::([0-9]+))?$/.exec(text) ?? []
    const host = name.replace(/^\[(.*)\]$/, '$1')
    const isHost = host !== '' && (!host.includes(':') || isIP(host) === 6)
    const number = Number(port ?? parameters.get('port') ?? DEFAULT_PORT)
    if (!isHost || !(number > 0 && number < 65_536))
      throw new Error(`STORE_URL has a host or port that is none: '${text}'`)
    return {
      host,
      port: number,
      database: decodeURIComponent(database),
      user: user === '' ? undefined : user,
      password,
      ssl: isLocal(host) ? undefined : tlsOf(host, parameters.get('sslrootcert')),
    }
  })
}

/** Whether every host is this machine. */
export const isLocalStore = (url: string): boolean =>
  parseStoreUrl(url).every(({ host }) => isLocal(host))

const isLocal = (host: string): boolean =>
  host.startsWith('/') ||
  host === 'localhost' ||
  host === '::1' ||
  (isIP(host) === 4 && host.startsWith('127.'))

const tlsOf = (host: string, caFile: string | null): ConnectionOptions => ({
  rejectUnauthorized: true,
  ...(isIP(host) === 0 ? { servername: host } : {}),
  ...(caFile === null ? {} : { ca: readFileSync(caFile) }),
})

/** The history of a server and its copies. Each promotion begins a new timeline. */
export interface Timeline {
  readonly system: string
  readonly timeline: number
}

export interface Connection extends Reader, Timeline {
  /** One statement in one transaction; `?` stands for a parameter. */
  run(sql: string, parameters?: readonly Bindable[]): Promise<number>
  /** Several statements without parameters. */
  exec(sql: string): Promise<void>
  /** Called with each notice of the server. */
  onNotice(report: (code: string, message: string) => void): void
  /** Called once when the connection ends unexpectedly. */
  onLost(report: (error: Error) => void): void
  /** Only this server. */
  readonly target: PostgresTarget
  /** The process id of the server's end. */
  readonly session: number
  /** Its transactions are read-only by default; audits, backups and exports do with that. */
  readonly isReadOnly: boolean
  close(): Promise<void>
}

/** Only when it is used: a process with its books in SQLite starts without it. */
const loadDriver = async (): Promise<typeof pg> => (await import('pg')).default

interface Role {
  readonly standby: boolean
  readonly isReadOnly: boolean
  readonly session: number
  readonly system: string
  readonly timeline: string
}

interface Dialled {
  readonly client: pg.Client
  readonly target: PostgresTarget
  readonly session: number
  readonly isReadOnly: boolean
  readonly server: Timeline
}

/**
 * @param known a server of an older timeline is refused
 * @throws Error that names each host and why it cannot be used
 */
export async function connectToPrimary(
  targets: readonly PostgresTarget[],
  schema: string,
  name: string,
  known?: Timeline,
): Promise<Connection> {
  const { Client, TypeOverrides } = await loadDriver()
  const types = new TypeOverrides()
  types.setTypeParser(BIGINT_OID, Number)
  const faults: string[] = []
  const primaries: Dialled[] = []
  let isChosen = false

  const dial = async (target: PostgresTarget): Promise<void> => {
    const client = new Client({
      ...target,
      ssl: target.ssl ?? false,
      application_name: sessionName(name),
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
      types,
      options: `-c search_path=${schema} ${SESSION}`,
    })
    client.on('error', () => undefined)
    const end = (): void => void client.end().catch(() => undefined)
    try {
      await client.connect()
      const { rows } = await answerWithin(client.query<Role>(ROLE), CONNECT_WITHIN_MS)
      const { standby, isReadOnly, session, system, timeline } = rows[0]!
      const server = { system, timeline: Number.parseInt(timeline, 16) }
      const fault =
        poolerFault(client, session) ?? (standby ? 'is a standby' : faultOf(server, known))
      if (fault === null && !isChosen) {
        primaries.push({ client, target, session, isReadOnly, server })
        return
      }
      faults.push(`${target.host}:${target.port} ${fault}`)
    } catch (error) {
      faults.push(`${target.host}:${target.port}: ${(error as Error).message}`)
    }
    end()
  }

  await allOrSoonAfterFirst(targets.map(dial), () => primaries.length > 0)
  isChosen = true
  const [newest, ...former] = [...primaries].sort(
    (one, other) => other.server.timeline - one.server.timeline,
  )
  for (const { client } of former) void client.end().catch(() => undefined)
  if (newest === undefined)
    throw new Error(`no PostgreSQL server accepts writes: ${faults.join('; ')}`)
  return connectionOf(newest)
}

/** Resolves when all have ended, or shortly after one of them has found something. */
async function allOrSoonAfterFirst(
  all: readonly Promise<void>[],
  isFound: () => boolean,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const soonAfterFirst = new Promise<void>((resolve) => {
    for (const each of all) {
      void each.then(() => {
        if (isFound()) timer ??= setTimeout(resolve, OTHERS_WITHIN_MS)
      })
    }
  })
  await Promise.race([Promise.all(all), soonAfterFirst])
  clearTimeout(timer)
}

/**
 * A former primary answers a process that is connected to it.
 *
 * @throws NoAnswer when another host has been promoted since
 */
export async function checkTimeline(
  { system, timeline }: Timeline,
  targets: readonly PostgresTarget[],
): Promise<void> {
  if (targets.length < 2) return
  const newest = await connectToPrimary(targets, 'pg_catalog', 'look').catch(() => undefined)
  await newest?.close()
  if (newest?.system === system && newest.timeline > timeline)
    throw new NoAnswer(new Error('another server was promoted'))
}

/**
 * A pooler gives sessions of the server in turn: settings, locks and prepared statements of ours
 * would be those of others. It shows by the process id for cancels, which is not the session's.
 */
function poolerFault(client: pg.Client, session: number): string | null {
  const { processID } = client as pg.Client & { readonly processID?: number }
  if (processID === undefined || processID === null || processID === session) return null
  return 'is a connection pooler, such as PgBouncer: name the server itself'
}

/**
 * For a process that is to write. Providers make a server read-only when its disk is nearly full.
 *
 * @throws Error of a read-only server; the connection is closed
 */
export async function requireWrites(connection: Connection): Promise<void> {
  if (!connection.isReadOnly) return
  const { host, port } = connection.target
  await connection.close()
  const fault = `${host}:${port} is read-only (default_transaction_read_only)`
  throw new Error(`no PostgreSQL server accepts writes: ${fault}`)
}

/** Why a primary is not used. Null if it is. */
function faultOf({ system, timeline }: Timeline, known: Timeline | undefined): string | null {
  if (known === undefined || system !== known.system || timeline >= known.timeline) return null
  return `is a former primary: its timeline ${timeline} is before ${known.timeline}`
}

function connectionOf({ client, target, session, isReadOnly, server }: Dialled): Connection {
  const prepared = new Map<string, { name: string; text: string }>()
  let closing = false
  let last: Promise<unknown> = Promise.resolve()

  const named = (error: Error): void => {
    if (isDamage(error)) error.message = `database ${target.database} is damaged: ${error.message}`
  }
  const inOrder = <Answer>(send: () => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(send)
    last = answer.catch(named)
    return answer
  }
  const query = (sql: string, parameters: readonly Bindable[] = []): Promise<pg.QueryResult> => {
    let known = prepared.get(sql)
    if (known === undefined) {
      known = { name: `s${prepared.size}`, text: numbered(sql) }
      prepared.set(sql, known)
    }
    const named = { ...known, values: [...parameters] }
    return inOrder(() => client.query(named))
  }

  return {
    dialect: POSTGRES,
    ...server,
    target,
    session,
    isReadOnly,
    all: async <Row>(sql: string, parameters?: readonly Bindable[]) =>
      (await query(sql, parameters)).rows as Row[],
    run: async (sql, parameters) => (await query(sql, parameters)).rowCount ?? 0,
    exec: async (sql) => void (await inOrder(() => client.query(sql))),
    onNotice: (report) => {
      client.on('notice', ({ code, message }) => report(code ?? '', message ?? ''))
    },
    onLost: (report) => {
      let reported = false
      const lost = (error: Error): void => {
        if (closing || reported) return
        reported = true
        report(error)
      }
      client.on('error', lost)
      client.on('end', () => lost(new Error('the server ended the connection')))
    },
    close: async () => {
      closing = true
      await answerWithin(client.end(), CLOSE_WITHIN_MS).catch(() => undefined)
    },
  }
}

/** `?` becomes `$1`, `$2`, …; `?2` becomes `$2`. No statement has another question mark. */
export function numbered(sql: string): string {
  let last = 0
  return sql.replace(/\?([0-9]*)/g, (_, number: string) => `$${number === '' ? ++last : number}`)
}
