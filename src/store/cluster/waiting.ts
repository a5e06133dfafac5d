/**
 * The table `candidates`: the processors that wait for a shard, and what each of them can take.
 *
 * Does not own: the take-over of a shard (cluster/candidate).
 *
 * - A processor waits while it says so: its session is open, and its last heartbeat is recent. So
 *   one that is killed or paused is not named as the target of a move.
 * - The rows decide nothing about ownership. A wrong one costs a move that another processor ends.
 */
import type { Connection } from '../postgres/connection.js'

/** A candidate without a heartbeat for so long does not count. */
const WAITING_WITHIN_MS = 3_000
/** A candidate that restarts keeps its address for so long. */
const ADDRESS_WITHIN_MS = 30_000
/** Sessions of candidates have this prefix and the processor's name. */
const WAITING = 'waiting '
const SERVING = 'serving '
/** PostgreSQL cuts longer names of sessions. */
const SESSION_NAME_MAX = 63

/** What a processor says while it waits. */
export interface Waiting {
  /** `host:port` for gateways. */
  readonly address: string
  /** The shard that it takes first. Null if it prefers none. */
  readonly prefers: string | null
  /** Gateways that are connected to it. */
  readonly gateways: number
  /** The shards that it cannot take, and why. It takes any other. */
  readonly cannotTake: Readonly<Record<string, string>>
}

export interface WaitingProcessor extends Waiting {
  readonly name: string
}

export interface WaitingProcessors {
  /** The processors that wait for a shard, by name. */
  candidates(): Promise<readonly WaitingProcessor[]>
  /** Those of all owners and candidates, sorted. */
  addresses(): Promise<readonly string[]>
  /** Says that this processor waits; called every second. */
  beatWaiting(waiting: Waiting): Promise<void>
  /** Undefined if none of that name waits. */
  waitingProcessor(name: string): Promise<WaitingProcessor | undefined>
  /** This processor waits for a shard. */
  setWaiting(): Promise<void>
  /** This processor no longer waits for a shard. */
  setServing(): Promise<void>
}

const SET_ROLE = `SELECT set_config('application_name', ?, false)`
const LEAVE = 'DELETE FROM candidates WHERE name = ?'
/** Waits for no standby: on a former primary without one the candidate has to go on looking. */
const ASYNCHRONOUS = `set_config('synchronous_commit', 'off', true)`
const beatAt = (now: string): string => `
  INSERT INTO candidates (name, address, prefers, gateways, cannot_take, beat_at)
  SELECT CAST(?1 AS text), CAST(?2 AS text), CAST(?3 AS text), CAST(?4 AS bigint), CAST(?5 AS text),
    ${now} WHERE ${ASYNCHRONOUS} <> ''
  ON CONFLICT (name) DO UPDATE SET address = excluded.address, prefers = excluded.prefers,
    gateways = excluded.gateways, cannot_take = excluded.cannot_take, beat_at = excluded.beat_at`
const waitingAt = (now: string): string => `SELECT name, address, prefers, gateways,
  cannot_take AS "cannotTake" FROM candidates WHERE beat_at > ${now} - ${WAITING_WITHIN_MS}
    AND EXISTS (SELECT 1 FROM pg_stat_activity
      WHERE application_name = substr('${WAITING}' || name, 1, ${SESSION_NAME_MAX}))`

const addressesAt = (now: string): string => `
  SELECT address FROM shards WHERE address <> ''
  UNION SELECT address FROM candidates WHERE beat_at > ${now} - ${ADDRESS_WITHIN_MS}
  ORDER BY address`

interface Row extends Omit<WaitingProcessor, 'cannotTake'> {
  readonly cannotTake: string
}

/** @param now SQL: milliseconds of the database server's clock */
export function waitingOn(
  connection: Pick<Connection, 'all' | 'run'>,
  name: string,
  now: string,
): WaitingProcessors {
  const [beat, waiting, addresses] = [beatAt(now), waitingAt(now), addressesAt(now)]
  const found = async (sql: string, values: readonly string[]): Promise<WaitingProcessor[]> =>
    (await connection.all<Row>(sql, values)).map(({ cannotTake, ...row }) => ({
      ...row,
      cannotTake: JSON.parse(cannotTake) as Waiting['cannotTake'],
    }))
  return {
    candidates: () => found(`${waiting} ORDER BY name`, []),
    waitingProcessor: async (other) => (await found(`${waiting} AND name = ?`, [other]))[0],
    addresses: async () =>
      (await connection.all<{ address: string }>(addresses)).map(({ address }) => address),
    beatWaiting: async ({ address, prefers, gateways, cannotTake }) =>
      void (await connection.run(beat, [
        ...[name, address, prefers, gateways],
        JSON.stringify(cannotTake),
      ])),
    setWaiting: async () => void (await connection.all(SET_ROLE, [WAITING + name])),
    setServing: async () => {
      await connection.all(SET_ROLE, [SERVING + name])
      await connection.run(LEAVE, [name])
    },
  }
}
