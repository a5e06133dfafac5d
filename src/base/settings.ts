/**
 * The settings of the environment and `.env`: names, defaults, allowed values and descriptions.
 *
 * Does not own: fixed bounds (base/constants), values that operators change at run time (rates,
 * limits, routes: the store).
 *
 * - An invalid value stops the start with its name, the value and the allowed ones; all faults are
 *   reported at once.
 * - Unknown names and lines that set nothing are rejected in `.env`, as certain mistakes,
 *   and ignored in the process environment, which is shared with other programs.
 * - The result is frozen; only `supervisor/environment.ts` also reads `process.env`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { SESSION_TTL_MAX_S } from './constants.js'
import { isLocalAddress, isLoopback } from './network.js'
import { FILES, WEBHOOK_POOLS_MAX } from './subjects.js'

interface Setting<T> {
  readonly fallback: string
  readonly allowed: string
  readonly about: string
  /** @returns undefined when the value is not allowed */
  read(text: string): T | undefined
}

const whole = (fallback: number, min: number, max: number, about: string): Setting<number> => ({
  fallback: String(fallback),
  allowed: `a whole number from ${min} to ${max}`,
  about,
  read: (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  fallback: Choice,
  about: string,
): Setting<Choice> => ({
  fallback,
  allowed: choices.join(' or '),
  about,
  read: (text) => choices.find((choice) => choice === text),
})

const toggle = (fallback: boolean, about: string): Setting<boolean> => ({
  fallback: String(fallback),
  allowed: 'true or false',
  about,
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
})

const text = (
  fallback: string,
  shape: RegExp,
  allowed: string,
  about: string,
): Setting<string> => ({
  fallback,
  allowed,
  about,
  read: (value) => (shape.test(value) ? value : undefined),
})

const list = (
  fallback: string,
  shape: { test(item: string): boolean },
  allowed: string,
  about: string,
): Setting<readonly string[]> => ({
  fallback,
  allowed: `comma-separated: ${allowed}`,
  about,
  read: (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    return items.every((item) => shape.test(item)) ? items : undefined
  },
})

/** One IP address, or a CIDR block. */
const ADDRESSES = {
  test: (item: string): boolean => {
    const [address = '', bits, more] = item.split('/')
    const family = isIP(address)
    if (family === 0 || more !== undefined) return false
    if (bits === undefined) return true
    return /^(0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  },
}
const PATH = /^[^\0]*$/
const LISTEN = /^[0-9a-fA-F.:]+$|^localhost$/
const ADDRESS = /^unix:[^\0]+$|^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/
const TOKEN = /^[\x21-\x7e]*$/
const CALLER = {
  test: (item: string): boolean => {
    const [kind = '', name = '', credential = '', value = '', ...more] = item.split(':')
    if (more.length > 0 || !CALLER_KIND.test(kind) || !CALLER_NAME.test(name)) return false
    if (credential === 'sha256') return /^[0-9a-f]{64}$/.test(value)
    return credential === 'certificate' && /^[^\s]{1,255}$/.test(value)
  },
}
const CALLER_KIND = /^(?:operator|service|gateway|webhooks|supervisor|processor)$/
const CALLER_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/
const HOST = /^[a-z0-9.-]{1,253}$/

export const SETTINGS = {
  HTTP_HOST: text(
    '127.0.0.1',
    LISTEN,
    'an IP address or localhost',
    'address the gateway listens on',
  ),
  HTTP_PORT: whole(8080, 0, 65_535, 'port of the partner API; 0 takes a free one'),
  GRPC_HOST: text(
    '127.0.0.1',
    LISTEN,
    'an IP address or localhost',
    'address the processor listens on for gRPC; beyond loopback only with GRPC_TLS_…',
  ),
  GRPC_PORT: whole(
    50_051,
    0,
    65_535,
    'port of the processor for internal services; 0 takes a free one',
  ),
  GRPC_SOCKET: text(
    '',
    PATH,
    'a path',
    'Unix socket on which the processor also listens for gRPC; make run sets it',
  ),
  PROCESSOR_ADDRESS: text(
    '127.0.0.1:50051',
    ADDRESS,
    'host:port or unix:PATH',
    'where gateways and webhook pools reach the processor; make run sets it',
  ),
  RAIL_LISTEN: text(
    '127.0.0.1:50052',
    ADDRESS,
    'host:port or unix:PATH',
    'address the sandbox rail listens on; make run sets it',
  ),
  RAIL_ADDRESS: text(
    '127.0.0.1:50052',
    ADDRESS,
    'host:port or unix:PATH',
    'where the processor reaches the rail; make run sets it',
  ),
  GRPC_TLS_CERT_FILE: text('', PATH, 'a path', 'certificate chain of this process for gRPC (PEM)'),
  GRPC_TLS_KEY_FILE: text('', PATH, 'a path', 'private key of this process for gRPC (PEM)'),
  GRPC_TLS_CA_FILE: text(
    '',
    PATH,
    'a path',
    'CA whose certificates gRPC servers and clients accept (PEM)',
  ),
  OPS_HOST: text(
    '127.0.0.1',
    LISTEN,
    'an IP address or localhost',
    'address of health and metrics; they need no credential',
  ),
  OPS_PORT: whole(9_090, 0, 65_535, 'port of health and metrics; 0 takes a free one'),
  OPS_HOSTS: list(
    '',
    HOST,
    'host names',
    'host names that OPS_PORT accepts besides loopback names and addresses',
  ),
  NATS_PORT: whole(
    4_222,
    0,
    65_535,
    'port of the nats-server that the stack starts; 0 takes a free one',
  ),
  NATS_URL: text(
    '',
    /^$|^nats:\/\/|^tls:\/\//,
    'nats://… or tls://…',
    'URL of existing nats-servers, with all hosts of a NATS cluster; empty starts one',
  ),
  NATS_TLS_CA_FILE: text(
    '',
    PATH,
    'a path',
    'CA of the nats-server at a tls:// address (PEM); empty: those of the system',
  ),
  NATS_TLS_CERT_FILE: text('', PATH, 'a path', 'client certificate for the nats-server (PEM)'),
  NATS_TLS_KEY_FILE: text('', PATH, 'a path', 'private key of that certificate (PEM)'),
  STORE: oneOf(
    ['sqlite', 'postgres'],
    'sqlite',
    'postgres starts a PostgreSQL server of its own in DATA_DIR, unless STORE_URL is set',
  ),
  STORE_URL: text(
    '',
    /^$|^postgres(ql)?:\/\//,
    'postgres://…',
    'URL of the PostgreSQL server of the books, with all its hosts; empty: SQLite in DATA_DIR',
  ),
  SHARD: text(
    'books_1',
    /^[a-z][a-z0-9_]{0,40}$/,
    'lower-case letters, digits and underscores',
    'schema of the books in PostgreSQL',
  ),
  WEBHOOK_POOL_SCHEMA: text(
    'pool',
    /^[a-z][a-z0-9_]{0,38}$/,
    'lower-case letters, digits and underscores',
    'first part of the schema names of the webhook pools in PostgreSQL: pool_1, pool_2, …',
  ),
  DATA_DIR: text('var', PATH, 'a path', 'directory of all state'),
  BRAND: text(
    'Service',
    /^[A-Z][A-Za-z0-9]{0,31}$/,
    'a capitalized word',
    'brand in header names (X-…-Key-Id) and in fee_details',
  ),
  GATEWAYS: whole(1, 1, 16, 'number of gateway processes that share the port'),
  RATE_LIMIT: oneOf(
    ['on', 'off'],
    'on',
    'off disables rate limits, in-flight and connection limits, and load shedding',
  ),
  RATE_LIMIT_PER_SECOND: whole(
    1_000,
    1,
    1_000_000,
    'requests per second and key, unless the partner has its own limit',
  ),
  RATE_LIMIT_PER_ADDRESS: whole(
    5_000,
    1,
    1_000_000,
    'requests per second and client address, before authentication',
  ),
  TRUSTED_PROXIES: list(
    '',
    ADDRESSES,
    'IP addresses and CIDR blocks',
    'proxies whose X-Forwarded-For is trusted',
  ),
  SANDBOX_HOSTS: list(
    'api.localhost',
    HOST,
    'host names',
    'host names of the sandbox, canonical and legacy',
  ),
  PRODUCTION_HOSTS: list('', HOST, 'host names', 'host names of production, canonical and legacy'),
  TLS_CERT_FILE: text('', PATH, 'a path', 'certificate chain of the gateway (PEM)'),
  TLS_KEY_FILE: text('', PATH, 'a path', 'private key of the gateway (PEM)'),
  MASTER_KEY_FILE: text(
    '',
    PATH,
    'a path',
    'key file for secrets at rest; empty: DATA_DIR/master.key',
  ),
  CALLERS: list(
    '',
    CALLER,
    'KIND:NAME:sha256:DIGEST or KIND:NAME:certificate:NAME',
    'callers of gRPC besides the stored ones; make run adds those of its own processes',
  ),
  PROCESSOR_TOKEN: text(
    '',
    TOKEN,
    'a token',
    'token with which a gateway or a webhook pool calls the processor; make run sets it',
  ),
  RAIL_TOKEN: text(
    '',
    TOKEN,
    'a token',
    'token with which the processor calls the rail; make run sets it',
  ),
  OPERATOR_TOKEN_FILE: text(
    '',
    PATH,
    'a path',
    "file with the operator's token; empty: DATA_DIR/operator.token",
  ),
  SECOND_OPERATOR_FROM: list(
    '',
    /^[A-Z]{3}:(?:0|[1-9][0-9]{0,17})$/,
    'CURRENCY:AMOUNT, in minor units',
    'amounts from which a second operator must approve; empty: none is needed',
  ),
  SESSION_TTL_S: whole(300, 60, SESSION_TTL_MAX_S, 'lifetime of a session token, seconds'),
  QUOTE_TTL_S: whole(300, 10, 3_600, 'lifetime of a quote, seconds'),
  INTENT_TTL_S: whole(1_800, 60, 86_400, 'time until an unconfirmed intent expires, seconds'),
  RAIL_SUBMIT_TTL_S: whole(
    60,
    5,
    3_600,
    'time after confirm in which the rail can still accept a payment, seconds',
  ),
  REVIEW_TTL_S: whole(259_200, 60, 2_592_000, 'time until a held payout fails, seconds'),
  DUPLICATE_SCAN_WINDOW_S: whole(
    60,
    0,
    3_600,
    'time in which an equal payment of the same user is a duplicate, seconds',
  ),
  SPREAD_BPS: whole(0, 0, 5_000, 'spread on quotes, basis points'),
  RATE_MAX_AGE_S: whole(
    0,
    0,
    31_536_000,
    'age from which a rate is stale and not used, seconds; 0: never',
  ),
  TH_LIMIT_TRANSACTION_THB: whole(
    50_000,
    1,
    10_000_000,
    'maximum amount of one payment, Thailand, baht',
  ),
  TH_LIMIT_DAY_THB: whole(
    200_000,
    1,
    100_000_000,
    'maximum that a user can pay per day, Thailand, baht',
  ),
  TH_LIMIT_MONTH_THB: whole(
    1_000_000,
    1,
    1_000_000_000,
    'maximum that a user can pay per month, Thailand, baht',
  ),
  TH_MINIMUM_SATANG: whole(100, 1, 1_000_000, 'minimum amount of a payment, Thailand, satang'),
  VN_MINIMUM_VND: whole(1_000, 1, 5_000_000, 'minimum amount of a payment, Vietnam, dong'),
  ALLOW_SANDBOX_RAIL_IN_PRODUCTION: oneOf(
    ['no', 'yes'],
    'no',
    'yes serves PRODUCTION_HOSTS with the sandbox rail, which moves no real money',
  ),
  RAIL_DELAY_MS: whole(
    250,
    0,
    600_000,
    'time the sandbox rail takes to execute a payment, milliseconds',
  ),
  WEBHOOK_POOLS: whole(
    1,
    1,
    WEBHOOK_POOLS_MAX,
    'number of webhook pool processes that share the deliveries',
  ),
  WEBHOOK_POOL_NUMBER: whole(
    1,
    1,
    WEBHOOK_POOLS_MAX,
    'which pool of several a process is; each has its own database; make run sets it',
  ),
  WEBHOOK_ALLOW_PRIVATE: toggle(
    false,
    'deliver webhooks to http and to private addresses (local work only)',
  ),
  WEBHOOK_RATE_PER_SECOND: whole(
    1_000,
    1,
    100_000,
    'webhooks per second from each pool to one endpoint',
  ),
  WEBHOOK_MAX_ATTEMPTS: whole(12, 1, 12, 'attempts before a delivery is dead-lettered'),
  WEBHOOK_BACKOFF_SCALE_PCT: whole(100, 0, 100, 'scales the retry schedule for tests, percent'),
  DISK_RESERVE_MB: whole(
    256,
    0,
    1_048_576,
    'free disk space of DATA_DIR, in MiB, below which writes are rejected; 0: never',
  ),
  RECOVERY: oneOf(
    ['no', 'yes'],
    'no',
    'yes starts in recovery mode: reads only, until an operator releases it',
  ),
  WARM_ACTORS: whole(20_000, 100, 1_000_000, 'number of actors kept in memory'),
  LOG_LEVEL: oneOf(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'lowest level that is logged',
  ),
  LOG_REQUESTS_PER_SECOND: whole(
    20,
    0,
    100_000,
    'served requests that a gateway logs one by one, a second; the rest is counted',
  ),
  LOG_REFUSALS_PER_SECOND: whole(
    5,
    0,
    100_000,
    'refusals of one caller that a gateway logs one by one, a second; the rest is counted',
  ),
  LOG_FORMAT: oneOf(
    ['json', 'pretty'],
    'json',
    'pretty writes log lines for people, not for tools',
  ),
  LOG_CREATED_PER_SECOND: whole(
    100,
    0,
    100_000,
    'log lines a second for new payments and payouts; further ones are counted in one line',
  ),
  LOG_TRANSITIONS_PER_SECOND: whole(
    1_000,
    0,
    100_000,
    'log lines a second for all other transitions, and for dead deliveries',
  ),
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS

/** Old names that this version still reads, with the current setting. */
export const RENAMED: Readonly<Record<string, SettingName>> = {
  HANDOVER_TTL_S: 'RAIL_SUBMIT_TTL_S',
}

type ValueOf<S> = S extends Setting<infer T> ? T : never
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }

const oldNameOf = (name: string): string | undefined =>
  Object.keys(RENAMED).find((old) => RENAMED[old] === name)

export class SettingsError extends Error {
  override name = 'SettingsError'
}

/** The supervisor passes the values of `.env` on, so its children read no file. */
export const dotEnvFile = (): string => process.env['DOT_ENV'] ?? '.env'

/** Reads and checks all settings. @throws SettingsError with every fault */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  file = dotEnvFile(),
  warn: (line: string) => void = (line) => process.emitWarning(line),
): Settings {
  const { values: fromFile, faults } = readDotEnv(file)
  for (const name of Object.keys(fromFile)) {
    if (!Object.hasOwn(SETTINGS, name) && !Object.hasOwn(RENAMED, name))
      faults.push(`${name} in ${file} is not a setting`)
  }
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

/**
 * The values of the file and the lines that set nothing. Each line is parsed alone, because Node
 * joins a line without `=` to the next one or skips it.
 */
export function readDotEnv(file: string): {
  readonly values: Readonly<Record<string, string | undefined>>
  readonly faults: string[]
} {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const values: Record<string, string | undefined> = {}
  const faults: string[] = []
  for (const [i, line] of lines.map((text) => text.trim()).entries()) {
    if (line === '' || line.startsWith('#')) continue
    const set = parseEnv(line)
    if (Object.keys(set).length > 0) Object.assign(values, set)
    else faults.push(`Line ${i + 1} of ${file} is not NAME=value`)
  }
  return { values, faults }
}

/** What systemd sets for a service (sd_notify(3)), and the search path. */
export const serviceVariables = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
) => ({
  NOTIFY_SOCKET: environment['NOTIFY_SOCKET'],
  WATCHDOG_USEC: environment['WATCHDOG_USEC'],
  WATCHDOG_PID: environment['WATCHDOG_PID'],
  PATH: environment['PATH'],
})

/** Settings whose value can contain a password. */
const URLS: ReadonlySet<string> = new Set(['NATS_URL', 'STORE_URL'] satisfies SettingName[])

/** A printable value: tokens and the passwords in URLs are masked. */
export function withoutSecrets(name: SettingName, value: string): string {
  if (URLS.has(name)) return value.replace(/\/\/[^@/]*@/g, '//…@')
  return isToken(name) && value !== '' ? '…' : value
}

const isToken = (name: string): boolean => name === 'PROCESSOR_TOKEN' || name === 'RAIL_TOKEN'

/** The source of a setting's value. */
export function settingSource(
  name: SettingName,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  dotEnvFile = '.env',
): 'environment' | '.env' | 'default' {
  if (environment[name] !== undefined) return 'environment'
  return readDotEnv(dotEnvFile).values[name] === undefined ? 'default' : '.env'
}

/** A malformed URL may contain a password anywhere. */
const shown = (name: string, given: string): string =>
  URLS.has(name) || isToken(name) ? '…' : given

/** Settings that are valid alone and contradict each other. */
function contradictions(settings: Settings): string[] {
  const faults: string[] = []
  if (settings.WEBHOOK_ALLOW_PRIVATE && settings.PRODUCTION_HOSTS.length > 0) {
    faults.push('WEBHOOK_ALLOW_PRIVATE=true is not allowed together with PRODUCTION_HOSTS')
  }
  if ((settings.TLS_CERT_FILE === '') !== (settings.TLS_KEY_FILE === '')) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE are only allowed together')
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
  if (tls.every((file) => file === '')) {
    const names = ['PROCESSOR_ADDRESS', 'RAIL_LISTEN', 'RAIL_ADDRESS'] as const
    const beyond = names.filter((name) => !isLocalAddress(settings[name]))
    for (const name of beyond) faults.push(cleartextFault(name, settings[name]))
    if (!isLoopback(settings.GRPC_HOST)) {
      faults.push(cleartextFault('GRPC_HOST', settings.GRPC_HOST))
    }
  }
  const both = settings.SANDBOX_HOSTS.filter((host) => settings.PRODUCTION_HOSTS.includes(host))
  for (const host of both) faults.push(`${host} is in SANDBOX_HOSTS and in PRODUCTION_HOSTS`)
  return faults
}

/** Credentials would cross the network in the clear. */
export const cleartextFault = (name: string, address: string): string =>
  `${name}=${address} is not allowed without GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and ` +
  'GRPC_TLS_CA_FILE: credentials would cross the network in the clear'

/** Whether both host lists have their defaults. */
export const hasDefaultHosts = (
  settings: Pick<Settings, 'SANDBOX_HOSTS' | 'PRODUCTION_HOSTS'>,
): boolean =>
  settings.SANDBOX_HOSTS.join() === SETTINGS.SANDBOX_HOSTS.fallback &&
  settings.PRODUCTION_HOSTS.join() === SETTINGS.PRODUCTION_HOSTS.fallback

/** The absolute path of a file in DATA_DIR. */
export const dataFile = (settings: Settings, name: string): string =>
  join(resolve(settings.DATA_DIR), name)

/** The PostgreSQL server of the books: of the settings, or one that the stack of `folder` runs. */
export function storeUrl({ STORE_URL }: Pick<Settings, 'STORE_URL'>, folder: string): string {
  const file = join(resolve(folder), FILES.storeUrl)
  if (STORE_URL !== '' || !existsSync(file)) return STORE_URL
  return readFileSync(file, 'utf8')
}
