/**
 * Applies the settings for all shards in the books of this one, each as a command of the cycle.
 *
 * Owns: reading the cluster, the order. Does not own: the effect (operators/shared_setting).
 *
 * - Versions are applied in order. A version that cannot be applied blocks later ones and is
 *   retried at each poll.
 * - The books hold the applied version, so a new owner continues after it.
 */
import { SECOND } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { ClusterSetting, ClusterSettings } from '../../store/postgres/cluster/settings.js'
import type { Memory } from '../cache/memory.js'
import { applySetting } from '../commands/operators/shared_setting.js'
import type { Answer } from '../cycle/answer.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'

const LOOK_EVERY_MS = SECOND
const PAGE = 100

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
  readonly cluster: Pick<ClusterSettings, 'settingsFrom'>
  readonly memory: Pick<Memory, 'settingsVersion'>
  readonly pipeline: Pick<Pipeline, 'submit'>
  readonly log: Logger
}

export function createSharedSettings({
  cluster,
  memory,
  pipeline,
  log,
}: SharedSettingsDependencies): SharedSettings {
  let running = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let reported = 0

  const applied = (setting: ClusterSetting): Promise<Answer> =>
    new Promise((reply) => {
      const work = internalWork(applySetting(setting), 'operator', reply)
      pipeline.submit({ ...work, origin: { ...work.origin, requestId: setting.requestId } })
    })

  /** False: one cannot be applied. */
  const applyAll = async (settings: readonly ClusterSetting[]): Promise<boolean> => {
    for (const setting of settings) {
      const answer = await applied(setting)
      if (answer.ok) continue
      const { version, kind, key } = setting
      if (version !== reported)
        log.error({ version, kind, key, code: answer.code }, 'a setting cannot be applied')
      reported = version
      return false
    }
    return true
  }

  const look = async (): Promise<void> => {
    for (;;) {
      const next = await cluster.settingsFrom(memory.settingsVersion + 1, PAGE)
      if (!(await applyAll(next)) || next.length < PAGE) return
    }
  }

  const lookLater = (): void => {
    timer = setTimeout(() => {
      looking = look()
        .catch((error: unknown) => log.error({ error }, 'reading settings failed'))
        .then(() => {
          if (running) lookLater()
        })
    }, LOOK_EVERY_MS)
  }

  return {
    catchUp: async () => {
      const { settingsVersion: version } = memory
      if (version > 0 && (await cluster.settingsFrom(version, 1)).length === 0)
        throw new Error(`the books have applied settings version ${version} of another cluster`)
      await look()
    },
    start: () => {
      running = true
      lookLater()
    },
    stop: () => {
      running = false
      clearTimeout(timer)
      return looking
    },
  }
}
