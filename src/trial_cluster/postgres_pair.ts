/**
 * A PostgreSQL primary and its synchronous standby for the trial cluster.
 *
 * Owns: which of them is the primary, promotion and rebuilding. Does not own: running the processes
 * (managed_process).
 *
 * - The primary's commits wait for the standby. When the primary ends then, the standby is promoted
 *   and has all that was acknowledged; the former one becomes its standby as a new copy.
 * - While the standby is not synchronous, a primary that ends restarts in place.
 * - A file names the primary. It is written before the promotion: by then the promoted server has
 *   every acknowledged commit, and the former primary can lack later ones.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readSecretFile, writeSecretFile } from '../files/secret_file.js'
import { postgresServer, type PostgresBinaries } from '../supervisor/postgres_server.js'
import type { Program } from '../supervisor/program.js'
import {
  createReplication,
  type PostgresInstance,
  type ReplicationOptions,
} from '../supervisor/postgres_replication.js'
import { StartupError } from '../supervisor/startup_error.js'

export const POSTGRES_NAMES = ['postgres-1', 'postgres-2'] as const
export type PostgresName = (typeof POSTGRES_NAMES)[number]

export interface PostgresPairOptions extends ReplicationOptions {
  readonly binaries: PostgresBinaries
  /** Holds both servers. */
  readonly folder: string
  readonly ports: Readonly<Record<PostgresName, number>>
  readonly report: (line: string) => void
}

export interface PostgresPair {
  /** Both hosts. */
  readonly url: string
  primary(): PostgresName
  standby(): PostgresName
  /** Commits wait for the standby. */
  isSynchronous(): boolean
  /** @throws StartupError while the server waits for its new copy */
  program(name: PostgresName): Program
  /** Once the primary is ready: makes the copy that the standby starts from. */
  prepareStandby(): Promise<void>
  /** A server is ready. */
  started(name: PostgresName): void
  /** A server ended by itself. */
  lost(name: PostgresName): void
  /** Ends the attempts to rebuild. */
  close(): Promise<void>
}

const PRIMARY_FILE = 'primary'
const STANDBY_SIGNAL = 'standby.signal'
const REBUILD_AGAIN_MS = 500

export function createPostgresPair(options: PostgresPairOptions): PostgresPair {
  const { binaries, password, environment, within, folder, ports, report } = options
  const primaryFile = join(folder, PRIMARY_FILE)
  const instanceOf = (name: PostgresName): PostgresInstance => ({
    folder: join(folder, name),
    port: ports[name],
  })
  const replication = createReplication(options)
  let primary = storedPrimary(primaryFile)
  let isSynchronous = false
  let isCopied = false
  let isClosed = false
  let work: Promise<void> = Promise.resolve()

  const other = (name: PostgresName): PostgresName =>
    name === 'postgres-1' ? 'postgres-2' : 'postgres-1'
  const namePrimary = (name: PostgresName): void => {
    primary = name
    writeSecretFile(primaryFile, name)
  }
  const next = (step: () => Promise<void>): void => {
    work = work.then(step).catch((error: unknown) => report(`PostgreSQL: ${String(error)}`))
  }

  const copy = async (): Promise<void> => {
    await replication.copy(instanceOf(primary), instanceOf(other(primary)))
    isCopied = true
  }

  const failOver = async (former: PostgresName): Promise<void> => {
    const promoted = other(former)
    namePrimary(promoted)
    try {
      await replication.promote(instanceOf(promoted))
    } catch (error) {
      report(`${promoted} is not promoted (${String(error)}); ${former} starts again`)
      namePrimary(former)
      isCopied = true
      return
    }
    report(`${promoted} is the primary`)
    await rebuild()
  }

  /** Repeats until it succeeds: the new primary can end before, and then restarts in place. */
  const rebuild = async (): Promise<void> => {
    while (!isClosed && !isCopied) {
      await copy().catch((error: unknown) => report(`the standby is not copied: ${String(error)}`))
      if (!isCopied) await new Promise((resolve) => setTimeout(resolve, REBUILD_AGAIN_MS))
    }
  }

  return {
    url: urlOf(
      password,
      POSTGRES_NAMES.map((name) => ports[name]),
    ),
    primary: () => primary,
    standby: () => other(primary),
    isSynchronous: () => isSynchronous,
    program: (name) => {
      const { folder, port } = instanceOf(name)
      if (name !== primary && !isCopied) throw new StartupError('waits for a copy of the primary')
      if (name === primary) rmSync(join(folder, STANDBY_SIGNAL), { force: true })
      return postgresServer({ binaries, folder, within, password, environment }).program(port)
    },
    prepareStandby: copy,
    started: (name) => {
      if (name === primary) return
      next(async () => {
        await replication.makeSynchronous(instanceOf(primary))
        isSynchronous = true
      })
    },
    lost: (name) => {
      if (name !== primary || !isSynchronous) return
      isSynchronous = false
      isCopied = false
      next(() => failOver(name))
    },
    close: () => {
      isClosed = true
      return work
    },
  }
}

function storedPrimary(file: string): PostgresName {
  const stored = existsSync(file) ? readSecretFile(file).trim() : ''
  return POSTGRES_NAMES.find((name) => name === stored) ?? 'postgres-1'
}

function urlOf(password: string, ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://causeway:${encodeURIComponent(password)}@${hosts}/postgres`
}
