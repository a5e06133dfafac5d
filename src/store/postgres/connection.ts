/**
 * A connection to the PostgreSQL server that accepts writes.
 *
 * Owns: the hosts of STORE_URL, TLS, session settings, prepared statements. Does not own: tables,
 * transactions, what happens when a connection is lost (postgres/store).
 *
 * - Of several hosts the first that is not in recovery is used; a standby is never read.
 * - Beyond loopback and Unix sockets the connection uses TLS and verifies the certificate.
 * - A lost connection is not replaced: memory may differ from the books, so the process restarts.
 * - 64-bit integers arrive as numbers; amounts are read as text (see store/tables).
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type pg from 'pg'
import type { Bindable, Reader } from '../database.js'
import { POSTGRES } from '../dialect.js'
import { answered } from './answers.js'

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
const ROLE = 'SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS session'
const BIGINT_OID = 20

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
  const places = socket === null ? hosts.split(',') : [socket]
  return places.map((place) => {
    const [, name = '', port] = /^(.*?)(?::([0-9]+))?$/.exec(place) ?? []
    const host = name.replace(/^\[(.*)\]$/, '$1')
    return {
      host,
      port: Number(port ?? parameters.get('port') ?? DEFAULT_PORT),
      database: decodeURIComponent(database),
      user: user === '' ? undefined : user,
      password,
      ssl: isLocal(host) ? undefined : tlsOf(host, parameters.get('sslrootcert')),
    }
  })
}

const isLocal = (host: string): boolean =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host)

const tlsOf = (host: string, caFile: string | null): ConnectionOptions => ({
  rejectUnauthorized: true,
  ...(isIP(host) === 0 ? { servername: host } : {}),
  ...(caFile === null ? {} : { ca: readFileSync(caFile) }),
})

export interface Connection extends Reader {
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
  close(): Promise<void>
}

/** Only when it is used: a process with its books in SQLite starts without it. */
const loadDriver = async (): Promise<typeof pg> => (await import('pg')).default

/** @throws Error that names each host and why it cannot be used */
export async function connectToPrimary(
  targets: readonly PostgresTarget[],
  schema: string,
  name: string,
): Promise<Connection> {
  const { Client, TypeOverrides } = await loadDriver()
  const types = new TypeOverrides()
  types.setTypeParser(BIGINT_OID, Number)
  const faults: string[] = []
  for (const target of targets) {
    const client = new Client({
      ...target,
      ssl: target.ssl ?? false,
      application_name: `causeway ${name}`,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
      types,
      options: `-c search_path=${schema} -c statement_timeout=0 -c jit=off`,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await answered(
        client.query<{ standby: boolean; session: number }>(ROLE),
        CONNECT_WITHIN_MS,
      )
      if (rows[0]?.standby === false) return connectionOf(client, target, rows[0].session)
      faults.push(`${target.host}:${target.port} is a standby`)
    } catch (error) {
      faults.push(`${target.host}:${target.port}: ${(error as Error).message}`)
    }
    await client.end().catch(() => undefined)
  }
  throw new Error(`no PostgreSQL server accepts writes: ${faults.join('; ')}`)
}

function connectionOf(client: pg.Client, target: PostgresTarget, session: number): Connection {
  const prepared = new Map<string, { name: string; text: string }>()
  let closing = false

  const query = async (
    sql: string,
    parameters: readonly Bindable[] = [],
  ): Promise<pg.QueryResult> => {
    let known = prepared.get(sql)
    if (known === undefined) {
      known = { name: `s${prepared.size}`, text: numbered(sql) }
      prepared.set(sql, known)
    }
    return client.query({ ...known, values: [...parameters] })
  }

  return {
    dialect: POSTGRES,
    target,
    session,
    all: async <Row>(sql: string, parameters?: readonly Bindable[]) =>
      (await query(sql, parameters)).rows as Row[],
    run: async (sql, parameters) => (await query(sql, parameters)).rowCount ?? 0,
    exec: async (sql) => void (await client.query(sql)),
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
      await client.end()
    },
  }
}

/** `?` becomes `$1`, `$2`, …; `?2` becomes `$2`. No statement has another question mark. */
export function numbered(sql: string): string {
  let last = 0
  return sql.replace(/\?([0-9]*)/g, (_, number: string) => `$${number === '' ? ++last : number}`)
}
