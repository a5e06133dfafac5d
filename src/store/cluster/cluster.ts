/**
 * The schema `cluster`: shards, placements of partners, settings for all shards.
 *
 * Owns: its statements but those of settings (cluster/settings), of candidates (cluster/waiting)
 * and of moves of partners (cluster/partner_moves), and the name of this processor in the cluster.
 * Does not own: the take-over of a shard (postgres/lease_watch, cluster/candidate), the books.
 *
 * - The name of a running processor is unique: a lock of its database session excludes a second
 *   one.
 * - Each statement is complete by itself: after a process that ends between two of them, another
 *   process can continue.
 * - A statement without an answer fails with NoAnswer: the server may be cut off.
 * - Times are those of the database server, so the clocks of machines can differ.
 */
import { join } from 'node:path'
import { ANSWER_WITHIN_MS } from '../../base/constants.js'
import { projectRoot } from '../../base/project_root.js'
import { answerWithin } from '../postgres/answers.js'
import type { Connection } from '../postgres/connection.js'
import {
  checkTimeline,
  connectToPrimary,
  ENDS_WHEN_SILENT,
  parseStoreUrl,
  requireWrites,
} from '../postgres/connection.js'
import { migrate, type SchemaDefinition } from '../postgres/migrate.js'
import { isSessionOf } from '../postgres/lease.js'
import type { SeenLease } from '../postgres/lease_watch.js'
import { columnsOf, fromStored, type Row, type StoredRow } from '../tables.js'
import { NO_TIMELINES, type Timelines } from '../postgres/timelines.js'
import { partnerMovesOn, type PartnerMoves } from './partner_moves.js'
import { settingsOn, type ClusterSettings, type SettingsFault } from './settings.js'
import { waitingOn, type WaitingProcessors } from './waiting.js'

const SCHEMA = 'cluster'
export const CLUSTER_SCHEMA: SchemaDefinition = {
  migrations: join(projectRoot(), 'src/store/cluster/schema'),
  versionTable: 'version',
}
/** A move that has not ended by then can be replaced by another one. */
const MOVE_EXPIRES_MS = 30_000

/** The shard of a partner, and its processor. */
export interface Place {
  readonly shard: string
  /**
   * `host:port` of the processor's gRPC. Empty means that no processor has served the shard yet.
   */
  readonly address: string
  readonly epoch: number
}

export interface ShardSettingsFault extends SettingsFault {
  readonly kind: string
  readonly key: string
}

export interface Shard extends Place {
  /** The processor that owns it now. Empty means none. */
  readonly holder: string
  /** Whether the owner's session is open. */
  readonly isConnected: boolean
  readonly partners: number
  readonly moveTo: string | null
  readonly moves: number
  /** The version of the newest setting for all shards that its books have applied, or 0. */
  readonly settingsVersion: number
  /** Settings that they have not applied. */
  readonly settingsBehind: number
  /** The setting that its owner cannot apply. Null if there is none. */
  readonly settingsFault: ShardSettingsFault | null
}

/** The holder of leases: the name, and the data directory whose lock its process has. */
export const holderOf = (name: string, holder: string): string => `${name}@${holder}`

/** The name in a holder. */
export const processorOf = (holder: string): string => holder.split('@')[0] ?? ''

/** A shard and its owner row. */
export interface SeenShard extends SeenLease {
  /** The schema version of its books. 0 if it has none. */
  readonly booksVersion: number
}

