/**
 * Reads and checks the settings of the environment and `.env`.
 *
 * - An invalid value stops the start with its name, the value and the allowed ones; all faults are
 *   reported at once.
 * - Unknown names and lines that set nothing are rejected in `.env`, as certain mistakes. The
 *   process environment is shared with other programs: only a name close to a setting is named.
 * - The result is frozen; only `supervisor/environment.ts` also reads `process.env`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { misspelledSettings, settingLike, type MisspelledSetting } from './misspelled_settings.js'
import { isLocalAddress, isLoopback } from '../base/network.js'
import type { Setting } from './setting_kinds.js'
import { RENAMED, SETTINGS, type SettingName, type Settings } from './settings.js'

const oldNameOf = (name: string): string | undefined =>
  Object.keys(RENAMED).find((old) => RENAMED[old] === name)

export class SettingsError extends Error {
  override name = 'SettingsError'
}

/** The supervisor passes the values of `.env` on, so its children read no file. */
export const dotEnvFile = (): string => process.env['DOT_ENV'] ?? OPTIONAL_FILE

/** A person has named any other one: without it a start has the defaults, so new, empty books. */
const OPTIONAL_FILE = '.env'

const warned = new Set<string>()

/** A program reads its settings several times, and says each line once. */
function warnOnce(line: string): void {
  if (!warned.has(line)) process.stderr.write(`${line}\n`)
  warned.add(line)
}

/** Reads and checks all settings. @throws SettingsError with every fault */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  file = dotEnvFile(),
  warn: (line: string) => void = warnOnce,
): Settings {
  const { values: fromFile, faults, repeated } = readDotEnv(file)
  for (const name of repeated) warn(`${name} is more than once in ${file}: the last line counts.`)
  for (const name of Object.keys(fromFile)) {
    if (!Object.hasOwn(SETTINGS, name) && !Object.hasOwn(RENAMED, name))
      faults.push(`${name} in ${file} is not a setting${question(settingLike(name))}`)
  }
  const misspelled = misspelledSettings(environment)
  if (misspelled.length > 0) warn(misspelledLine(misspelled))
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const old = oldNameOf(name)
    const now = environment[name] ?? fromFile[name]
    const before = old === undefined ? undefined : (environment[old] ?? fromFile[old])
    if (before !== undefined)
      warn(`The setting ${old} is now ${name}; the old name ends with this version.`)
    const isOld = now === undefined && before !== undefined
    const given = now ?? before ?? setting.fallback
    const value = setting.read(given)
    if (value === undefined)
      faults.push(`${isOld ? old : name}=${shown(name, given)} is not allowed: ${setting.allowed}`)
    values[name] = value
  }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'))
  const settings = values as Settings
  faults.push(...contradictions(settings))
  if (faults.length > 0) throw new SettingsError(faults.join('\n'))
  return Object.freeze(settings)
}

const question = (meant: string | undefined): string =>
  meant === undefined ? '' : ` (did you mean ${meant}?)`

const misspelledLine = (misspelled: readonly MisspelledSetting[]): string =>
  'Ignored, as not a setting: ' +
  misspelled.map(({ given, meant }) => `${given}${question(meant)}`).join(', ')

/**
 * The values of the file, the lines that set nothing and the names of several lines. Each line is
 * parsed alone, because Node joins a line without `=` to the next one or skips it.
 * @throws SettingsError when the file cannot be read
 */
export function readDotEnv(file: string): {
  readonly values: Readonly<Record<string, string | undefined>>
  readonly faults: string[]
  readonly repeated: ReadonlySet<string>
} {
  const values: Record<string, string | undefined> = {}
  const faults: string[] = []
  const repeated = new Set<string>()
  for (const [i, line] of linesOf(file).entries()) {
    if (line === '' || line.startsWith('#')) continue
    const [set] = Object.entries(parseEnv(line))
    if (set === undefined) {
      faults.push(`Line ${i + 1} of ${file} is not NAME=value`)
      continue
    }
    const [name, value] = set
    if (Object.hasOwn(values, name)) repeated.add(name)
    values[name] = value
  }
  return { values, faults, repeated }
}

/** @param file empty for none */
function linesOf(file: string): readonly string[] {
  if (file === '' || (file === OPTIONAL_FILE && !existsSync(file))) return []
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? `there is no ${resolve(file)}` : message
    throw new SettingsError(`The settings in ${file} cannot be read: ${why}`)
  }
}

/** Variables of this process that are probably misspelled settings. */
export const misspelledVariables = (): readonly MisspelledSetting[] =>
  misspelledSettings(process.env)

/** What systemd sets for a service (sd_notify(3)), and the search path. */
export const serviceVariables = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
) => ({
  NOTIFY_SOCKET: environment['NOTIFY_SOCKET'],
  WATCHDOG_USEC: environment['WATCHDOG_USEC'],
  WATCHDOG_PID: environment['WATCHDOG_PID'],
  PATH: environment['PATH'],
})

const secretOf = (name: string): Setting<unknown>['secret'] =>
  (SETTINGS as Readonly<Record<string, Setting<unknown>>>)[name]?.secret

