/**
 * What this processor runs with, for operators: version, migrations, settings, newest backup.
 *
 * - Secrets are masked, and so are the digests of configured callers: their list is another call.
 */
import { readdirSync } from 'node:fs'
import type { OperatorHandlers } from '../../../../protos/types/causeway/operator/v1/Operator.js'
import type { ProcessorState } from '../../../../protos/types/causeway/operator/v1/ProcessorState.js'
import { readLastBackup } from '../../../files/backup_marks.js'
import { instant, toRfc3339, type Instant } from '../../../base/clock.js'
import { SETTINGS_READ_BY } from '../../../settings/setting_readers.js'
import { dataFile, SETTINGS, type SettingName, type Settings } from '../../../settings/settings.js'
import { withoutSecrets } from '../../../settings/settings_reader.js'
import { FILES } from '../../../base/subjects.js'
import { BOOKS } from '../../../store/postgres/store.js'
import { PROCESSOR_SCHEMA } from '../../../store/sqlite/store.js'

export interface Running {
  readonly settings: Settings
  readonly version: string
  readonly startedAt: Instant
  /** Empty means that these books are the only ones. */
  readonly shard: string
}

export const systemCalls = (state: () => ProcessorState): Pick<OperatorHandlers, 'ShowSystem'> => ({
  ShowSystem: (_, callback) => callback(null, { data: [state()] }),
})

export function systemState({ settings, version, startedAt, shard }: Running): ProcessorState {
  const store = settings.STORE_URL === '' ? 'sqlite' : 'postgres'
  const backup = readLastBackup(dataFile(settings, FILES.lastBackup))
  return {
    ...{ shard, version, started_at: toRfc3339(startedAt), store },
    migrations: migrationsIn(store === 'sqlite' ? PROCESSOR_SCHEMA : BOOKS.migrations),
    settings: SETTINGS_READ_BY['src/processor/main.js'].map((name) => settingOf(settings, name)),
    ...(backup === undefined
      ? {}
      : {
          last_backup: {
            snapshot_at: toRfc3339(instant(backup.snapshotAt)),
            folder: backup.folder,
          },
        }),
  }
}

/** A start applies all of them, so open books have them. */
const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted()

function settingOf(settings: Settings, name: SettingName) {
  const value = String(settings[name])
  const isMasked = name === 'CALLERS' && value !== ''
  return {
    name,
    value: isMasked ? '…' : withoutSecrets(name, value),
    is_default: value === String(SETTINGS[name].read(SETTINGS[name].fallback)),
  }
}
