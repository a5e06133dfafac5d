/**
 * A simulated PostgreSQL server with the schema `cluster` and two shards, under the product's own
 * statements on shards, owners, and moves of shards and partners.
 *
 * Does not own: tables (tables), what a statement is in SQLite (dialect), transactions of several
 * statements (transactions), rows of commits (commits).
 *
 * - Statements run one at a time and are atomic.
 * - F1: batches of a shard are 1, 2, 3, …, each committed once, in the epoch of the last take-over.
 * - After a release no commit has the number of one that a restore has lost.
 * - No processor takes over from an owner that may answer reads by its lease.
 * - A partner is in one shard, that of its placement, and no other shard commits for it.
 */
import type { Bindable } from '../../../src/store/database.js'
import { SQLITE } from '../../../src/store/dialect.js'
import type { Connection } from '../../../src/store/postgres/connection.js'
import { commitsOf, sessionName } from '../../../src/store/postgres/holder.js'
import { FENCED } from '../../../src/store/postgres/commit_function.js'
import { READS_WITHIN_MS } from '../../../src/store/postgres/ownership.js'
import { unsubmittedStatement } from '../../../src/store/orphans.js'
import { COMMIT } from '../books_server.js'
import { createScheduler, type Scheduler } from '../scheduler.js'
import {
  copyTables,
  createCommitNumbers,
  putBackTables,
  type CopiedTables,
} from './cluster_copies.js'
import { createCommits, usageOf, type StoredBooks } from './commits.js'
import { createTranslation, ownStatement } from './dialect.js'
import { ServerError, statementsIn } from './made.js'
import type { Effects } from './payments.js'
import { openTables, SHARDS, type Tables } from './tables.js'
import { createTransactions, lockOf } from './transactions.js'

/** A process at its end of a connection. */
export interface Link {
  readonly holder: string
  readonly scheduler: Scheduler
  isAlive(): boolean
  isReachable(): boolean
  /** Its machine does not run: what it sends now is sent when it runs again. */
  isPaused(): boolean
  /** Called once, when the process has ended. */
  onEnd(call: () => void): void
}

export interface ServerConnection extends Connection {
  /** What the next commit writes. */
  prepare(commit: Commit): void
}

/** What the books of a shard have of a recovery. */
export interface StoredRecovery {
  readonly isRecovering: boolean
  /** The epoch of the last loss that was accepted. */
  readonly acceptedEpoch: number
}

export interface ClusterServer {
  readonly scheduler: Scheduler
  readonly tables: Tables
  /** A statement on the rows as all see them. */
  seen(sql: string): string
  connect(link: Link, schema: string): ServerConnection
  /** A session whose statements on rows are no steps: they wait for no other, and none for them. */
  connectForMove(link: Link): ServerConnection
  books(shard: string): StoredBooks
  /** Payouts that are accepted and not submitted, after this id. */
  unsubmitted(shard: string, after: string): readonly { readonly id: string }[]
  owner(shard: string): { readonly epoch: number; readonly holder: string }
  recovery(shard: string): StoredRecovery
  /** Copies all shards and the schema `cluster`. */
  copy(): ClusterCopy
  /** No process is connected. */
  restore(copy: ClusterCopy): void
  /** Whether the shard alone can go back to the copy: no partner has moved since, or is moving. */
  canRestoreAlone(copy: ClusterCopy): boolean
  /** No process serves the shard. */
  restoreAlone(copy: ClusterCopy, shard: string): void
  close(): void
}

export interface ClusterServerOptions {
  readonly now: () => number
  /** The partners of each shard. */
  readonly partners: Readonly<Record<string, readonly string[]>>
  /** Changes a statement. */
  readonly planted: (sql: string) => string
  /** A transaction has changed these tables. */
  readonly onMoved: (tables: readonly string[], isStep: boolean) => void
  readonly onViolation: (violation: Error) => void
}

interface Commit extends Pick<Effects, 'changes' | 'payouts' | 'orphans'> {
  /** Whether it begins or ends a recovery. Absent if it does neither. */
  readonly isRecovering?: boolean
}

const RENAME = 'UPDATE pg_stat_activity SET application_name = ? WHERE pid = ?'
/** Statements of a move that others wait for, or that wait for others. */
const IS_STEP =
  /^\s*(BEGIN|COMMIT|ROLLBACK)|FOR UPDATE OF|FOR UPDATE$|^\s*UPDATE cluster\.partner_moves/
