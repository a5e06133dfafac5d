/**
 * The connections of processors to the books' server: statements under way, lost answers, and
 * failovers to the synchronous standby.
 *
 * Owns: the invariants of the chain of commits. Does not own: the server's rows (books_server), the
 * processors (owner_process).
 *
 * - F1: batches are 1, 2, 3, …, each committed once, in the epoch of the last take-over.
 * - F2: a take-over sees every commit before it.
 * - F3: a process whose commit was refused never commits again.
 * - No processor takes over from a living owner while that may answer reads by its lease.
 * - A statement of a process that has ended can still run; its answer is dropped.
 * - A failover keeps every acknowledged commit. A former primary still answers reads, and no write:
 *   no standby confirms it.
 * - After a restore the chain goes on from the restored copy.
 */
import { join } from 'node:path'
import type { Bindable } from '../../src/store/database.js'
import { SQLITE } from '../../src/store/dialect.js'
import type { Connection } from '../../src/store/postgres/connection.js'
import { FENCED } from '../../src/store/postgres/commit_function.js'
import { READS_WITHIN_MS } from '../../src/store/postgres/ownership.js'
import type { Progress } from '../../src/store/progress.js'
import type { CommitRows } from '../../src/store/store.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { COMMIT, type BooksServer, type OwnerRow } from './books_server.js'
import { createScheduler, type Scheduler, type Step } from './scheduler.js'

/** The outcome of a write: `lost` and `kept` reset the connection, before or after it ran. */
export type WriteOutcome =
  'done' | 'lost' | 'kept' | 'unanswered' | 'repeated' | 'warned' | 'warned and lost'

/** A process at its end of a connection. */
export interface Link {
  readonly holder: string
  readonly scheduler: Scheduler
  isAlive(): boolean
  isReachable(): boolean
}

export interface BooksConnection extends Connection {
  readonly server: BooksServer
  /** The rows of the next commit. */
  prepare(rows: CommitRows): void
  /** The process has ended: statements under way may still run. */
  abandon(): void
}

