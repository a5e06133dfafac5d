/**
 * The environment of the stack: what the supervisor was given and what it hands on.
 *
 * Owns: the one default that differs under a supervisor, and the variables of children. Does not
 * own: the settings themselves (base/settings).
 *
 * E1. Unless WEBHOOK_ALLOW_PRIVATE is set, webhooks may go to private addresses only while nothing
 *     but local work is possible: the gateway listens on loopback, nobody has named its hosts, and
 *     no proxy stands before it.
 * E2. Secrets reach children by environment, never by argument: arguments are for every user to
 *     see.
 */
import { existsSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { delimiter, join } from 'node:path'
import {
  hasDefaultHosts,
  readDotEnv,
  readSettings,
  type SettingName,
  type Settings,
} from '../base/settings.js'

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
  const privateTargets = isGiven('WEBHOOK_ALLOW_PRIVATE')
    ? asGiven.WEBHOOK_ALLOW_PRIVATE
    : isLocalWork(asGiven)
  const ours = { ...process.env, WEBHOOK_ALLOW_PRIVATE: String(privateTargets) }
  return {
    settings: readSettings(ours),
    forChild: (settings) => ({ ...ours, ...settings }),
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