/** A copy has many: the begin of its steps is one for some of them, their end for all. */
const OF_COPY = /^BEGIN.*enable_seqscan/s
const BEGIN_ONCE_IN = 3
/** PostgreSQL's driver has booleans where SQLite has 0 and 1. */
const BOOLEANS = ['same_version', 'same_salt', 'linked'] as const

/** What the moves of partners have in common tables. */
const MOVES = ['main.placements', 'main.partner_copies', 'main.partner_moves'] as const
interface MovesRow {
  readonly partner: string
  readonly shard?: string
  readonly ended_at?: number | null
}
type MovesRows = readonly (readonly MovesRow[])[]
const placedIn = ([placements]: MovesRows): string =>
  placements!
    .map(({ partner, shard }) => `${partner} ${shard}`)
    .sort()
    .join()
const areMoving = ([, copies, moves]: MovesRows): boolean =>
  copies!.length > 0 || moves!.some(({ ended_at: endedAt }) => endedAt === null)

const WITHOUT_INDEXES = { ...SQLITE, indexedBy: () => '' }
/** Payouts on a page. */
const PAGE = 500

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

interface Sent {
  readonly sql: string
  readonly parameters: readonly Bindable[]
  readonly commit: Commit | undefined
  readonly sentAt: number
}

export function openClusterServer(options: ClusterServerOptions): ClusterServer {
  const { now, planted, onMoved, onViolation } = options
  const scheduler = createScheduler()
  scheduler.hold()
  const tables = openTables(now)
  const owners = new Map<string, Owner>()
  /** The schema of each session. */
  const open = new Map<number, string>()
  /** The server has ended them. */
  const ended = new Set<number>()
  const numbers = createCommitNumbers()
  const transactions = createTransactions({
    ...{ tables, now },
    onEnded: (session) => ended.add(session),
    onRests: (what) => onViolation(new Error(`${what} waits for a step that rests`)),
    onCommitted: onMoved,
  })
  const commits = createCommits(tables, now, transactions)
  commits.begin(options.partners)
  const translation = createTranslation()
  let sessions = 0
  let steps = 0

  const owner = (shard: string): Omit<Owner, 'lastWriteSentAt'> => {
    const columns =
      'epoch, last_batch AS "lastBatch", holder, session, accepted_epoch AS "acceptedEpoch"'
    return tables.all<Owner>(`SELECT ${columns} FROM ${shard}.owner`)[0]!
  }
  const hold = (condition: boolean, violation: string): void => {
    if (!condition) onViolation(new Error(violation))
  }
  const isShardMoving = (): boolean =>
    tables.all('SELECT 1 FROM main.shards WHERE move_to IS NOT NULL').length > 0
  const recovery = (shard: string): StoredRecovery => ({
    isRecovering:
      tables.all(`SELECT 1 FROM ${shard}.recoveries WHERE released_at IS NULL`).length > 0,
    acceptedEpoch: owner(shard).acceptedEpoch,
  })
  const store = (shard: string, { changes, payouts, orphans, isRecovering }: Commit): void => {
    if (isRecovering !== undefined) commits.recover(shard, isRecovering)
    for (const change of changes) {
      const { partner } = change.row
      hold(commits.has(shard, partner), `${shard} commits for ${partner}, which it does not have`)
      commits.store(shard, change)
    }
    for (const payout of payouts) {
      const { partner } = payout
      hold(commits.has(shard, partner), `${shard} commits for ${partner}, which it does not have`)
      commits.storePayout(shard, payout)
    }
    for (const orphan of orphans) commits.storeOrphan(shard, orphan)
  }
  const checkTakeOver = (shard: string, before: Owner, next: Omit<Owner, 'lastWriteSentAt'>) => {
    const isFree = before.holder === '' || before.holder === next.holder
    const isSilent = now() - before.lastWriteSentAt >= READS_WITHIN_MS
    hold(
      isFree || isSilent || !open.has(before.session),
      `no take-over of ${shard} while its owner may answer reads by its lease`,
    )
    hold(next.lastBatch === before.lastBatch, 'F2: a take-over sees every commit before it')
  }
  const checkCommit = (
    shard: string,
    before: Owner | undefined,
    next: Omit<Owner, 'lastWriteSentAt'>,
    epoch: number,
  ): void => {
    hold(next.lastBatch === (before?.lastBatch ?? 0) + 1, `F1: batch ${next.lastBatch}`)
    hold(epoch === before?.epoch, 'F1: a commit of another epoch')
    hold(
      numbers.commit(shard, next, next.acceptedEpoch),
      `batch ${next.lastBatch} of epoch ${next.epoch} has the number of a lost one`,
    )
  }

  const update = (schema: string, { sql, parameters, commit, sentAt }: Sent): Result => {
    const text = translation(planted(ownStatement(sql)), schema)
    const result = text.includes('RETURNING')
      ? tables.all(text, parameters)
      : tables.run(text, parameters)
    const changed = Array.isArray(result) ? result.length : result
    if (sql === COMMIT && changed === 0) return Object.assign(new Error('fenced'), { code: FENCED })
    if (changed === 0 || schema === 'cluster') return result
    const before = owners.get(schema)
    const next = owner(schema)
    if (before !== undefined && next.epoch !== before.epoch) checkTakeOver(schema, before, next)
    if (commit !== undefined) {
      checkCommit(schema, before, next, Number(parameters[0]))
      store(schema, commit)
    }
    owners.set(schema, { ...next, lastWriteSentAt: sentAt })
    return result
  }
  const execute = (session: number, schema: string, sent: Sent): Result => {
    const [first, ...more] = sent.sql.includes(';') ? statementsIn(sent.sql) : [sent.sql]
    let result = executeOne(session, schema, { ...sent, sql: first! })
    for (const sql of more)
      if (!(result instanceof Error)) result = executeOne(session, schema, { ...sent, sql })
    return result
  }
  const executeOne = (session: number, schema: string, sent: Sent): Result => {
    const { sql, parameters } = sent
    transactions.expire()
    if (ended.has(session)) return new Error('terminating connection: it rested in a transaction')
    if (transactions.control(session, planted(sql))) return 0
    if (transactions.isSkipped(session, sql, parameters)) return sql.startsWith('SELECT') ? [] : 0
    const translatedSql = (): string => translation(planted(sql), schema)
    if (transactions.has(session))
      return transactions.execute(session, translatedSql(), sql, parameters)
    const text = (): string => transactions.seen(translatedSql())
    if (/^\s*(UPDATE|WITH raised)/.test(sql)) return update(schema, sent)
    if (sql.includes("'application_name'"))
      return tables.run(RENAME, [parameters[0] ?? '', session])
    if (/^\s*(INSERT|DELETE)/.test(sql)) return tables.run(text(), parameters)
    return tables.all(text(), parameters)
  }

  const connect = (link: Link, schema: string, isForMove: boolean): ServerConnection => {
    const session = (sessions += 1)
    let queue: Promise<unknown> = Promise.resolve()
    let next: Commit | undefined
    let isClosed = false
    const name = isForMove ? sessionName('move') : sessionName(commitsOf(link.holder))
    tables.run('INSERT INTO pg_stat_activity VALUES (?, ?)', [session, name])
    open.set(session, schema)
    const endSession = (): Promise<void> => {
      open.delete(session)
      transactions.rollBack(session)
      tables.run('DELETE FROM pg_stat_activity WHERE pid = ?', [session])
      return Promise.resolve()
    }
    link.onEnd(() => {
      // A statement in progress runs later or not at all.
      void scheduler.inOrder('statement', endSession)
    })
    const roundTrip = (sql: string, parameters: readonly Bindable[], sentAt: number) =>
      new Promise<Result>((resolve, reject) => {
        if (!link.isAlive()) return
        const sent = { sql, parameters, sentAt, commit: sql === COMMIT ? next : undefined }
        const settle = (result: Result): void => {
          if (result instanceof Error) reject(result)
          else resolve(withBooleans(result))
        }
        const run = (): Promise<void> => {
          if (!open.has(session)) {
            if (isClosed) reject(new Error('the connection is closed'))
            return Promise.resolve()
          }
          const result = answered(() => execute(session, schema, sent))
          const arrive = (): Promise<void> => Promise.resolve(settle(result))
          void link.scheduler.inOrder('answer', arrive, link.isReachable)
          return Promise.resolve()
        }
        const rows = sent.commit === undefined ? [] : rowsIn(sent.commit)
        const isFree = (): boolean =>
          !transactions.isBlocked(session, sql, parameters, schema, rows)
        const isStep = OF_COPY.test(sql) ? (steps += 1) % BEGIN_ONCE_IN === 0 : IS_STEP.test(sql)
        if (
          isForMove &&
          !isStep &&
          link.isReachable() &&
          !link.isPaused() &&
          open.has(session) &&
          isFree()
        )
          return settle(attempt(() => execute(session, schema, sent), onViolation))
        const isHeldBack = isForMove && link.isPaused()
        const isReady = (): boolean =>
          (!link.isAlive() || (link.isReachable() && !(isHeldBack && link.isPaused()))) && isFree()
        const step = (): Promise<void> => Promise.resolve().then(run)
        scheduler.inOrder('statement', step, isReady).catch(onViolation)
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
      prepare: (commit) => (next = commit),
      all: async <Row>(sql: string, parameters?: readonly Bindable[]) =>
        (await ask(sql, parameters)) as Row[],
      run: async (sql, parameters) => (await ask(sql, parameters)) as number,
      exec: async (sql) => void (await ask(sql)),
      onNotice: () => undefined,
      onLost: () => undefined,
      close: () => {
        isClosed = isForMove
        return isForMove ? endSession() : Promise.resolve()
      },
    }
  }

  return {
    scheduler,
    tables,
    seen: transactions.seen,
    owner,
    recovery,
    books: (shard) => commits.books(shard),
    unsubmitted: (shard, after) => {
      const { sql, values } = unsubmittedStatement('payouts', after, PAGE)
      const text = sql(WITHOUT_INDEXES).replaceAll('FROM payouts', `FROM ${shard}.payouts`)
      return tables.all(transactions.seen(text), values)
    },
    copy: () => ({ tables: copyTables(tables), owners: new Map(owners) }),
    restore: ({ tables: rows, owners: copied }) => {
      for (const session of open.keys()) transactions.rollBack(session)
      open.clear()
      putBackTables(tables, rows, ['main', ...SHARDS])
      transactions.restored()
      owners.clear()
      for (const [shard, row] of copied) owners.set(shard, row)
      numbers.restored(copied)
    },
    canRestoreAlone: ({ tables: rows }) => {
      const now = MOVES.map((table) => tables.all<MovesRow>(`SELECT * FROM ${table}`))
      const then = MOVES.map((table) => rows.get(table) as unknown as readonly MovesRow[])
      const isSame = placedIn(now) === placedIn(then)
      const isAnyMoving = areMoving(now) || areMoving(then) || isShardMoving()
      return isSame && !isAnyMoving && transactions.areNone()
    },
    restoreAlone: ({ tables: rows, owners: copied }, shard) => {
      for (const [session, schema] of open)
        if (schema === shard) {
          open.delete(session)
          tables.run('DELETE FROM pg_stat_activity WHERE pid = ?', [session])
        }
      putBackTables(tables, rows, [shard])
      const row = copied.get(shard)!
      owners.set(shard, row)
      numbers.restored(new Map([[shard, row]]))
    },
    close: () => tables.close(),
    connect: (link, schema) => connect(link, schema, false),
    connectForMove: (link) => connect(link, 'cluster', true),
  }
}

/** What a commit writes, and a step of a copy may have taken. */
const rowsIn = ({ changes, payouts }: Commit): readonly string[] => [
  ...changes.flatMap(({ row }) => [
    lockOf('intents', row.id),
    lockOf('limit_usage', usageOf(row.partner)),
  ]),
  ...payouts.map(({ id }) => lockOf('payouts', id)),
]

/** An error of the server is an answer. */
function answered(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof ServerError) return error
    throw error
  }
}

/** A statement that the server does not know is a fault of the simulation. */
function attempt(run: () => Result, onViolation: (violation: Error) => void): Result {
  try {
    return answered(run)
  } catch (error) {
    onViolation(error as Error)
    return error as Error
  }
}

function withBooleans(result: readonly unknown[] | number): readonly unknown[] | number {
  const [row] = Array.isArray(result) ? (result as Record<string, unknown>[]) : []
  if (row !== undefined) for (const name of BOOLEANS) if (name in row) row[name] = row[name] === 1
  if (row?.['prints'] instanceof Uint8Array)
    return (result as Record<string, unknown>[]).map((each) => ({
      ...each,
      prints: Buffer.from(each['prints'] as Uint8Array),
    }))
  return result
}