export interface Cluster extends ClusterSettings, WaitingProcessors, PartnerMoves {
  /** The name of this processor. */
  readonly name: string
  /** Adds a shard; an existing one does not change. @returns whether it is new */
  addShard(shard: string): Promise<boolean>
  /** Names, sorted. */
  shardNames(): Promise<readonly string[]>
  shards(): Promise<readonly Shard[]>
  /** The owner rows of the shards that exist. */
  seenShards(): Promise<readonly SeenShard[]>
  /** Kids of the master keys that the books of a shard need. */
  masterKeysOf(shard: string): Promise<readonly string[]>
  /** The gateways among the stored callers of all shards. */
  storedGateways(): Promise<readonly Row<'callers'>[]>
  /**
   * Publishes the address of the owner and ends the move of its shard.
   *
   * @param isRestored the books may be an older copy, in a lower epoch than their last owner
   * @returns false when a later owner has published its own
   */
  announce(shard: string, epoch: number, address: string, isRestored?: boolean): Promise<boolean>
  /** The processor that the shard moves to. Null if it does not move. */
  moveOf(shard: string): Promise<string | null>
  /** @returns false when the shard has another epoch or moves already, or another moves to it */
  requestMove(shard: string, epoch: number, to: string): Promise<boolean>
  /** Ends a move before the release. @returns false when that move has ended */
  cancelMove(shard: string, epoch: number, to: string): Promise<boolean>
  /** Places a partner that has no place yet. */
  place(partner: string, shard: string): Promise<Place>
  /** Places the partners that are not placed. @returns those of other shards */
  placeAll(partners: readonly string[], shard: string): Promise<readonly string[]>
  /** Undefined means that the partner is not placed. */
  whereIs(partner: string): Promise<Place | undefined>
  placeOf(shard: string): Promise<Place | undefined>
  /** Bytes of WAL that the slowest standby has not replayed. Null if unknown or there is none. */
  standbyLag(): Promise<number | null>
  /** @throws NoAnswer when another server was promoted */
  checkServer(): Promise<void>
  onLost(report: (error: Error) => void): void
  close(): Promise<void>
}

const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const LOCK_NAME = `SELECT pg_try_advisory_lock(hashtext('causeway processor'), hashtext(?)) AS got`
const SHARD_TABLES = `SELECT shard, move_to AS "moveTo",
  to_regclass(shard || '.owner') IS NOT NULL AS "isThere" FROM shards ORDER BY shard`
const ADD_SHARD = 'INSERT INTO shards (shard) VALUES (?) ON CONFLICT DO NOTHING'
const SHARD_NAMES = 'SELECT shard FROM shards ORDER BY shard'
const SHARDS = `SELECT shard, address, moves, move_to AS "moveTo",
  (SELECT count(*) FROM placements WHERE placements.shard = shards.shard) AS partners,
  (SELECT coalesce(max(version), 0) FROM settings) AS newest,
  to_regclass(shard || '.applied_settings') IS NOT NULL AS "hasSettings"
  FROM shards ORDER BY shard`
const FAULTS = `SELECT shard, version, cause, kind, key
  FROM settings_faults JOIN settings USING (version)`
const HAS_KEYS = 'SELECT to_regclass(?) IS NOT NULL AS "isThere"'
const CALLER_TABLES = `SELECT shard FROM shards
  WHERE to_regclass(shard || '.callers') IS NOT NULL ORDER BY shard`
const MOVE_OF = 'SELECT move_to AS "moveTo" FROM shards WHERE shard = ?'
const ANNOUNCE = `UPDATE shards SET epoch = CASE WHEN epoch < ?2 THEN ?2 ELSE epoch END,
  holder = ?3, address = ?4,
  moves = moves + (move_to IS NOT NULL AND move_to = ?3)::int,
  move_to = NULL, move_requested_at = NULL WHERE shard = ?1 AND (epoch < ?2 OR ?5 = 1)`
const REQUEST_MOVE = `UPDATE shards SET move_to = ?3, move_requested_at = ${NOW}
  WHERE shard = ?1 AND epoch = ?2
    AND (move_to IS NULL OR move_requested_at < ${NOW} - ${MOVE_EXPIRES_MS})
    AND NOT EXISTS (SELECT 1 FROM shards AS other WHERE other.move_to = ?3 AND other.shard <> ?1
      AND other.move_requested_at >= ${NOW} - ${MOVE_EXPIRES_MS})`
const CANCEL_MOVE = `UPDATE shards SET move_to = NULL, move_requested_at = NULL
  WHERE shard = ? AND epoch = ? AND move_to = ?`
const PLACE = `INSERT INTO placements (partner, shard, since) VALUES (?, ?, ${NOW})
  ON CONFLICT DO NOTHING`
const PLACE_ALL = `INSERT INTO placements (partner, shard, since)
  SELECT partner, ?2, ${NOW} FROM json_array_elements_text(?1::json) AS partner
  ON CONFLICT DO NOTHING`
const PLACED_ELSEWHERE = `SELECT partner FROM placements
  WHERE partner IN (SELECT json_array_elements_text(?1::json)) AND shard <> ?2 ORDER BY partner`
