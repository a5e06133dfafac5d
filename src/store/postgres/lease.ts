/**
 * The lease of a schema: which process owns it, and how another one takes over.
 *
 * Owns: the row `owner` but for its batch number. Does not own: commits, which the epoch fences
 * (postgres/commit_function), when a candidate takes over (postgres/lease_watch).
 *
 * - The lease decides only when a process takes over. That two processes never commit under one
 *   epoch follows from the commit itself.
 * - A take-over is conditional on the epoch and the heartbeat that were read, and waits for a
 *   commit in progress. So no process takes over less than LEASE_TIMEOUT_MS after the owner sent a
 *   write that the server confirmed, unless the owner has ended or has released the lease.
 */
import { SECOND, type Pause } from '../../base/clock.js'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import type { Logger } from '../../base/log.js'
import { checkedNumber } from '../stored_numbers.js'
import { Deposed } from '../store.js'
import { NoAnswer } from './answers.js'
import type { Connection } from './connection.js'
import { commitsOf, sessionName } from './holder.js'

export const HEARTBEAT_MS = SECOND
export const LEASE_TIMEOUT_MS = 4 * SECOND

/** A former primary without its standby never answers: the next try looks for another server. */
const TAKE_OVER_WITHIN_MS = LEASE_TIMEOUT_MS + ANSWER_WITHIN_MS

export interface TakeOverOptions {
  readonly connection: Connection
  /** Ends the session of a holder whose commit does not end. */
  readonly background: Connection
  /** Names this process (postgres/holder). */
  readonly holder: string
  /** Resolves after input that arrived meanwhile, so that an answer is not judged late unread. */
  readonly pause: Pause
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

const OWNER = 'SELECT epoch, holder, beat, session FROM owner'
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

/** Whether the session is open on which the holder commits. */
export const isSessionOf = (holder: string, name: string | null | undefined): boolean =>
  name === sessionName(commitsOf(holder))

/** @throws Error that names what is missing or damaged */
export async function readOwner(connection: Pick<Connection, 'all'>): Promise<SeenOwner> {
  const [row] = await connection.all<SeenOwner>(OWNER)
  if (row === undefined) throw new Error('the books have no owner row')
  checkedNumber('owner.epoch', row.epoch)
  checkedNumber('owner.beat', row.beat)
  return row
}

/** Whether the session of the owner's commits is open. */
export async function isOwnerConnected(
  connection: Pick<Connection, 'all'>,
  { holder, session }: SeenOwner,
): Promise<boolean> {
  const [found] = await connection.all<{ name: string }>(SESSION, [session])
  return isSessionOf(holder, found?.name)
}

/** @returns undefined when another process has taken over since. @throws NoAnswer */
export async function takeOver(
  { connection, background, holder, pause, log }: TakeOverOptions,
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
