/**
 * The settings for all shards: rows of the schema `cluster` that are appended and never changed.
 *
 * - Versions are 1, 2, 3 …: one that can be read has all earlier ones before it.
 * - Times do not decrease from version to version.
 * - The fault of a shard is the version that its owner cannot apply. A skip says that a shard which
 *   cannot apply a version passes it over; one that can applies it.
 */
import type { Instant } from '../../base/clock.js'
import type { RequestId } from '../../base/ids.js'
import type { Connection } from '../postgres/connection.js'

export interface NewSetting {
  readonly kind: string
  readonly key: string
  readonly value: string
  /** The operator's name. */
  readonly actor: string
  readonly reason: string
  readonly requestId: RequestId | null
}

export interface ClusterSetting extends NewSetting {
  readonly version: number
  readonly at: Instant
  /** The operator who decided to skip it, and why. Null if there is none. */
  readonly skippedBy: string | null
  readonly skipReason: string | null
}

/** Why the owner of a shard cannot apply a version. */
export interface SettingsFault {
  readonly version: number
  /** The error code of the refusal. */
  readonly cause: string
}

export interface ClusterSettings {
  /** @returns its version */
  appendSetting(setting: NewSetting): Promise<number>
  /** At most `limit`, from this version on, in order. */
  settingsFrom(version: number, limit: number): Promise<readonly ClusterSetting[]>
  /** The newest of each kind and key, in order: all that a shard without settings needs. */
  newestSettings(): Promise<readonly ClusterSetting[]>
  /** @param fault null if the shard has applied what there is */
  reportSettingsFault(shard: string, fault: SettingsFault | null): Promise<void>
  /** @returns null when no shard has a fault at this version */
  skipSetting(
    version: number,
    by: { readonly actor: string; readonly reason: string },
  ): Promise<ClusterSetting | null>
}

/**
 * When two processors append at once, the second one waits for the first, finds the version taken
 * and inserts no row; `appendSetting` then tries again.
 */
const appendAt = (now: string): string => `
  INSERT INTO settings (version, at, kind, key, value, actor, reason, request_id)
  SELECT coalesce(max(version), 0) + 1, greatest(${now}, coalesce(max(at), 0)),
    ?1::text, ?2::text, ?3::text, ?4::text, ?5::text, ?6::text
  FROM settings ON CONFLICT DO NOTHING RETURNING version`
const COLUMNS = `settings.version, kind, key, value, settings.at, settings.actor, settings.reason,
  request_id AS "requestId", skipped_settings.actor AS "skippedBy",
  skipped_settings.reason AS "skipReason"`
const TABLES = 'settings LEFT JOIN skipped_settings USING (version)'
const FROM = `SELECT ${COLUMNS} FROM ${TABLES} WHERE version >= ? ORDER BY version LIMIT ?`
const NEWEST = `SELECT ${COLUMNS} FROM ${TABLES} WHERE version IN
  (SELECT max(version) FROM settings GROUP BY kind, key) ORDER BY version`
const NO_FAULT = 'DELETE FROM settings_faults WHERE shard = ?'
const reportAt = (now: string): string => `
  INSERT INTO settings_faults (shard, version, cause, since) VALUES (?1, ?2, ?3, ${now})
  ON CONFLICT (shard) DO UPDATE SET version = ?2, cause = ?3, since = ${now}`
const skipAt = (now: string): string => `
  INSERT INTO skipped_settings (version, at, actor, reason)
  SELECT version, ${now}, ?2::text, ?3::text FROM settings WHERE version = ?1
    AND EXISTS (SELECT 1 FROM settings_faults WHERE settings_faults.version = settings.version)
  ON CONFLICT DO NOTHING`

/** @param now SQL: milliseconds of the database server's clock */
export function settingsOn(
  connection: Pick<Connection, 'all' | 'run'>,
  now: string,
): ClusterSettings {
  const [append, report, skip] = [appendAt(now), reportAt(now), skipAt(now)]
  const settingsFrom = (version: number, limit: number): Promise<ClusterSetting[]> =>
    connection.all<ClusterSetting>(FROM, [version, limit])
  return {
    appendSetting: async ({ kind, key, value, actor, reason, requestId }) => {
      const values = [kind, key, value, actor, reason, requestId]
      for (;;) {
        const [row] = await connection.all<{ version: number }>(append, values)
        if (row !== undefined) return row.version
      }
    },
    settingsFrom,
    newestSettings: () => connection.all<ClusterSetting>(NEWEST),
    reportSettingsFault: async (shard, fault) => {
      if (fault === null) await connection.run(NO_FAULT, [shard])
      else await connection.run(report, [shard, fault.version, fault.cause])
    },
    skipSetting: async (version, { actor, reason }) => {
      await connection.run(skip, [version, actor, reason])
      const [found] = await settingsFrom(version, 1)
      return found?.version === version && found.skippedBy !== null ? found : null
    },
  }
}
