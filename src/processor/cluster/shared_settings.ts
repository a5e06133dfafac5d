/**
 * Applies the settings for all shards in the books of this one, each as a command of the cycle.
 *
 * Owns: reading the cluster, the order, the fault of this shard. Does not own: the effect
 * (operators/shared_setting), the refusal of writes during a fault (cycle/pipeline).
 *
 * - Versions are applied in order; a page of them is submitted at once, so they share commits.
 *   Books without settings apply only the newest of each key: the earlier ones have no effect left.
 * - A version that cannot be applied is a fault of this shard: later ones wait, partners' writes
 *   are refused, and it is retried at each poll. One that an operator skips is passed over.
 * - The books hold the applied version, so a new owner continues after it.
 */
import { SECOND } from '../../base/clock.js'
import type { ErrorCode } from '../../base/errors.js'
import type { Logger } from '../../base/log.js'
import { createPeriodicWork } from '../../base/periodic_work.js'
import type {
  ClusterSetting,
  ClusterSettings,
  SettingsFault,
} from '../../store/cluster/settings.js'
import type { Memory } from '../cache/memory.js'
import { applySetting, passOverSetting } from '../commands/operators/shared_setting.js'
import type { Answer } from '../cycle/answer.js'
import { internalWork, type Command } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'

const LOOK_EVERY_MS = SECOND
const PAGE = 1_000

/** Refusals that say nothing about the setting: the books do not take writes now. */
const NOT_NOW: ReadonlySet<ErrorCode> = new Set(['configuration_error', 'recovery_active'])

export interface SharedSettings {
  /**
   * Applies what the cluster has now.
   *
   * @throws Error when the books have a version that the cluster does not have
   */
  catchUp(): Promise<void>
  start(): void
  /** Resolves when no command is under way. */
  stop(): Promise<void>
}

export interface SharedSettingsDependencies {
  readonly shard: string
  readonly cluster: Pick<ClusterSettings, 'settingsFrom' | 'newestSettings' | 'reportSettingsFault'>
  readonly memory: Pick<Memory, 'settingsVersion' | 'settingsFault'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  /** Called when a fault begins or ends. */
  readonly onFault?: () => void
  readonly log: Logger
}

export function createSharedSettings({
  shard,
  cluster,
  memory,
  pipeline,
  onFault,
  log,
}: SharedSettingsDependencies): SharedSettings {
  /** What the cluster has been told. Undefined if an earlier owner may have told it of a fault. */
  let told: string | undefined

  const run = (command: Command, { requestId }: ClusterSetting): Promise<Answer> =>
    new Promise((reply) => {
      const work = internalWork(command, 'operator', reply)
      pipeline.submit({ ...work, origin: { ...work.origin, requestId } })
    })

  /** @returns null when all are applied */
  const applyAll = async (
    settings: readonly ClusterSetting[],
  ): Promise<{ readonly setting: ClusterSetting; readonly code: ErrorCode } | null> => {
    let after = memory.settingsVersion
    const answers = settings.map((setting) => {
      const answer = run(applySetting(setting, after), setting)
      after = setting.version
      return answer
    })
    for (const [i, answer] of (await Promise.all(answers)).entries())
      if (!answer.ok) return { setting: settings[i]!, code: answer.code }
    return null
  }

  const look = async (): Promise<void> => {
    for (;;) {
      const { settingsVersion: version } = memory
      const next =
        version === 0
          ? await cluster.newestSettings()
          : await cluster.settingsFrom(version + 1, PAGE)
      if (next.length === 0) return tell(null)
      const refused = await applyAll(next)
      if (refused === null) continue
      const { setting, code } = refused
      if (NOT_NOW.has(code)) return
      if (setting.skippedBy === null)
        return tell({ version: setting.version, cause: code }, setting)
      const passed = await run(passOverSetting(setting, memory.settingsVersion), setting)
      if (!passed.ok) return
    }
  }

  const tell = async (fault: SettingsFault | null, setting?: ClusterSetting): Promise<void> => {
    const text = JSON.stringify(fault)
    if (text !== JSON.stringify(memory.settingsFault)) {
      memory.settingsFault = fault
      if (fault === null) log.info({}, 'all settings are applied again')
      else {
        const { version, cause: code } = fault
        log.error(
          { version, kind: setting?.kind, key: setting?.key, code },
          'a setting cannot be applied: writes are refused',
        )
      }
      onFault?.()
    }
    if (text === told) return
    await cluster.reportSettingsFault(shard, fault)
    told = text
  }

  const looks = createPeriodicWork(LOOK_EVERY_MS, look, (error) =>
    log.error({ error }, 'reading settings failed'),
  )

  return {
    catchUp: async () => {
      const { settingsVersion: version } = memory
      if (version > 0 && (await cluster.settingsFrom(version, 1)).length === 0)
        throw new Error(`the books have applied settings version ${version} of another cluster`)
      await look()
    },
    ...looks,
  }
}
