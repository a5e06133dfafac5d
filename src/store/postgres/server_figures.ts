/**
 * The figures of a PostgreSQL server that its own operators watch, for metrics: connections, oldest
 * transaction, size, deadlocks, checkpoints, lag of standbys.
 *
 * - They are read every few seconds on the connection of lists, never on one that commits wait for.
 * - A reading that fails leaves the figures out until the next one: it ends nothing.
 * - After the connection is lost there is no other reading.
 * - Without the role `pg_monitor` a server hides transactions of other roles and the standbys' lag.
 */
import { SECOND } from '../../base/clock.js'
import type { Reader } from '../database.js'
import type { ServerFigures } from '../store.js'
import { lostOr, NoAnswer } from './answers.js'

export interface ServerFiguresWatch {
  /** As of the last reading. Null means that it failed, or that there is none yet. */
  latest(): ServerFigures | null
  stop(): void
}

const LOOK_EVERY_MS = SECOND
/** Looks between two readings: the size of a database is the sum of its files. */
const READ_EVERY = 10

/** Since version 17 checkpoints are in a view of their own. */
const SEPARATE_CHECKPOINTS = 170_000

interface FiguresRow extends Omit<ServerFigures, 'checkpoints' | 'standbys'> {
  readonly version: number
}

const FIGURES = `SELECT current_setting('server_version_num')::integer AS version,
  (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL) AS connections,
  current_setting('max_connections')::integer AS "connectionsMax",
  pg_database_size(current_database()) AS "databaseBytes",
  coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start))
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()),
    0)::float8 AS "oldestTransactionSeconds",
  (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) AS deadlocks`

const CHECKPOINTS = {
  together: 'SELECT checkpoints_timed AS timed, checkpoints_req AS requested FROM pg_stat_bgwriter',
  separate: 'SELECT num_timed AS timed, num_requested AS requested FROM pg_stat_checkpointer',
}

const STANDBYS = `SELECT application_name AS name,
    max(extract(epoch FROM replay_lag))::float8 AS "lagSeconds"
  FROM pg_stat_replication WHERE replay_lag IS NOT NULL
  GROUP BY application_name ORDER BY application_name LIMIT 20`

type Server = Pick<Reader, 'all'>

export async function readServerFigures(server: Server): Promise<ServerFigures> {
  const [row] = await server.all<FiguresRow>(FIGURES)
  const { version, ...figures } = row!
  const sql = version < SEPARATE_CHECKPOINTS ? CHECKPOINTS.together : CHECKPOINTS.separate
  const [checkpoints] = await server.all<ServerFigures['checkpoints']>(sql)
  const standbys = await server.all<ServerFigures['standbys'][number]>(STANDBYS)
  return { ...figures, checkpoints: checkpoints!, standbys }
}

export function watchServerFigures(
  server: Server,
  pause: (ms: number) => Promise<void>,
): ServerFiguresWatch {
  let latest: ServerFigures | null = null
  let isStopped = false

  const stop = (): void => {
    isStopped = true
  }
  const read = async (): Promise<void> => {
    try {
      latest = await readServerFigures(server)
    } catch (error) {
      latest = null
      if (lostOr(error) instanceof NoAnswer) stop()
    }
  }
  const watch = async (): Promise<void> => {
    for (let looks = 0; !isStopped; looks++) {
      if (looks % READ_EVERY === 0) await read()
      if (!isStopped) await pause(LOOK_EVERY_MS)
    }
  }
  void watch()
  return { latest: () => latest, stop }
}
