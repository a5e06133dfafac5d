/**
 * A simulated PostgreSQL server with the schema `cluster` and two shards, in SQLite, under the
 * product's own statements on shards, moves and owners.
 *
 * - Statements run one at a time and are atomic.
 * - F1: batches of a shard are 1, 2, 3, …, each committed once, in the epoch of the last take-over.
 * - After a release no commit has the number of one that a restore has lost.
 * - No processor takes over from an owner that may answer reads by its lease.
 */
import { openDatabase } from '../../../src/store/sqlite/database.js'
import type { Bindable } from '../../../src/store/database.js'
import { SQLITE } from '../../../src/store/dialect.js'
import type { Connection } from '../../../src/store/postgres/connection.js'
import { commitsOf, sessionName } from '../../../src/store/postgres/holder.js'
import { FENCED } from '../../../src/store/postgres/commit_function.js'
import { READS_WITHIN_MS } from '../../../src/store/postgres/ownership.js'
import { COMMIT } from '../books_server.js'
import { createScheduler, type Scheduler } from '../scheduler.js'
import {
  copyTables,
  createCommitNumbers,
  putBackTables,
  type CopiedTables,
} from './cluster_copies.js'

export const SHARDS = ['books_1', 'books_2'] as const

/** A new state of an entity, and its event. */
export interface EntityRow {
  readonly id: string
  readonly partner: string
  readonly key: string
  readonly state: number
  /** The number of the event, per partner. */
  readonly sequence: number
}

/** A process at its end of a connection. */
export interface Link {
  readonly holder: string
  readonly scheduler: Scheduler
  isAlive(): boolean
  isReachable(): boolean
  /** Called once, when the process has ended. */
  onEnd(call: () => void): void
}

export interface ServerConnection extends Connection {
  /** The rows of the next commit, and whether it begins or ends a recovery. */
  prepare(rows: readonly EntityRow[], isRecovering?: boolean): void
}

/** What the books of a shard have of a recovery. */
export interface StoredRecovery {
  readonly isRecovering: boolean
  /** The epoch of the last loss that was accepted. */
  readonly acceptedEpoch: number
}

export interface ClusterServer {
  readonly scheduler: Scheduler
  connect(link: Link, schema: string): ServerConnection
  /** The latest states of a shard. */
  entities(shard: string): Promise<readonly EntityRow[]>
  /** All events, in the order of their commits. */
  events(): Promise<readonly EntityRow[]>
  owner(shard: string): Promise<{ readonly epoch: number; readonly holder: string }>
  recovery(shard: string): Promise<StoredRecovery>
  /** Copies all shards and the schema `cluster`. */
  copy(): Promise<ClusterCopy>
  /** No process is connected. */
  restore(copy: ClusterCopy): Promise<void>
  close(): Promise<void>
}

export interface ClusterServerOptions {
  readonly now: () => number
  /** Changes a statement. */
  readonly planted: (sql: string) => string
  readonly onViolation: (violation: Error) => void
}

interface Commit {
  readonly rows: readonly EntityRow[]
  readonly isRecovering: boolean | undefined
}

const CLUSTER_TABLES = `
  CREATE TABLE shards (shard TEXT PRIMARY KEY, epoch INTEGER NOT NULL DEFAULT 0,
    holder TEXT NOT NULL DEFAULT '', address TEXT NOT NULL DEFAULT '', move_to TEXT,
    move_requested_at INTEGER, moves INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE candidates (name TEXT PRIMARY KEY, address TEXT NOT NULL, prefers TEXT,
    gateways INTEGER NOT NULL, cannot_take TEXT NOT NULL, beat_at INTEGER NOT NULL);
  CREATE TABLE partner_moves (partner TEXT PRIMARY KEY, from_shard TEXT NOT NULL,
    to_shard TEXT NOT NULL, requested_at INTEGER NOT NULL, ended_at INTEGER);
  CREATE TABLE pg_stat_activity (pid INTEGER PRIMARY KEY, application_name TEXT NOT NULL);
  CREATE TABLE events (position INTEGER PRIMARY KEY, shard TEXT NOT NULL, row TEXT NOT NULL)`
