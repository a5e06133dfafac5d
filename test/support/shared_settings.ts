/** The settings for all shards of a cluster that exists in memory. */
import { instant } from '../../src/base/clock.js'
import {
  createSharedSettings,
  type SharedSettings,
} from '../../src/processor/cluster/shared_settings.js'
import type {
  ClusterSetting,
  ClusterSettings,
  SettingsFault,
} from '../../src/store/cluster/settings.js'
import { SILENT_LOG } from './logs.js'
import type { World } from './world.js'

export interface TestSettings extends ClusterSettings {
  readonly stored: ClusterSetting[]
  /** By shard. */
  readonly faults: Map<string, SettingsFault>
}

const NOT_SKIPPED = { skippedBy: null, skipReason: null }

/** @param now of the database server */
export function testSettings(now: () => number): TestSettings {
  const stored: ClusterSetting[] = []
  const faults = new Map<string, SettingsFault>()
  return {
    stored,
    faults,
    appendSetting: (setting) => {
      const version = stored.length + 1
      stored.push({ ...setting, ...NOT_SKIPPED, version, at: instant(now()) })
      return Promise.resolve(version)
    },
    settingsFrom: (version, limit) =>
      Promise.resolve(stored.slice(version - 1, version - 1 + limit)),
    newestSettings: () => {
      const newest = new Map(stored.map((setting) => [`${setting.kind} ${setting.key}`, setting]))
      return Promise.resolve([...newest.values()].sort((a, b) => a.version - b.version))
    },
    reportSettingsFault: (shard, fault) => {
      if (fault === null) faults.delete(shard)
      else faults.set(shard, fault)
      return Promise.resolve()
    },
    skipSetting: (version, { actor, reason }) => {
      const found = stored[version - 1]
      if (found === undefined) return Promise.resolve(null)
      const skipped = { ...found, skippedBy: actor, skipReason: reason }
      stored[version - 1] = skipped
      return Promise.resolve(skipped)
    },
  }
}

/** The settings in the books of this world, as they are since its last rebuild. */
export const settingsOf = (
  world: World,
  cluster: ClusterSettings,
  shard = 'books_1',
): SharedSettings =>
  createSharedSettings({
    ...{ shard, cluster },
    memory: world.memory(),
    pipeline: { submit: world.submit },
    log: SILENT_LOG,
  })
