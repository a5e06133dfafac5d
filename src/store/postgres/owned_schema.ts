/**
 * A schema of PostgreSQL that one process at a time owns and commits to.
 *
 * Owns: its connections. Does not own: ownership and commits (postgres/ownership), tables and reads
 * (callers).
 *
 * - The process owns the schema from `openOwnedSchema` until `close`; callers read after that, on
 *   the same server.
 * - One connection commits; each reader has a connection of its own.
 * - Commits and look-ups by key have one plan each, which uses indexes regardless of statistics: a
 *   plan made while the tables were small would scan them until the next ANALYZE.
 */
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { MINUTE, type Clock, type Pause } from '../../base/clock.js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { withFileName } from '../../base/disk_full.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import { FILES } from '../../base/subjects.js'
import { acquireLock } from '../sqlite/database.js'
import type { Database } from '../database.js'
import { Deposed, type Synchrony } from '../store.js'
import { answerWithin, createAnswers, lostOr, NoAnswer, type Answers } from './answers.js'
import {
  checkTimeline,
  connectToPrimary,
  ENDS_WHEN_SILENT,
  parseStoreUrl,
  requireWrites,
  type Connection,
} from './connection.js'
import { commitsOf, holderAt } from './holder.js'
import type { SeenOwner } from './lease.js'
import { migrate, type OwnedSchemaDefinition } from './migrate.js'
import { watchServer, type ServerWatch } from './server_watch.js'
import { NO_TIMELINES, type Timelines } from './timelines.js'
import { takeOwnership, type Owned, type OwnedConnection } from './ownership.js'

export { Deposed }

/** The schema to open, and the process that opens it. */
export interface SchemaOptions {
  readonly url: string
  /** The schema. */
  readonly shard: string
  /** Names this process (postgres/holder). */
  readonly holder: string
  /** The server that was used last. */
  readonly timelines?: Timelines
  /**
   * Does not own the schema while commits wait for no standby. Absent means that this is not read.
   */
  readonly isSyncRequired?: boolean
  /** This machine's, compared with the server's. Absent means that it is not compared. */
  readonly clock?: Clock
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  readonly pause: Pause
  /** Called when another process owns the schema, and when its server may not be owned yet. */
  readonly onWaiting?: () => void | Promise<void>
  readonly log: Logger
  /**
   * Takes over from this owner, or fails with TakenByAnother. Absent means that it waits as a
   * candidate.
   */
  readonly from?: SeenOwner
}

export interface OwnedSchema<Name extends string> extends Owned {
  readonly writer: Connection
  /** As of the last reading, some seconds ago at most. Null if it is not read. */
  synchrony(): Synchrony | null
  /** As of the last reading. Null if it is not read (postgres/server_clock). */
  clockOffsetMs(): number | null
  readonly readers: Readonly<Record<Name, Connection>>
  close(): Promise<void>
}

/** How the server plans the statements of a connection. */
export type Planning = 'by index' | 'by cost'

/** For reads at a boot of large books, and for operators' lists. */
const READ_WITHIN_MS = 2 * MINUTE

const BY_INDEX = ['seqscan', 'hashjoin', 'mergejoin']
  .map((method) => `SET enable_${method} = off;`)
  .join(' ')
  .concat(' SET plan_cache_mode = force_generic_plan')

/** Held by reference until the process ends: the garbage collector closes others. */
const locks: Database[] = []

const FOLDER_ID_BYTES = 8
const RUN_BYTES = 8

/** Random, of this process. */
let run: string | undefined

/** The holder of a schema for the data directory, whose lock it takes until the process ends. */
export async function lockHolder(dataDir: string, schema: string, random: Random): Promise<string> {
  const folder = resolve(dataDir)
  locks.push(await acquireLock(join(folder, schema)))
  run ??= random.bytes(RUN_BYTES).toString('hex')
  return holderAt(`${hostname()}:${folder}:${folderIdIn(folder, random)}`, run)
}

/**
 * Distinguishes data directories with the same path on machines with the same name, such as
 * containers.
 */
