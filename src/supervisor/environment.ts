/**
 * The environment of the stack: what the supervisor was given and what it hands on.
 *
 * Owns: the one default that differs under a supervisor. Does not own: the settings themselves
 * (base/settings), which of them a child gets (child_variables).
 *
 * - Unless WEBHOOK_ALLOW_PRIVATE is set, webhooks may go to private addresses only while nothing
 *   but local work is possible: the gateway listens on loopback, nobody has named its hosts, and
 *   no proxy stands before it.
 * - Secrets reach children by environment, never by argument: arguments are for every user to
 *   see.
 */
import { existsSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { delimiter, join } from 'node:path'
import {
  dotEnvFile,
  hasDefaultHosts,
  readDotEnv,
  readSettings,
  type SettingName,
  type Settings,
} from '../base/settings.js'
import { foreignVariables, variablesOf, type OwnProgram } from './child_variables.js'

export interface StackEnvironment {
  readonly settings: Settings
  /** The variables of a program of ours: of our settings those it reads, with these instead. */
  forChild(main: OwnProgram, settings: Partial<Record<SettingName, string>>): NodeJS.ProcessEnv
  /** The variables of another supervisor: all of ours, with these settings instead. */
  forSupervisor(settings: Partial<Record<SettingName, string>>): NodeJS.ProcessEnv
  /** The variables of a program that is not ours. */
  forForeign(): NodeJS.ProcessEnv
  /** The full path of a program, if it is installed. */
  find(program: string): string | undefined
}

export function readEnvironment(): StackEnvironment {
  const asGiven = readSettings()
  const privateTargets = isGiven('WEBHOOK_ALLOW_PRIVATE')
    ? asGiven.WEBHOOK_ALLOW_PRIVATE
    : isLocalWork(asGiven)
  const environment = process.env
  const ours = {
    ...readDotEnv(dotEnvFile()).values,
    ...environment,
    WEBHOOK_ALLOW_PRIVATE: String(privateTargets),
  }
  return {
    settings: readSettings(ours),
    forChild: (main, settings) =>
      variablesOf(main, { settings: { ...ours, ...settings }, environment }),
    forSupervisor: (settings) => ({
      ...environment,
      WEBHOOK_ALLOW_PRIVATE: String(privateTargets),
      ...settings,
    }),
    forForeign: () => foreignVariables(environment),
    find: (program) => findProgram(program, process.env['PATH'] ?? ''),
  }
}

/** Only programs of this machine reach the stack, as far as its settings say. */
const isLocalWork = (settings: Settings): boolean =>
  isLoopback(settings.HTTP_HOST) &&
  hasDefaultHosts(settings) &&
  settings.TRUSTED_PROXIES.length === 0

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))

function isGiven(name: SettingName): boolean {
  if (process.env[name] !== undefined) return true
  return readDotEnv(dotEnvFile()).values[name] !== undefined
}

/** Servers are often installed where only root's PATH looks. */
const ALSO_IN = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin']

function findProgram(program: string, path: string): string | undefined {
  return [...path.split(delimiter), ...ALSO_IN]
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file))
}
