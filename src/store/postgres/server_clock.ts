/**
 * How far this machine's clock is from that of the PostgreSQL server.
 *
 * Does not own: what follows from it (postgres/owned_schema).
 *
 * - The server reads its clock between the question and the answer, so a slow answer never makes
 *   the difference larger than it is.
 */
import { SECOND, type Clock } from '../../base/clock.js'
import type { Reader } from '../database.js'

/** From here on it is logged. */
export const CLOCK_WARNING_MS = SECOND
/** From here on the process takes no books over: partners would see its times. */
export const CLOCK_LIMIT_MS = 5 * SECOND

const SERVER_TIME = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at`

/** @returns milliseconds; positive: this machine is ahead */
export async function readClockOffset(
  connection: Pick<Reader, 'all'>,
  clock: Clock,
): Promise<number> {
  const before = clock.now()
  const [row] = await connection.all<{ at: number }>(SERVER_TIME)
  const after = clock.now()
  const { at } = row!
  if (at < before) return before - at
  return at > after ? after - at : 0
}
