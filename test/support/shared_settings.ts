/** The settings for all shards of a cluster that exists in memory. */
import { instant } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import {
  createSharedSettings,
  type SharedSettings,
} from '../../src/processor/cluster/shared_settings.js'
import type { ClusterSetting, ClusterSettings } from '../../src/store/postgres/cluster/settings.js'
import type { World } from './world.js'

export interface TestSettings extends ClusterSettings {
  readonly stored: ClusterSetting[]
}

/** @param now of the database server */
export function testSettings(now: () => number): TestSettings {
  const stored: ClusterSetting[] = []
  return {
    stored,
    appendSetting: (setting) => {
      const version = stored.length + 1
      stored.push({ ...setting, version, at: instant(now()) })
      return Promise.resolve(version)
    },
    settingsFrom: (version, limit) =>
      Promise.resolve(stored.slice(version - 1, version - 1 + limit)),
  }
}

/** Of the books of this world, as they are since its last rebuild. */
export const settingsOf = (world: World, cluster: ClusterSettings): SharedSettings =>
  createSharedSettings({
    cluster,
    memory: world.memory(),
    pipeline: { submit: world.submit },
    log: createLog('test', { LOG_LEVEL: 'silent' }),
  })