const WHERE_IS = `SELECT shard, address, epoch FROM placements JOIN shards USING (shard)
  WHERE partner = ?`
const PLACE_OF = 'SELECT shard, address, epoch FROM shards WHERE shard = ?'
const STANDBY_LAG = `SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint AS lag
  FROM pg_stat_replication`

export interface ClusterOptions {
  readonly url: string
  /** The name of this processor. */
  readonly name: string
  readonly pause: (ms: number) => Promise<void>
  /** The server that was used last. */
  readonly timelines?: Timelines
  /** Called while another process has the name. */
  readonly onNameTaken: () => void
}

const NAME_RETRY_MS = 500

/** Resolves when this process has the name. */
export async function openCluster({
  url,
  name,
  pause,
  timelines = NO_TIMELINES,
  onNameTaken,
}: ClusterOptions): Promise<Cluster> {
  const targets = parseStoreUrl(url)
  const opened = await connectToPrimary(targets, SCHEMA, 'cluster', timelines.known())
  await requireWrites(opened)
  timelines.used(opened)
  await opened.exec(ENDS_WHEN_SILENT)
  await migrate(opened, SCHEMA, CLUSTER_SCHEMA)
  const connection: Connection = {
    ...opened,
    all: (sql, parameters) => answerWithin(opened.all(sql, parameters), ANSWER_WITHIN_MS),
    run: (sql, parameters) => answerWithin(opened.run(sql, parameters), ANSWER_WITHIN_MS),
  }
  for (let tries = 1; !(await hasName(connection, name)); tries++) {
    if (tries === 1) onNameTaken()
    await pause(NAME_RETRY_MS)
  }
  const cluster = clusterOn(connection, name, () => checkTimeline(opened, targets))
  await cluster.setWaiting()
  return cluster
}

async function hasName(connection: Connection, name: string): Promise<boolean> {
  const [row] = await connection.all<{ got: boolean }>(LOCK_NAME, [name])
  return row?.got === true
}

interface ShardTable {
  readonly shard: string
  readonly moveTo: string | null
  readonly isThere: boolean
}

interface ShardRow extends Omit<
  Shard,
  'holder' | 'isConnected' | 'settingsVersion' | 'settingsBehind' | 'settingsFault'
> {
  /** The newest version of the cluster. */
  readonly newest: number
  readonly hasSettings: boolean
}

interface OwnerRow extends Omit<SeenShard, 'moveTo' | 'isConnected'> {
  /** Null means that no session has the process id. */
  readonly sessionName: string | null
}

const NO_OWNER = {
  ...{ epoch: 0, holder: '', beat: 0, session: 0, isConnected: false },
  booksVersion: 0,
}

