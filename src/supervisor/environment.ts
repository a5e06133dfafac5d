/**
 * The environment of the stack: what the supervisor was given and what it hands on.
 *
 * Owns: the one default that differs under a supervisor, and the variables of children. Does not
 * own: the settings themselves (base/settings).
 *
 * E1. Webhooks may go to private addresses, as local work needs, unless somebody said otherwise or
 *     serves production hosts.
 * E2. Secrets reach children by environment, never by argument: arguments are for every user to
 *     see.
 */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { readDotEnv, readSettings, type SettingName, type Settings } from '../base/settings.js'

const DOT_ENV = '.env'

export interface Environment {
  readonly settings: Settings
  /** The variables of a child: ours, with these settings instead. */
  forChild(settings: Partial<Record<SettingName, string>>): NodeJS.ProcessEnv
  /** The full path of a program, if it is installed. */
  find(program: string): string | undefined
}

export function readEnvironment(): Environment {
  const asGiven = readSettings()
  const privateTargets =
    isGiven('WEBHOOK_ALLOW_PRIVATE') || asGiven.PRODUCTION_HOSTS.length > 0
      ? asGiven.WEBHOOK_ALLOW_PRIVATE
      : true
  const ours = { ...process.env, WEBHOOK_ALLOW_PRIVATE: String(privateTargets) }
  return {
    settings: readSettings(ours),
    forChild: (settings) => ({ ...ours, ...settings }),
    find: (program) => findProgram(program, process.env['PATH'] ?? ''),
  }
}

function isGiven(name: SettingName): boolean {
  if (process.env[name] !== undefined) return true
  return readDotEnv(DOT_ENV).values[name] !== undefined
}

/** Servers are often installed where only root's PATH looks. */
const ALSO_IN = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin']

function findProgram(program: string, path: string): string | undefined {
  return [...path.split(delimiter), ...ALSO_IN]
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file))
}
