/**
 * The settings and environment variables of the stack, and what child processes inherit.
 *
 * - WEBHOOK_ALLOW_PRIVATE defaults to true only for local work: the gateway listens on loopback, no
 *   hosts are configured, and there is no trusted proxy.
 * - Secrets reach children by environment, never by argument: any user can read arguments.
 */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isLoopback } from '../base/network.js'
import { hasDefaultHosts, type SettingName, type Settings } from '../settings/settings.js'
import { dotEnvFile, readDotEnv, readSettings } from '../settings/settings_reader.js'
import { foreignVariables, variablesOf, type OwnProgram } from './child_variables.js'

export interface StackEnvironment {
  readonly settings: Settings
  /** Variables of one of our programs: the settings it reads, with overrides. */
  forChild(main: OwnProgram, settings: Partial<Record<SettingName, string>>): NodeJS.ProcessEnv
  /** Variables of another supervisor: all of this one, with overrides. */
  forSupervisor(settings: Partial<Record<SettingName, string>>): NodeJS.ProcessEnv
  /** Variables of a third-party program. */
  forForeign(): NodeJS.ProcessEnv
  /** The full path of an installed program. */
  find(program: string): string | undefined
}

export function readEnvironment(): StackEnvironment {
  const configured = readSettings()
  const privateTargets = isSet('WEBHOOK_ALLOW_PRIVATE')
    ? configured.WEBHOOK_ALLOW_PRIVATE
    : isLocalWork(configured)
  const environment = process.env
  const known = {
    ...readDotEnv(dotEnvFile()).values,
    ...environment,
    WEBHOOK_ALLOW_PRIVATE: String(privateTargets),
  }
  return {
    settings: readSettings(known),
    forChild: (main, settings) =>
      variablesOf(main, { settings: { ...known, ...settings }, environment }),
    forSupervisor: (settings) => ({
      ...environment,
      WEBHOOK_ALLOW_PRIVATE: String(privateTargets),
      ...settings,
    }),
    forForeign: () => foreignVariables(environment),
    find: (program) => findProgram(program, process.env['PATH'] ?? ''),
  }
}

/** Whether the settings let only programs on this machine reach the stack. */
const isLocalWork = (settings: Settings): boolean =>
  isLoopback(settings.HTTP_HOST) &&
  hasDefaultHosts(settings) &&
  settings.TRUSTED_PROXIES.length === 0

function isSet(name: SettingName): boolean {
  if (process.env[name] !== undefined) return true
  return readDotEnv(dotEnvFile()).values[name] !== undefined
}

/** Servers are often installed in folders of root's PATH only. */
const ALSO_IN = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin']

export function findProgram(program: string, path: string): string | undefined {
  return [...path.split(delimiter), ...ALSO_IN]
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file))
}