const tablesOf = (shard: string): string => `
  ATTACH ':memory:' AS ${shard};
  CREATE TABLE ${shard}.owner (epoch INTEGER NOT NULL, last_batch INTEGER NOT NULL,
    holder TEXT NOT NULL, beat INTEGER NOT NULL, session INTEGER NOT NULL,
    schema_version INTEGER NOT NULL, accepted_epoch INTEGER NOT NULL, recovering INTEGER NOT NULL);
  INSERT INTO ${shard}.owner VALUES (0, 0, '', 0, 0, 1, 0, 0)`

const RENAME = 'UPDATE pg_stat_activity SET application_name = ? WHERE pid = ?'

/** The parts of PostgreSQL's dialect that the statements use. */
const translated = (sql: string, schema: string, now: number): string =>
  sql
    .replace(/(FROM|UPDATE) owner\b/g, `$1 ${schema}.owner`)
    .replaceAll("to_regclass(shard || '.owner') IS NOT NULL", '1')
    .replaceAll('to_regclass(?) IS NOT NULL', '? IS NULL')
    .replaceAll('floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint', String(now))
    .replaceAll("set_config('synchronous_commit', 'off', true)", "'off'")
    .replaceAll('::int', '')

/** The product's, where `meta` is part of the row. */
const RAISE_EPOCH = `UPDATE owner
  SET epoch = max(epoch, ?1) + 1, accepted_epoch = max(epoch, ?1) + 1
  WHERE epoch = ?2 RETURNING epoch`
const statementOf = (sql: string): string => (sql.includes('accepted_epoch') ? RAISE_EPOCH : sql)

interface Owner {
  epoch: number
  lastBatch: number
  holder: string
  session: number
  acceptedEpoch: number
  lastWriteSentAt: number
}

export interface ClusterCopy {
  readonly tables: CopiedTables
  readonly owners: ReadonlyMap<string, Owner>
}

type Result = readonly unknown[] | number | Error