/** A printable value: tokens are masked, and all before the host of a URL. */
export function withoutSecrets(name: SettingName, value: string): string {
  const secret = secretOf(name)
  if (secret === 'password') return value.replace(/\/\/.*@/s, '//…@')
  return secret === 'all' && value !== '' ? '…' : value
}

/** The source of a setting's value. */
export function settingSource(
  name: SettingName,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  file = dotEnvFile(),
): 'environment' | '.env' | 'default' {
  if (environment[name] !== undefined) return 'environment'
  return readDotEnv(file).values[name] === undefined ? 'default' : '.env'
}

/** A malformed URL may contain a password anywhere. */
const shown = (name: string, given: string): string => (secretOf(name) === undefined ? given : '…')

/** Settings that are valid alone and contradict each other. */
function contradictions(settings: Settings): string[] {
  const faults: string[] = []
  if (settings.WEBHOOK_ALLOW_PRIVATE && settings.PRODUCTION_HOSTS.length > 0) {
    faults.push('WEBHOOK_ALLOW_PRIVATE=true is not allowed together with PRODUCTION_HOSTS')
  }
  if (settings.CLUSTER !== 'off' && settings.STORE_URL === '' && settings.STORE === 'sqlite') {
    faults.push(`CLUSTER=${settings.CLUSTER} needs STORE_URL: SQLite books have one processor`)
  }
  if (settings.CLUSTER !== 'off' && settings.MASTER_KEY_FILE === '') {
    faults.push(
      `CLUSTER=${settings.CLUSTER} needs MASTER_KEY_FILE: every processor needs the same keys`,
    )
  }
  if ((settings.TLS_CERT_FILE === '') !== (settings.TLS_KEY_FILE === '')) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE are only allowed together')
  }
  if ((settings.CONSOLE_TLS_CERT_FILE === '') !== (settings.CONSOLE_TLS_KEY_FILE === '')) {
    faults.push('CONSOLE_TLS_CERT_FILE and CONSOLE_TLS_KEY_FILE are only allowed together')
  }
  if ((settings.NATS_TLS_CERT_FILE === '') !== (settings.NATS_TLS_KEY_FILE === '')) {
    faults.push('NATS_TLS_CERT_FILE and NATS_TLS_KEY_FILE are only allowed together')
  }
  const natsFiles = [settings.NATS_TLS_CA_FILE, settings.NATS_TLS_CERT_FILE]
  if (natsFiles.some((file) => file !== '') && !settings.NATS_URL.startsWith('tls:')) {
    faults.push('NATS_TLS_… needs NATS_URL=tls://…')
  }
  const tls = [settings.GRPC_TLS_CERT_FILE, settings.GRPC_TLS_KEY_FILE, settings.GRPC_TLS_CA_FILE]
  if (new Set(tls.map((file) => file === '')).size > 1) {
    faults.push(
      'GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE are only allowed together',
    )
  }
  const screening = [
    settings.SCREENING_TLS_CERT_FILE,
    settings.SCREENING_TLS_KEY_FILE,
    settings.SCREENING_TLS_CA_FILE,
  ]
  if (new Set(screening.map((file) => file === '')).size > 1) {
    faults.push(
      'SCREENING_TLS_CERT_FILE, SCREENING_TLS_KEY_FILE and SCREENING_TLS_CA_FILE are only ' +
        'allowed together',
    )
  }
  if (tls.every((file) => file === '')) {
    const names = ['PROCESSOR_ADDRESS', 'RAIL_LISTEN', 'RAIL_ADDRESS', 'SCREENING_LISTEN'] as const
    const beyond = names.filter((name) => !isLocalAddress(settings[name]))
    for (const name of beyond) faults.push(cleartextFault(name, settings[name]))
    const { SCREENING_ADDRESS: screened } = settings
    if (screened !== '' && screening.includes('') && !isLocalAddress(screened))
      faults.push(cleartextFault('SCREENING_ADDRESS', screened))
    for (const address of settings.PROCESSORS.filter((each) => !isLocalAddress(each))) {
      faults.push(cleartextFault('PROCESSORS', address))
    }
    if (!isLoopback(settings.GRPC_HOST)) {
      faults.push(cleartextFault('GRPC_HOST', settings.GRPC_HOST))
    }
  }
  const ofWebhooks = Math.max(settings.WEBHOOK_KEEP_DELIVERED_DAYS, settings.WEBHOOK_KEEP_DEAD_DAYS)
  if (settings.EVENTS_KEEP_DAYS > 0 && settings.EVENTS_KEEP_DAYS <= ofWebhooks) {
    faults.push(
      `EVENTS_KEEP_DAYS=${settings.EVENTS_KEEP_DAYS} is not allowed: webhooks are kept for ` +
        `${ofWebhooks} days, and their events longer`,
    )
  }
  const both = settings.SANDBOX_HOSTS.filter((host) => settings.PRODUCTION_HOSTS.includes(host))
  for (const host of both) faults.push(`${host} is in SANDBOX_HOSTS and in PRODUCTION_HOSTS`)
  return faults
}

/** Credentials would cross the network in the clear. */
export const cleartextFault = (name: string, address: string): string =>
  `${name}=${address} is not allowed without GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and ` +
  'GRPC_TLS_CA_FILE: credentials would cross the network in the clear'