export function clusterOn(
  connection: Connection,
  name: string,
  checkServer: () => Promise<void> = () => Promise.resolve(),
): Cluster {
  const one = async <Row>(sql: string, parameters: readonly (string | number)[]) =>
    (await connection.all<Row>(sql, parameters))[0]

  const seenShards = async (): Promise<readonly SeenShard[]> => {
    const tables = await connection.all<ShardTable>(SHARD_TABLES)
    const owners = new Map<string, Omit<SeenShard, 'moveTo'>>()
    const existing = tables.filter(({ isThere }) => isThere).map(({ shard }) => shard)
    if (existing.length > 0) {
      const rows = await connection.all<OwnerRow>(existing.map(ownerOf).join(' UNION ALL '))
      for (const { sessionName, ...row } of rows) {
        const isConnected = isSessionOf(row.holder, sessionName)
        owners.set(row.shard, { ...row, isConnected })
      }
    }
    return tables.map(({ shard, moveTo }) => ({
      ...(owners.get(shard) ?? NO_OWNER),
      shard,
      moveTo,
    }))
  }

  const appliedSettings = async (shards: readonly ShardRow[]): Promise<Map<string, number>> => {
    const statements = shards.filter(({ hasSettings }) => hasSettings).map(appliedIn)
    if (statements.length === 0) return new Map()
    const rows = await connection.all<{ shard: string; version: number }>(
      statements.join(' UNION ALL '),
    )
    return new Map(rows.map(({ shard, version }) => [shard, version]))
  }

  return {
    name,
    ...settingsOn(connection, NOW),
    ...waitingOn(connection, name, NOW),
    ...partnerMovesOn(connection, NOW, MOVE_EXPIRES_MS),
    addShard: async (shard) => (await connection.run(ADD_SHARD, [shard])) > 0,
    shardNames: async () =>
      (await connection.all<{ shard: string }>(SHARD_NAMES)).map(({ shard }) => shard),
    shards: async () => {
      const rows = await connection.all<ShardRow>(SHARDS)
      const seen = new Map((await seenShards()).map((each) => [each.shard, each]))
      const applied = await appliedSettings(rows)
      const faults = await connection.all<ShardSettingsFault & { readonly shard: string }>(FAULTS)
      return rows.map(({ newest, hasSettings: _, ...row }) => {
        const { epoch, holder, isConnected } = seen.get(row.shard) ?? NO_OWNER
        const settingsVersion = applied.get(row.shard) ?? 0
        const settingsBehind = Math.max(0, newest - settingsVersion)
        const found = faults.find(({ shard }) => shard === row.shard)
        // The owner has applied it since, and has not said so yet.
        const settingsFault = found && found.version > settingsVersion ? found : null
        const settings = { settingsVersion, settingsBehind, settingsFault }
        return { ...row, epoch, holder: processorOf(holder), isConnected, ...settings }
      })
    },
    seenShards,
    masterKeysOf: async (shard) => {
      const found = await one<{ isThere: boolean }>(HAS_KEYS, [`${shard}.master_keys`])
      if (found?.isThere !== true) return []
      const rows = await connection.all<{ kid: string }>(
        `SELECT kid FROM ${shard}.master_keys WHERE emptied_at IS NULL`,
      )
      return rows.map(({ kid }) => kid)
    },
    storedGateways: async () => {
      const tables = await connection.all<{ shard: string }>(CALLER_TABLES)
      if (tables.length === 0) return []
      const all = tables.map(({ shard }) => gatewaysIn(shard)).join(' UNION ALL ')
      return (await connection.all<StoredRow>(all)).map((row) => fromStored('callers', row))
    },
    announce: async (shard, epoch, address, isRestored = false) =>
      (await connection.run(ANNOUNCE, [shard, epoch, name, address, Number(isRestored)])) > 0,
    moveOf: async (shard) =>
      (await one<{ moveTo: string | null }>(MOVE_OF, [shard]))?.moveTo ?? null,
    requestMove: async (shard, epoch, to) =>
      (await connection.run(REQUEST_MOVE, [shard, epoch, to])) > 0,
    cancelMove: async (shard, epoch, to) =>
      (await connection.run(CANCEL_MOVE, [shard, epoch, to])) > 0,
    place: async (partner, shard) => {
      await connection.run(PLACE, [partner, shard])
      const place = await one<Place>(WHERE_IS, [partner])
      if (place === undefined) throw new Error(`${partner} has no place`)
      return place
    },
    placeAll: async (partners, shard) => {
      const names = JSON.stringify(partners)
      await connection.run(PLACE_ALL, [names, shard])
      const elsewhere = await connection.all<{ partner: string }>(PLACED_ELSEWHERE, [names, shard])
      return elsewhere.map(({ partner }) => partner)
    },
    whereIs: (partner) => one<Place>(WHERE_IS, [partner]),
    placeOf: (shard) => one<Place>(PLACE_OF, [shard]),
    standbyLag: async () => (await one<{ lag: number | null }>(STANDBY_LAG, []))?.lag ?? null,
    checkServer,
    onLost: connection.onLost,
    close: connection.close,
  }
}

/** Names are checked (the column's CHECK), so they are safe inside SQL. */
const ownerOf = (shard: string): string =>
  `SELECT '${shard}' AS shard, epoch, holder, beat, session, schema_version AS "booksVersion",
     (SELECT application_name FROM pg_stat_activity WHERE pid = session) AS "sessionName"
   FROM ${shard}.owner`

const gatewaysIn = (shard: string): string =>
  `SELECT ${columnsOf('callers')} FROM ${shard}.callers WHERE kind = 'gateway'`

const appliedIn = ({ shard }: Pick<ShardRow, 'shard'>): string =>
  `SELECT '${shard}' AS shard, coalesce(max(version), 0) AS version FROM ${shard}.applied_settings`