export async function openClusterServer(options: ClusterServerOptions): Promise<ClusterServer> {
  const { now, planted, onViolation } = options
  const scheduler = createScheduler()
  scheduler.hold()
  const database = await openDatabase(':memory:')
  await database.exec(CLUSTER_TABLES)
  for (const shard of SHARDS) await database.exec(tablesOf(shard))
  const owners = new Map<string, Owner>()
  const open = new Set<number>()
  const numbers = createCommitNumbers()
  let sessions = 0
  let position = 0

  const owner = async (shard: string): Promise<Omit<Owner, 'lastWriteSentAt'>> => {
    const columns =
      'epoch, last_batch AS "lastBatch", holder, session, accepted_epoch AS "acceptedEpoch"'
    const [row] = await database.all<Owner>(`SELECT ${columns} FROM ${shard}.owner`)
    return row!
  }
  const hold = (condition: boolean, violation: string): void => {
    if (!condition) onViolation(new Error(violation))
  }
  const recovery = async (shard: string): Promise<StoredRecovery> => {
    const columns = 'recovering, accepted_epoch AS "acceptedEpoch"'
    const [row] = await database.all<{ recovering: number; acceptedEpoch: number }>(
      `SELECT ${columns} FROM ${shard}.owner`,
    )
    return { isRecovering: row!.recovering === 1, acceptedEpoch: row!.acceptedEpoch }
  }
  const store = async (shard: string, { rows, isRecovering }: Commit): Promise<void> => {
    if (isRecovering !== undefined)
      await database.run(`UPDATE ${shard}.owner SET recovering = ?`, [Number(isRecovering)])
    for (const row of rows)
      await database.run('INSERT INTO events VALUES (?, ?, ?)', [
        (position += 1),
        shard,
        JSON.stringify(row),
      ])
  }

  const update = async (
    schema: string,
    sql: string,
    parameters: readonly Bindable[],
    commit: Commit | undefined,
    sentAt: number,
  ): Promise<Result> => {
    const text = translated(planted(statementOf(sql)), schema, now())
    const result = text.includes('RETURNING')
      ? await database.all(text, parameters)
      : await database.run(text, parameters)
    const changed = Array.isArray(result) ? result.length : result
    if (sql === COMMIT && changed === 0) return Object.assign(new Error('fenced'), { code: FENCED })
    if (changed === 0 || schema === 'cluster') return result
    const shard = schema
    const before = owners.get(shard)
    const next = await owner(shard)
    if (before !== undefined && next.epoch !== before.epoch) {
      const isFree = before.holder === '' || before.holder === next.holder
      const isSilent = now() - before.lastWriteSentAt >= READS_WITHIN_MS
      hold(
        isFree || isSilent || !open.has(before.session),
        `no take-over of ${shard} while its owner may answer reads by its lease`,
      )
      hold(next.lastBatch === before.lastBatch, 'F2: a take-over sees every commit before it')
    }
    if (commit !== undefined) {
      hold(next.lastBatch === (before?.lastBatch ?? 0) + 1, `F1: batch ${next.lastBatch}`)
      hold(Number(parameters[0]) === before?.epoch, 'F1: a commit of another epoch')
      hold(
        numbers.commit(shard, next, next.acceptedEpoch),
        `batch ${next.lastBatch} of epoch ${next.epoch} has the number of a lost one`,
      )
      await store(shard, commit)
    }
    owners.set(shard, { ...next, lastWriteSentAt: sentAt })
    return result
  }

  const entities = async (shard: string): Promise<readonly EntityRow[]> => {
    const rows = await database.all<{ row: string }>(
      'SELECT row FROM events WHERE shard = ? ORDER BY position',
      [shard],
    )
    return rows.map(({ row }) => JSON.parse(row) as EntityRow)
  }

  return {
    scheduler,
    entities,
    owner,
    recovery,
    copy: async () => ({ tables: await copyTables(database), owners: new Map(owners) }),
    restore: async ({ tables, owners: copied }) => {
      open.clear()
      await putBackTables(database, tables)
      owners.clear()
      for (const [shard, row] of copied) owners.set(shard, row)
      numbers.restored(copied)
    },
    events: async () => (await Promise.all(SHARDS.map(entities))).flat(),
    close: () => database.close(),
    connect: (link, schema) => {
      const session = (sessions += 1)
      let queue: Promise<unknown> = Promise.resolve()
      let next: Commit | undefined
      const row = [session, sessionName(commitsOf(link.holder))]
      const isOpen = database.run('INSERT INTO pg_stat_activity VALUES (?, ?)', row)
      open.add(session)
      const endSession = async (): Promise<void> => {
        open.delete(session)
        await database.run('DELETE FROM pg_stat_activity WHERE pid = ?', [session])
      }
      link.onEnd(() => {
        // A statement in progress runs later or not at all.
        void scheduler.inOrder('statement', endSession)
      })
      const roundTrip = (sql: string, parameters: readonly Bindable[], sentAt: number) =>
        new Promise<Result>((resolve, reject) => {
          const commit = sql === COMMIT ? next : undefined
          const run = async (): Promise<void> => {
            await isOpen
            if (!open.has(session)) return
            const result = statementOf(sql).startsWith('UPDATE')
              ? await update(schema, sql, parameters, commit, sentAt)
              : sql.includes("'application_name'")
                ? await database.run(RENAME, [parameters[0] ?? '', session])
                : await database.all(translated(planted(sql), schema, now()), parameters)
            const arrive = (): Promise<void> => {
              if (result instanceof Error) reject(result)
              else resolve(result)
              return Promise.resolve()
            }
            void link.scheduler.inOrder('answer', arrive, link.isReachable)
          }
          const isReady = (): boolean => !link.isAlive() || link.isReachable()
          scheduler.inOrder('statement', run, isReady).catch(onViolation)
        })
      const ask = (sql: string, parameters: readonly Bindable[] = []): Promise<Result> => {
        const sentAt = now()
        const asked = queue.then(() => roundTrip(sql, parameters, sentAt))
        queue = asked.catch(() => undefined)
        return asked
      }
      return {
        dialect: SQLITE,
        ...{ system: 'one', timeline: 1 },
        target: {
          ...{ host: '', port: 0, database: '' },
          ...{ user: undefined, password: undefined, ssl: undefined },
        },
        session,
        isReadOnly: false,
        prepare: (rows, isRecovering) => (next = { rows, isRecovering }),
        all: async <Row>(sql: string, parameters?: readonly Bindable[]) =>
          (await ask(sql, parameters)) as Row[],
        run: async (sql, parameters) => (await ask(sql, parameters)) as number,
        exec: async (sql) => void (await ask(sql)),
        onNotice: () => undefined,
        onLost: () => undefined,
        close: () => Promise.resolve(),
      }
    },
  }
}
