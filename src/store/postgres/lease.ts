/**
 * The lease of a schema: which process owns it, and when another one may take over.
 *
 * Owns: the row `owner` but for its batch number. Does not own: commits, which the epoch fences
 * (postgres/commit).
 *
 * - The lease decides only when a process takes over. That two processes never commit under one
 *   epoch follows from the commit itself.
 * - A free lease is taken at once, and so is one of a predecessor in this data directory whose
 *   session at the server has ended. While it is open, its process is that of a copied directory,
 *   or the server has not noticed its end. Any other lease is taken when it has not changed for
 *   LEASE_TIMEOUT_MS, by this machine's monotonic clock.
 * - A take-over is conditional on the epoch and the heartbeat that were read, and waits for a
 *   commit in progress. So no process takes over less than LEASE_TIMEOUT_MS after the owner sent a
 *   write that the server confirmed, unless the owner has ended or has released the lease.
 */
import { SECOND, type Pause } from '../../base/clock.js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import type { Logger } from '../../base/log.js'
import { Deposed } from '../store.js'
import { NoAnswer } from './answers.js'
import type { Connection } from './connection.js'
import { commitsOf, isSameFolder, sessionName } from './holder.js'

export const HEARTBEAT_MS = SECOND
export const LEASE_TIMEOUT_MS = 4 * SECOND

/** A former primary without its standby never answers: the next try looks for another server. */
const TAKE_OVER_WITHIN_MS = LEASE_TIMEOUT_MS + ANSWER_WITHIN_MS

export interface LeaseOptions {
  readonly connection: Connection
  /** Ends the session of a holder whose commit does not end. */
  readonly background: Connection
  /** Names this process (postgres/holder). */
  readonly holder: string
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  /** Resolves after input that arrived meanwhile, so that an answer is not judged late unread. */
  readonly pause: Pause
  /** The same server, with a bound for each answer. Default: `connection`. */
  readonly looks?: Pick<Connection, 'all'>
  /** Called now and then while it waits. @throws NoAnswer when another server was promoted */
  readonly checkServer?: () => Promise<void>
  /** Called once when another process owns the books. */
  readonly onWaiting?: () => void
  readonly log: Logger
}

export interface Ownership {
  readonly epoch: number
  readonly lastBatch: number
}

/** The owner row as a candidate has seen it. */
export interface SeenOwner {
  readonly epoch: number
  readonly holder: string
  readonly beat: number
  readonly session: number
}

type OwnerRow = Ownership & SeenOwner

const OWNER = 'SELECT epoch, last_batch AS "lastBatch", holder, beat, session FROM owner'
const TAKE_OVER = `UPDATE owner SET epoch = epoch + 1, holder = ?, beat = 0, session = ?
  WHERE epoch = ? AND beat = ? RETURNING epoch, last_batch AS "lastBatch"`
const HEARTBEAT = 'UPDATE owner SET beat = beat + 1 WHERE epoch = ?'
const RAISE_EPOCH = `WITH raised AS (
    UPDATE owner SET epoch = greatest(epoch, ?::bigint) + 1 WHERE epoch = ? RETURNING epoch)
  INSERT INTO meta (name, value) SELECT 'accepted_epoch', epoch::text FROM raised
  ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING value::bigint AS epoch`
const RELEASE = "UPDATE owner SET holder = '' WHERE epoch = ?"
const STILL_OWNER = 'SELECT 1 FROM owner WHERE epoch = ?'
const SESSION = 'SELECT application_name AS name FROM pg_stat_activity WHERE pid = ?'
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ? AND application_name = ?`
/** Looks between two checks of the server. */
const CHECK_EVERY = 5

/** Waits as a candidate until this process owns the books. */
export async function acquireLease(options: LeaseOptions): Promise<Ownership> {
  const { connection, holder, elapsed, pause, onWaiting = () => undefined, log } = options
  const { looks = connection, checkServer = () => Promise.resolve() } = options
  let seen: OwnerRow | undefined
  let seenAt = elapsed()
  for (let count = 1; ; count++) {
    if (count % CHECK_EVERY === 0) await checkServer()
    const [row] = await looks.all<OwnerRow>(OWNER)
    if (row === undefined) throw new Error('the books have no owner row')
    if (seen === undefined || row.epoch !== seen.epoch || row.beat !== seen.beat) {
      if (seen === undefined && row.holder !== '' && !isSameFolder(row.holder, holder)) {
        log.info({ holder: row.holder }, 'candidate: the books have an owner')
        onWaiting()
      }
      seen = row
      seenAt = elapsed()
    }
    const isFree = row.holder === '' || (await isEndedPredecessor(looks, row, holder))
    if (isFree || elapsed() - seenAt >= LEASE_TIMEOUT_MS) {
      const taken = await takeOver(options, row)
      if (taken !== undefined) return taken
    }
    await pause(HEARTBEAT_MS)
  }
}

/** Whether the session is open on which the holder commits. */
export const isSessionOf = (holder: string, name: string | null | undefined): boolean =>
  name === sessionName(commitsOf(holder))

async function isEndedPredecessor(
  connection: Pick<Connection, 'all'>,
  row: SeenOwner,
  own: string,
): Promise<boolean> {
  if (!isSameFolder(row.holder, own)) return false
  const [found] = await connection.all<{ name: string }>(SESSION, [row.session])
  return !isSessionOf(row.holder, found?.name)
}

/** @returns undefined when another process has taken over since. @throws NoAnswer */
export async function takeOver(
  { connection, background, holder, pause, log }: Omit<LeaseOptions, 'elapsed'>,
  seen: SeenOwner,
): Promise<Ownership | undefined> {
  const answered = new AbortController()
  const taking = connection
    .all<Ownership>(TAKE_OVER, [holder, connection.session, seen.epoch, seen.beat])
    .finally(() => answered.abort())
  const ending = pause(LEASE_TIMEOUT_MS, answered.signal).then(async () => {
    if (answered.signal.aborted) return
    log.warn(
      { holder: seen.holder },
      'take-over is blocked by a commit of the former owner; its database session is ended',
    )
    await background.all(TERMINATE, [seen.session, sessionName(commitsOf(seen.holder))])
  })
  ending.catch(() => undefined) // the server is lost, which `taking` tells
  const late = pause(TAKE_OVER_WITHIN_MS, answered.signal).then(() => {
    if (answered.signal.aborted) return taking
    throw new NoAnswer(TAKE_OVER_WITHIN_MS)
  })
  const [taken] = await Promise.race([taking, late])
  return taken
}

/** @throws Deposed */
export async function beat(connection: Connection, epoch: number): Promise<void> {
  if ((await connection.run(HEARTBEAT, [epoch])) === 0) throw new Deposed(DEPOSED)
}

/** @throws Deposed */
export async function checkOwnership(connection: Connection, epoch: number): Promise<void> {
  if ((await connection.all(STILL_OWNER, [epoch])).length === 0) throw new Deposed(DEPOSED)
}

/** @returns the new epoch. @throws Deposed */
export async function raiseEpoch(
  connection: Connection,
  epoch: number,
  above: number,
): Promise<number> {
  const [raised] = await connection.all<{ epoch: number }>(RAISE_EPOCH, [above, epoch])
  if (raised === undefined) throw new Deposed(DEPOSED)
  return raised.epoch
}

export const DEPOSED = 'another process owns the books'

/** The next candidate takes over at once. */
export const release = (connection: Connection, epoch: number): Promise<number> =>
  connection.run(RELEASE, [epoch])