export interface BooksNetwork {
  /** The server of the primary. */
  readonly server: BooksServer
  readonly owner: OwnerRow
  readonly failovers: number
  /** That of the books, as a processor that takes over now knows it. */
  progress(): Progress
  connect(link: Link): BooksConnection
  /** Statements that can run now. */
  waiting(): readonly Step[]
  /** Runs one of them. */
  release(index: number): Promise<void>
  hold(): void
  /** The standby is promoted. Some connections are lost, others stay with the former primary. */
  failOver(): Promise<void>
  /** Removes former primaries. */
  endFormer(): void
  /** An older copy takes the place of the books. No process is connected. */
  restore(replace: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export interface BooksNetworkOptions {
  readonly folder: string
  readonly server: BooksServer
  /** Opens the server of the primary again. */
  readonly reopen: () => Promise<BooksServer>
  readonly now: () => number
  readonly random: SeededRandom
  readonly outcomeOfWrite: () => WriteOutcome
  /** Called with a broken invariant. */
  readonly onViolation: (violation: Error) => void
  readonly onCount: (what: string) => void
}

export const CONNECTION_LOST = 'the connection was lost'
/** Clocks differ in speed by at most this factor. */
export const CLOCK_SPEED = 1.05

interface Sent {
  readonly link: Link
  readonly sql: string
  readonly parameters: readonly Bindable[]
  readonly rows: CommitRows | null
  readonly sentAt: number
  /** Absent for a second copy of a statement, whose answer is ignored. */
  readonly answer: ((result: Result, warned?: boolean) => void) | undefined
}
type Result = readonly unknown[] | number | Error

export async function createBooksNetwork(options: BooksNetworkOptions): Promise<BooksNetwork> {
  const { folder, reopen, now, random, outcomeOfWrite, onViolation, onCount } = options
  const scheduler = createScheduler()
  const servers: BooksServer[] = [options.server]
  const connections = new Set<Open>()
  const refused = new Set<Link>()
  const primary = (): BooksServer => servers[0]!
  let owner = await primary().owner()
  /** The last commit of the epochs before this one. */
  let { lastBatch: lastBatchBefore } = owner
  let ownerLink: Link | null = null
  let lastWriteSentAt = -Infinity

  const hold = (condition: boolean, violation: string): void => {
    if (!condition) onViolation(new Error(violation))
  }
  const afterTakeOver = (next: OwnerRow, link: Link): void => {
    const isFree = owner.holder === '' || owner.holder === next.holder
    hold(next.lastBatch === owner.lastBatch, 'F2: a take-over sees every commit before it')
    hold(
      isFree || now() - lastWriteSentAt >= READS_WITHIN_MS / CLOCK_SPEED,
      'no take-over while the owner may answer reads by its lease',
    )
    if (!isFree && ownerLink?.isAlive() === true) onCount('taken over from a living owner')
    ownerLink = link
    lastBatchBefore = next.lastBatch
  }
  const afterCommit = (epoch: number, batch: number, link: Link): void => {
    hold(batch === owner.lastBatch + 1, `F1: batch ${batch} follows ${owner.lastBatch}`)
    hold(epoch === owner.epoch, `F1: a commit of epoch ${epoch} in epoch ${owner.epoch}`)
    hold(!refused.has(link), 'F3: a process that was refused commits')
  }

  /** Runs a write on the primary. */
  const write = async ({ sql, parameters, rows, link, sentAt, answer }: Sent): Promise<Result> => {
    const isQuery = sql.includes('RETURNING')
    try {
      const result = isQuery
        ? await primary().query(sql, parameters)
        : await primary().write(sql, parameters, rows)
      const next = await primary().owner()
      if (next.epoch !== owner.epoch) afterTakeOver(next, link)
      if (rows !== null) afterCommit(Number(parameters[0]), Number(parameters[1]), link)
      const changed = Array.isArray(result) ? result.length : result
      if (changed !== 0) lastWriteSentAt = sentAt
      owner = next
      return result
    } catch (error) {
      if ((error as { code?: string }).code !== FENCED) {
        if (rows !== null) afterCommit(Number(parameters[0]), Number(parameters[1]), link)
        onViolation(error as Error)
      } else if (answer !== undefined) refused.add(link)
      return error as Error
    }
  }

  const deliver = async (connection: Open, sent: Sent): Promise<void> => {
    const isWrite = !sent.sql.startsWith('SELECT')
    if (connection.server !== primary()) {
      if (!isWrite) sent.answer?.(await connection.server.query(sent.sql, sent.parameters))
      return
    }
    if (!isWrite) return sent.answer?.(await primary().query(sent.sql, sent.parameters))
    const outcome = sent.link.isAlive() ? outcomeOfWrite() : 'done'
    if (outcome !== 'done') onCount(`write ${outcome}`)
    if (outcome === 'lost') return connection.lose()
    if (
      outcome === 'warned and lost' &&
      sent.link === ownerLink &&
      !sent.sql.includes('RETURNING')
    ) {
      return sent.answer?.(1, true)
    }
    const result = await write(sent)
    if (outcome === 'kept') return connection.lose()
    if (outcome === 'unanswered') return
    if (outcome === 'repeated') void run(connection, { ...sent, answer: undefined })
    sent.answer?.(result, outcome.startsWith('warned'))
  }
  const run = (connection: Open, sent: Sent): Promise<void> =>
    scheduler.inOrder(
      'statement',
      () => (connection.isDropped ? Promise.resolve() : deliver(connection, sent)),
      () => (sent.link.isAlive() ? sent.link.isReachable() : now() >= connection.runsFrom),
    )

  const open = (link: Link): Open => {
    const connection = createOpen(link, primary(), (sent) => void run(connection, sent), now)
    connections.add(connection)
    return connection
  }

  return {
    get server() {
      return primary()
    },
    get owner() {
      return owner
    },
    get failovers() {
      return servers.length - 1
    },
    progress: () => {
      const { booksId } = primary().store.marks.progress()
      const { epoch, lastBatch, acceptedEpoch } = owner
      return { booksId, epoch, lastBatch, acceptedEpoch, lastBatchBefore }
    },
    connect: (link) => {
      const connection = open(link)
      return {
        ...connection.client,
        get server() {
          return connection.server
        },
        prepare: connection.prepare,
        abandon: () => {
          connection.isDropped = random.once(2)
          connection.runsFrom = now() + random.pick(LATE_BY_MS)
        },
      }
    },
    waiting: scheduler.waiting,
    release: scheduler.release,
    hold: scheduler.hold,
    failOver: async () => {
      const former = await primary().copyTo(join(folder, `former${servers.length}`))
      servers.push(former)
      for (const connection of connections) {
        const { isAlive } = connection.link
        if (connection.server !== primary()) {
          if (isAlive()) connection.lose() // Its server becomes the next standby.
          continue
        }
        connection.server = former
        connection.isDropped ||= !isAlive()
        if (isAlive() && random.once(2)) connection.lose()
      }
    },
    endFormer: () => {
      for (const connection of connections) {
        if (connection.server !== primary() && connection.link.isAlive()) connection.lose()
      }
    },
    restore: async (replace) => {
      for (const connection of connections) connection.isDropped = true
      connections.clear()
      await primary().close()
      await replace()
      servers[0] = await reopen()
      owner = await primary().owner()
      lastBatchBefore = owner.lastBatch
      ownerLink = null
      lastWriteSentAt = -Infinity
    },
    close: async () => {
      for (const server of servers) await server.close()
    },
  }
}

const LATE_BY_MS = [0, 500, 3_000, 6_000] as const

interface Open {
  readonly link: Link
  readonly client: Connection
  server: BooksServer
  /** Statements under way do not run any more. */
  isDropped: boolean
  /** The delay of statements of a process that has ended. */
  runsFrom: number
  prepare(rows: CommitRows): void
  lose(): void
}

/** Like the driver: a statement is sent after the answer to the previous one. */
function createOpen(
  link: Link,
  server: BooksServer,
  send: (sent: Sent) => void,
  now: () => number,
): Open {
  let queue: Promise<unknown> = Promise.resolve()
  let next: CommitRows | null = null
  let onNotice: (code: string, message: string) => void = () => undefined
  let onLost: (error: Error) => void = () => undefined
  let isLost = false
  let refuse: (error: Error) => void = () => undefined

  const roundTrip = (sql: string, parameters: readonly Bindable[], sentAt: number) =>
    new Promise<Result>((resolve, reject) => {
      const rows = sql === COMMIT ? next : null
      refuse = reject
      if (isLost) return reject(new Error(CONNECTION_LOST))
      const answer = (result: Result, warned = false): void => {
        const arrive = (): Promise<void> => {
          if (warned) onNotice('01000', 'canceling wait for synchronous replication')
          if (result instanceof Error) reject(result)
          else resolve(result)
          return Promise.resolve()
        }
        void link.scheduler.inOrder('answer', arrive, link.isReachable)
      }
      send({ link, sql, parameters, rows, sentAt, answer })
    })
  const ask = (sql: string, parameters: readonly Bindable[] = []): Promise<Result> => {
    const sentAt = now()
    const asked = queue.then(() => roundTrip(sql, parameters, sentAt))
    queue = asked.catch(() => undefined)
    return asked
  }
  const open: Open = {
    link,
    server,
    isDropped: false,
    runsFrom: 0,
    prepare: (rows) => (next = rows),
    lose: () => {
      open.isDropped = true
      const arrive = (): Promise<void> => {
        isLost = true
        refuse(new Error(CONNECTION_LOST))
        onLost(new Error(CONNECTION_LOST))
        return Promise.resolve()
      }
      void link.scheduler.inOrder('answer', arrive)
    },
    client: {
      dialect: SQLITE,
      ...{ system: 'one', timeline: 1 },
      target: {
        host: '',
        port: 0,
        database: '',
        user: undefined,
        password: undefined,
        ssl: undefined,
      },
      session: 0,
      isReadOnly: false,
      all: async <Row>(sql: string, parameters?: readonly Bindable[]) =>
        (await ask(sql, parameters)) as Row[],
      run: async (sql, parameters) => (await ask(sql, parameters)) as number,
      exec: async (sql) => void (await ask(sql)),
      onNotice: (report) => (onNotice = report),
      onLost: (report) => (onLost = report),
      close: () => Promise.resolve(),
    },
  }
  return open
}