function folderIdIn(folder: string, random: Random): string {
  const file = join(folder, FILES.folderId)
  const draft = `${file}.${process.pid}`
  try {
    if (!existsSync(file)) {
      writeFileSync(draft, random.bytes(FOLDER_ID_BYTES).toString('hex'), {
        mode: 0o600,
        flush: true,
      })
      linkSync(draft, file)
    }
  } catch (error) {
    // Another process may have been first.
    if ((error as { code?: string }).code !== 'EEXIST') throw withFileName(error, file)
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file, 'utf8')
}

const watchedBy = (reads: Answers, connection: Connection): Connection => ({
  ...connection,
  all: (sql, parameters) => reads.ask(() => connection.all(sql, parameters)),
})

/** A candidate does not use the connections of its readers: one of them can end unnoticed. */
function watchEnds(connections: readonly Connection[]) {
  let ended: Error | undefined
  let report: (error: Error) => void = () => undefined
  for (const connection of connections) {
    connection.onLost((error) => {
      ended ??= error
      report(error)
    })
  }
  return {
    /** @throws NoAnswer when one has ended */
    check: (): void => {
      if (ended !== undefined) throw new NoAnswer(ended)
    },
    onEnd: (handler: (error: Error) => void): void => {
      report = handler
      if (ended !== undefined) handler(ended)
    },
  }
}

/** @throws NoAnswer when the server is lost after it was connected to */
export async function openOwnedSchema<Name extends string>(
  { url, shard, timelines = NO_TIMELINES, ...options }: SchemaOptions,
  definition: OwnedSchemaDefinition,
  plannings: Readonly<Record<Name, Planning>>,
  answeredWithin: Partial<Readonly<Record<Name, number>>> = {},
): Promise<OwnedSchema<Name>> {
  const targets = parseStoreUrl(url)
  const purpose = commitsOf(options.holder)
  const writer = await connectToPrimary(targets, shard, purpose, timelines.known())
  await requireWrites(writer)
  timelines.used(writer)
  const opened = await Promise.all(
    (Object.keys(plannings) as Name[]).map(async (name) => {
      const connection = await connectToPrimary([writer.target], shard, name)
      await connection.exec(ENDS_WHEN_SILENT)
      if (plannings[name] === 'by index') await connection.exec(BY_INDEX)
      return [name, connection] as const
    }),
  )
  const watched = opened.map(([name, connection]) => {
    const reads = createAnswers(options.elapsed, answeredWithin[name] ?? READ_WITHIN_MS)
    return { name, reads, connection: watchedBy(reads, connection) }
  })
  const readers = Object.fromEntries(
    watched.map(({ name, connection }) => [name, connection]),
  ) as Record<Name, Connection>
  const all = [writer, ...opened.map(([, connection]) => connection)]
  const ends = watchEnds(all)
  const close = async (): Promise<void> => {
    await Promise.all(all.map((connection) => connection.close()))
  }
  let ownership: OwnedConnection
  let server: ServerWatch
  try {
    await writer.exec(ENDS_WHEN_SILENT)
    const onBlocked = (): void =>
      options.log.warn({ shard }, 'the migration waits for readers of the books, such as an export')
    await migrate(writer, shard, definition, { pause: options.pause, onBlocked })
    await writer.exec(BY_INDEX)
    const { statement } = definition.commitFunction
    const background = readers[opened[0]![0]]
    const reads = watched.map((each) => each.reads)
    server = await watchServer({ ...options, connection: background })
    ownership = await takeOwnership({
      ...options,
      connection: writer,
      background,
      looks: {
        all: async (sql, values) => {
          ends.check()
          return answerWithin(writer.all(sql, values), ANSWER_WITHIN_MS)
        },
      },
      checkServer: () => checkTimeline(writer, targets),
      statement,
      reads,
    })
  } catch (error) {
    await close()
    throw lostOr(error)
  }
  const { fail, release, ...owned } = ownership
  ends.onEnd(fail)
  const { epoch, lastBatch: batch } = owned.ownership()
  options.log.info({ shard, epoch, batch }, 'owner of the books')
  server.start(fail)
  return {
    ...owned,
    writer,
    readers,
    synchrony: server.synchrony,
    clockOffsetMs: server.clockOffsetMs,
    close: async () => {
      server.stop()
      // A server that does not answer does not hold up the end.
      await answerWithin(release(), ANSWER_WITHIN_MS).catch(() => undefined)
      await close()
    },
  }
}
