/**
 * A schema of PostgreSQL that one process at a time owns and commits to.
 *
 * Owns: its connections, heartbeats and the numbers of its commits. Does not own: who takes over
 * (postgres/lease), tables and reads (callers).
 *
 * - The process owns the schema from `openOwnedSchema` until `close`; callers read after that, on
 *   the same server.
 * - One connection commits; each reader has a connection of its own.
 * - A commit that fails has an unknown outcome, also one that the server reports as done with a
 *   warning: a cancelled wait for the standby means that only one server has it.
 */
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { Logger } from '../../base/log.js'
import { acquireLock, type Bindable } from '../database.js'
import { Deposed } from '../store.js'
import { FENCED } from './commit_function.js'
import { connectToPrimary, parseStoreUrl, type Connection } from './connection.js'
import {
  acquireLease,
  beat,
  checkOwnership,
  DEPOSED,
  HEARTBEAT_MS,
  release,
  type Ownership,
} from './lease.js'
import { migrate, type SchemaDefinition } from './migrate.js'

export { Deposed }

/** Who opens a schema, and where. */
export interface SchemaOptions {
  readonly url: string
  /** The schema. */
  readonly shard: string
  /** Names this process; the same after a restart. */
  readonly holder: string
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly log: Logger
}

export interface OwnedSchema<Name extends string> {
  readonly writer: Connection
  readonly readers: Readonly<Record<Name, Connection>>
  /** As of the last commit. */
  ownership(): Ownership
  /**
   * Calls the commit function with the values for the next batch.
   *
   * @throws Deposed when another process owns the schema
   */
  commit(valuesOf: (epoch: number, batch: number) => readonly Bindable[]): Promise<void>
  /** Resolves when this process still owned the schema after the call. @throws Deposed */
  barrier(): Promise<void>
  /** The epoch was raised by this process. */
  raised(epoch: number): void
  /** Called when a connection is lost or another process owns the schema. */
  onFailure(handler: (error: Error) => void): void
  close(): Promise<void>
}

/** The class of warnings; a commit succeeds without one. */
const WARNING = '01000'

/** The holder of a schema for the data directory, whose lock it takes until the process ends. */
export async function lockHolder(dataDir: string, schema: string): Promise<string> {
  const folder = resolve(dataDir)
  await acquireLock(join(folder, schema))
  return `${hostname()}:${folder}`
}

export async function openOwnedSchema<Name extends string>(
  { url, shard, ...options }: SchemaOptions,
  definition: SchemaDefinition,
  readerNames: readonly [Name, ...Name[]],
): Promise<OwnedSchema<Name>> {
  const { elapsed, log } = options
  const writer = await connectToPrimary(parseStoreUrl(url), shard, 'commits')
  const opened = await Promise.all(
    readerNames.map(async (name) => {
      return [name, await connectToPrimary([writer.target], shard, name)] as const
    }),
  )
  const readers = Object.fromEntries(opened) as Record<Name, Connection>
  const all = [writer, ...opened.map(([, connection]) => connection)]
  await migrate(writer, shard, definition)
  await writer.exec('SET plan_cache_mode = force_generic_plan')
  const background = readers[readerNames[0]]
  let owned = await acquireLease({ ...options, connection: writer, background })
  log.info({ shard, epoch: owned.epoch, batch: owned.lastBatch }, 'owner of the books')

  const warnings: string[] = []
  writer.onNotice((code, message) => {
    if (code === WARNING) warnings.push(message)
  })
  let report: (error: Error) => void = () => undefined
  for (const connection of all) connection.onLost((error) => report(error))

  let lastCommitAt = elapsed()
  const heartbeat = setInterval(() => {
    if (elapsed() - lastCommitAt < HEARTBEAT_MS) return
    beat(writer, owned.epoch).catch((error: unknown) => report(error as Error))
  }, HEARTBEAT_MS)
  const { statement } = definition.commitFunction

  return {
    writer,
    readers,
    ownership: () => owned,
    commit: async (valuesOf) => {
      const next = owned.lastBatch + 1
      warnings.length = 0
      try {
        await writer.run(statement, valuesOf(owned.epoch, next))
      } catch (error) {
        throw (error as { code?: string }).code === FENCED ? new Deposed(DEPOSED) : error
      }
      const [warning] = warnings
      if (warning !== undefined) throw new Error(`the server committed with a warning: ${warning}`)
      owned = { ...owned, lastBatch: next }
      lastCommitAt = elapsed()
    },
    barrier: () => checkOwnership(writer, owned.epoch),
    raised: (epoch) => (owned = { ...owned, epoch }),
    onFailure: (handler) => (report = handler),
    close: async () => {
      clearInterval(heartbeat)
      await release(writer, owned.epoch).catch(() => undefined)
      await Promise.all(all.map((connection) => connection.close()))
    },
  }
}
