/**
 * The environment variables of each program of the stack.
 *
 * - A program gets only the settings it reads and the variables that every process needs, so
 *   nothing else can leak into a crash dump, a log or its own children.
 */
import { SETTINGS_READ_BY } from '../settings/setting_readers.js'
import type { SettingName } from '../settings/settings.js'

export { SETTINGS_READ_BY }

/** Read by the system, the loader and the C library. */
const SYSTEM_VARIABLES = [
  ...['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'LD_PRELOAD'],
] as const

/** Read by Node. */
const NODE_VARIABLES = [
  ...['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'NODE_V8_COVERAGE', 'UV_THREADPOOL_SIZE'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR'],
] as const

export type OwnProgram = keyof typeof SETTINGS_READ_BY

export interface Variables {
  readonly settings: Readonly<Partial<Record<SettingName, string>>>
  readonly environment: NodeJS.ProcessEnv
}

/** `settings` includes `.env`, so the program does not read it again. */
export function variablesOf(main: OwnProgram, given: Variables): NodeJS.ProcessEnv {
  return {
    ...picked(given.environment, [...SYSTEM_VARIABLES, ...NODE_VARIABLES]),
    ...picked(given.settings, SETTINGS_READ_BY[main]),
    DOT_ENV: '',
  }
}

/** Variables of a third-party program. */
export const foreignVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  picked(environment, SYSTEM_VARIABLES)

function picked(
  from: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): NodeJS.ProcessEnv {
  const kept = names.map((name) => [name, from[name]] as const)
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined))
}
