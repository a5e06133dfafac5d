/**
 * The settings of the environment and `.env`: names, defaults, allowed values and descriptions.
 *
 * Does not own: reading them (settings/settings_reader), fixed bounds (base/constants), values that
 * operators change at run time (rates, limits, routes: the store).
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SESSION_TTL_MAX_S } from '../base/constants.js'
import { readSecretFile, requirePrivateFolder } from '../files/secret_file.js'
import {
  ADDRESS,
  address,
  addresses,
  ADDRESSES,
  CALLER,
  days,
  folder,
  host,
  hosts,
  list,
  oneOf,
  path,
  port,
  schema,
  text,
  toggle,
  token,
  url,
  webUrl,
  whole,
  type Setting,
} from './setting_kinds.js'
import { FILES, WEBHOOK_POOLS_MAX } from '../base/subjects.js'

/** The limits of each corridor. */
const CORRIDOR_LIMITS = {
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
}
export const CORRIDOR_SETTINGS = Object.keys(CORRIDOR_LIMITS) as (keyof typeof CORRIDOR_LIMITS)[]

export const SETTINGS = {
  HTTP_HOST: host('address the gateway listens on'),
  HTTP_PORT: port('port of the partner API', 8080),
  GRPC_HOST: host(
    'address the processor listens on for gRPC; beyond loopback only with GRPC_TLS_…',
  ),
  GRPC_PORT: port('port of the processor for internal services', 50_051),
  GRPC_SOCKET: path('Unix socket on which the processor also listens for gRPC; make run sets it'),
  PROCESSOR_ADDRESS: address(
    'where gateways, pools and distant operators reach the processor; make run sets it',
    '127.0.0.1:50051',
  ),
  PROCESSORS: addresses(
    'all processors, where there are several; one DNS name stands for all its addresses',
  ),
  RAIL_LISTEN: address('address the sandbox rail listens on; make run sets it', '127.0.0.1:50052'),
  RAIL_ADDRESS: address(
    'where the processor reaches the rail; make run sets it',
    '127.0.0.1:50052',
  ),
  RAILS_FILE: path('JSON file with the rails of this service; by default the sandbox rail alone'),
  RAIL_ADAPTER: oneOf(
    ['sandbox', 'iso20022'],
    'sandbox',
    'adapter of the included rail; iso20022 also starts a switch for trials, without ISO20022_FILE',
  ),
  ISO20022_FILE: path(
    'JSON file of a member of an ISO 20022 network: addresses, certificates, keys, ids',
  ),
  GRPC_TLS_CERT_FILE: path('certificate chain of this process for gRPC (PEM)'),
  GRPC_TLS_KEY_FILE: path('private key of this process for gRPC (PEM)'),
  GRPC_TLS_CA_FILE: path('CA whose certificates gRPC servers and clients accept (PEM)'),
  OPS_HOST: host('address of health and metrics; they need no credential'),
  OPS_PORT: port('port of health and metrics', 9_090),
  OPS_HOSTS: hosts('host names that OPS_PORT accepts besides loopback names and addresses'),
  CONSOLE: oneOf(['on', 'off'], 'on', 'off starts no console'),
  CONSOLE_HOST: host('address the console of operators listens on; beyond loopback only with TLS'),
  CONSOLE_PORT: port(
    'port of the console of operators; where the default is taken, make run takes a free one',
    8_090,
  ),
  CONSOLE_HOSTS: hosts('host names that the console accepts besides loopback names'),
  CONSOLE_METRICS: addresses(
    'ops ports that the console draws, a DNS name for all its addresses; make run sets it',
  ),
  CONSOLE_TLS_CERT_FILE: path('certificate chain of the console (PEM); by default plain HTTP'),
  CONSOLE_TLS_KEY_FILE: path('private key of that certificate (PEM)'),
  CONSOLE_CLIENT_CA_FILE: path(
    'CA of the certificates with which operators sign in, for console and processor (PEM)',
  ),
  NATS_PORT: port('port of the nats-server that the stack starts', 4_222),
  NATS_URL: url(
    ['nats', 'tls'],
    'USER:PASSWORD@HOST:PORT',
    'URL of existing nats-servers, all hosts of a NATS cluster; by default the stack starts one',
  ),
  NATS_TLS_CA_FILE: path(
    'CA of the nats-server at a tls:// address (PEM); by default those of the system',
  ),
  NATS_TLS_CERT_FILE: path('client certificate for the nats-server (PEM)'),
  NATS_TLS_KEY_FILE: path('private key of that certificate (PEM)'),
  STORE: oneOf(
    ['sqlite', 'postgres'],
    'sqlite',
    'postgres starts a PostgreSQL server of its own in DATA_DIR, unless STORE_URL is set',
  ),
  STORE_URL: url(
    ['postgres', 'postgresql'],
    'USER:PASSWORD@HOST:PORT/DATABASE',
    'URL of the PostgreSQL server of the books, with all its hosts; by default SQLite in DATA_DIR',
  ),
  STORE_SYNC: oneOf(
    ['auto', 'required', 'reported'],
    'auto',
    'required serves only while commits wait for a standby; auto requires it beyond loopback',
  ),
  WEBHOOK_STORE_URL: url(
    ['postgres', 'postgresql'],
    'USER:PASSWORD@HOST:PORT/DATABASE',
    'URL of the webhook pools in PostgreSQL, for a role of their own; by default that of STORE_URL',
  ),
  SHARD: schema('schema of the books in PostgreSQL', 'books_1', 40),
  CLUSTER: oneOf(
    ['off', 'member', 'spare'],
    'off',
    'several processors share STORE_URL: a member takes SHARD first, then any; a spare any',
  ),
  PROCESSOR_NAME: text(
    '',
    /^$|^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/,
    'up to 40 letters, digits, dots, hyphens and underscores',
    "name of this processor in its cluster; by default the machine's host name",
  ),
  GRPC_ADVERTISE: text(
    '',
    /^$|^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/,
    'host:port',
    'where the other machines of a cluster reach this processor; by default GRPC_HOST and its port',
  ),
  WEBHOOK_POOL_SCHEMA: schema(
    'first part of the schema names of the webhook pools in PostgreSQL: pool_1, pool_2, …',
    'pool',
    38,
  ),
  DATA_DIR: folder('directory of all state', 'var'),
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
  SANDBOX_HOSTS: hosts('host names of the sandbox, canonical and legacy', 'api.localhost'),
  PRODUCTION_HOSTS: hosts('host names of production, canonical and legacy'),
  TLS_CERT_FILE: path('certificate chain of the gateway (PEM)'),
  TLS_KEY_FILE: path('private key of the gateway (PEM)'),
  MASTER_KEY_FILE: path('key file for secrets at rest; by default DATA_DIR/master.key'),
  CALLERS: list(
    '',
    CALLER,
    'KIND:NAME:sha256:DIGEST or KIND:NAME:certificate:NAME',
    'callers of gRPC besides the stored ones; make run adds those of its own processes',
  ),
  PROCESSOR_TOKEN: token(
    'token of a gateway, a webhook pool or the console for the processor; make run sets it',
  ),
  RAIL_TOKEN: token('token with which the processor calls the rail; make run sets it'),
  OPERATOR_TOKEN_FILE: path("file with the operator's token; by default DATA_DIR/operator.token"),
  SECOND_OPERATOR_FROM: list(
    '',
    /^[A-Z]{3}:(?:0|[1-9][0-9]{0,17})$/,
    'CURRENCY:AMOUNT, in minor units',
    'amounts from which a second operator must approve; by default none is needed',
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
  SCREENING_ADDRESS: text(
    '',
    new RegExp(`^$|${ADDRESS.source}`),
    'host:port or unix:/path',
    'screening service that is asked about payouts and confirms; by default none',
  ),
  SCREENING_TOKEN: token('token for the screening service; make run sets it'),
  SCREENING_TOKEN_FILE: path(
    'file with the token for the screening service; by default SCREENING_TOKEN',
  ),
  SCREENING_TLS_CERT_FILE: path(
    'certificate chain for the screening service (PEM); by default GRPC_TLS_…',
  ),
  SCREENING_TLS_KEY_FILE: path('private key of that certificate (PEM)'),
  SCREENING_TLS_CA_FILE: path('CA of the certificate of the screening service (PEM)'),
  SCREENING_TIMEOUT_MS: whole(
    300,
    10,
    4_000,
    'time to wait for the screening service; then a payout is held, a confirm refused',
  ),
  SCREENING: oneOf(
    ['none', 'sandbox'],
    'none',
    'sandbox: make run starts a screening service that decides by the reference',
  ),
  SCREENING_LISTEN: address(
    'address the sandbox screening service listens on; make run sets it',
    '127.0.0.1:50053',
  ),
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
    'age from which a rate is stale and not used, seconds; 0 means never',
  ),
  ...CORRIDOR_LIMITS,
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
  WEBHOOK_KEEP_DELIVERED_DAYS: whole(
    8,
    8,
    3_650,
    'how long a pool keeps delivered webhooks and their attempts',
  ),
  WEBHOOK_KEEP_DEAD_DAYS: whole(30, 30, 3_650, 'the same of dead ones, which can be redriven'),
  EVENTS_KEEP_DAYS: days(
    31,
    'how long events of ended payments stay in the feed, at least; longer than webhooks',
  ),
  IDEMPOTENCY_KEYS_KEEP_DAYS: days(
    31,
    'how long idempotency keys of all but payouts are kept: a later repetition is a new request',
  ),
  PAYOUT_KEYS_KEEP_DAYS: days(
    365,
    "how long payouts' idempotency keys are kept: a later repetition pays a second time",
  ),
  REQUESTS_KEEP_DAYS: days(31, 'how long `find` knows what a request changed besides payments'),
  USERS_KEEP_DAYS: days(
    31,
    'how long a payer is named after the latest payment: then as by `partner erase-user`',
  ),
  BENEFICIARIES_KEEP_DAYS: days(
    181,
    'how long name and account number of a beneficiary are kept after the latest payout to it',
  ),
  WEBHOOK_BACKOFF_SCALE_PCT: whole(100, 0, 100, 'scales the retry schedule for tests, percent'),
  DISK_RESERVE_MB: whole(
    256,
    0,
    1_048_576,
    'free disk space of DATA_DIR, in MiB, below which writes are rejected; 0 means never',
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
    'served requests that a gateway logs one by one, per second; further ones are counted',
  ),
  LOG_REFUSALS_PER_SECOND: whole(
    5,
    0,
    100_000,
    'refusals of one caller that a process logs one by one, per second; further ones are counted',
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
    'log lines per second for new payments and payouts; further ones are counted in one line',
  ),
  LOG_TRANSITIONS_PER_SECOND: whole(
    1_000,
    0,
    100_000,
    'log lines per second for all other transitions, and for dead deliveries',
  ),
  OTLP_URL: webUrl(
    /^[^\s@?#/][^\s@?#]*$/,
    'http://HOST:PORT or https://HOST, with a path if it has one',
    'collector that gets spans by OTLP/HTTP, at /v1/traces of this URL; by default no traces',
  ),
  OTLP_HEADERS_FILE: path(
    'file with headers for the collector, one `Name: value` a line, such as a token',
  ),
  TRACE_SAMPLE: text(
    '0.1',
    /^(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)$/,
    'a number from 0 to 1',
    'share of new payments that are traced, and bound of the traces that callers ask for',
  ),
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS

/** Old names that this version still reads, with the current setting. */
export const RENAMED: Readonly<Record<string, SettingName>> = {
  HANDOVER_TTL_S: 'RAIL_SUBMIT_TTL_S',
}

type ValueOf<S> = S extends Setting<infer T> ? T : never
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }

/** Whether both host lists have their defaults. */
export const hasDefaultHosts = (
  settings: Pick<Settings, 'SANDBOX_HOSTS' | 'PRODUCTION_HOSTS'>,
): boolean =>
  settings.SANDBOX_HOSTS.join() === SETTINGS.SANDBOX_HOSTS.fallback &&
  settings.PRODUCTION_HOSTS.join() === SETTINGS.PRODUCTION_HOSTS.fallback

/** @throws SecretFileError when others own DATA_DIR, or can read or write it */
export const requirePrivateDataDir = ({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>): void =>
  requirePrivateFolder(resolve(DATA_DIR), `DATA_DIR=${DATA_DIR}`)

/** The absolute path of a file in DATA_DIR. */
export const dataFile = (settings: Settings, name: string): string =>
  join(resolve(settings.DATA_DIR), name)

/**
 * The PostgreSQL server of the books: of the settings, or the bundled one of the stack in `folder`.
 */
export function storeUrl({ STORE_URL }: Pick<Settings, 'STORE_URL'>, folder: string): string {
  const file = join(resolve(folder), FILES.storeUrl)
  if (STORE_URL !== '' || !existsSync(file)) return STORE_URL
  return readSecretFile(file)
}
