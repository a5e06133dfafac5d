/**
 * The settings for all shards: rows of the schema `cluster` that are appended and never changed.
 *
 * - Versions are 1, 2, 3 …: one that can be read has all earlier ones before it.
 * - Times do not decrease from version to version.
 */
import type { Instant } from '../../../base/clock.js'
import type { RequestId } from '../../../base/ids.js'
import type { Connection } from '../connection.js'

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
}

export interface ClusterSettings {
  /** @returns its version */
  appendSetting(setting: NewSetting): Promise<number>
  /** At most `limit`, from this version on, in order. */
  settingsFrom(version: number, limit: number): Promise<readonly ClusterSetting[]>
}

/** Of two at once, the second waits for the first, finds its version and adds nothing. */
const appendAt = (now: string): string => `
  INSERT INTO settings (version, at, kind, key, value, actor, reason, request_id)
  SELECT coalesce(max(version), 0) + 1, greatest(${now}, coalesce(max(at), 0)),
    ?1::text, ?2::text, ?3::text, ?4::text, ?5::text, ?6::text
  FROM settings ON CONFLICT DO NOTHING RETURNING version`
const FROM = `SELECT version, kind, key, value, at, actor, reason, request_id AS "requestId"
  FROM settings WHERE version >= ? ORDER BY version LIMIT ?`

/** @param now SQL: milliseconds of the database server's clock */
export function settingsOn(connection: Pick<Connection, 'all'>, now: string): ClusterSettings {
  const append = appendAt(now)
  return {
    appendSetting: async ({ kind, key, value, actor, reason, requestId }) => {
      const values = [kind, key, value, actor, reason, requestId]
      for (;;) {
        const [row] = await connection.all<{ version: number }>(append, values)
        if (row !== undefined) return row.version
      }
    },
    settingsFrom: (version, limit) => connection.all<ClusterSetting>(FROM, [version, limit]),
  }
}
