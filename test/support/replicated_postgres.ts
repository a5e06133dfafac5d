/**
 * Two PostgreSQL servers for a test: a primary and its synchronous standby by streaming
 * replication.
 *
 * - The primary waits for the standby in every commit. A promoted server waits for none until
 *   `rebuild` makes the other one its standby.
 * - A kill and a freeze reach every process of a server at once, as the loss of its machine does.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { freePort } from '../../src/supervisor/ports.js'
import { findPostgres, postgresServer } from '../../src/supervisor/postgres_server.js'
import { createReplication } from '../../src/supervisor/postgres_replication.js'
import { run, type Run } from '../../src/supervisor/program.js'
import { eventually } from './eventually.js'
import { findInstalled } from './postgres_server.js'
import { untilStarted } from './program.js'

interface Node {
  readonly name: string
  readonly folder: string
  readonly port: number
  readonly url: string
  running: Run | undefined
}

const PASSWORD = 'a password'

/** `t` stops both. */
export async function startReplicated(t: Pick<Test, 'teardown'>) {
  const home = mkdtempSync(join(tmpdir(), 'causeway-replicated-'))
  const binaries = findPostgres(findInstalled)
  const options = { binaries, within: home, password: PASSWORD, environment: process.env }
  const replication = createReplication(options)
  const serverIn = (folder: string) => postgresServer({ ...options, folder })

  const nodeOf = async (name: string): Promise<Node> => {
    const [folder, port] = [join(home, name), await freePort('127.0.0.1')]
    return { name, folder, port, url: urlOf([port]), running: undefined }
  }
  const start = async (node: Node): Promise<void> => {
    const program = serverIn(node.folder).program(node.port)
    node.running = run(program, join(home, `${node.name}.log`))
    await untilStarted(node.running)
  }
  const kill = async (node: Node): Promise<void> => {
    node.running?.kill()
    await node.running?.ended
    node.running = undefined
  }
  const killAll = async (node: Node): Promise<void> => {
    for (const pid of await processesOf(node)) signal(pid, 'SIGKILL')
    await kill(node)
  }
  let primary = await nodeOf('one')
  let standby = await nodeOf('two')
  t.teardown(async () => {
    await Promise.all([primary, standby].map(kill))
    rmSync(home, { recursive: true, force: true, maxRetries: 20 })
  })

  /** Replaces the former primary by a synchronous standby of the primary. */
  const rebuild = async (): Promise<void> => {
    await kill(standby)
    await replication.copy(primary, standby)
    await start(standby)
    await replication.makeSynchronous(primary)
  }

  await start(primary)
  await rebuild()
  return {
    /** Both hosts. */
    url: urlOf([primary.port, standby.port]),
    /** Only the server that is the primary now. */
    primaryUrl: () => primary.url,
    killPrimary: () => killAll(primary),
    /** SIGSTOP. @returns what continues it */
    freezePrimary: async () => {
      const frozen = await processesOf(primary)
      for (const pid of frozen) signal(pid, 'SIGSTOP')
      return () => {
        for (const pid of frozen) signal(pid, 'SIGCONT')
      }
    },
    /** Makes the standby the primary; the former one stays as it is. */
    promote: async () => {
      await replication.promote(standby)
      ;[primary, standby] = [standby, primary]
    },
    /** Resolves when a commit on the former primary waits for a standby. */
    untilFormerWaits: async () => {
      await eventually('a commit waits for a standby', async () => {
        const waiting = await administer(
          standby,
          `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
        )
        return waiting.length > 0
      })
    },
    killFormer: () => killAll(standby),
    rebuild,
  }
}

const urlOf = (ports: readonly number[]): string => {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://causeway:${encodeURIComponent(PASSWORD)}@${hosts}/postgres`
}

/** One statement on this server, also when it is a standby. */
async function administer<Row extends pg.QueryResultRow>(node: Node, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: node.url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

/** The postmaster first. */
async function processesOf(node: Node): Promise<readonly number[]> {
  const rows = await administer<{ pid: number }>(node, 'SELECT pid FROM pg_stat_activity')
  return [node.running?.pid ?? 0, ...rows.map(({ pid }) => pid)].filter((pid) => pid > 0)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself.
  }
}
