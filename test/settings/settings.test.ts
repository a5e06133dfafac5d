/** Settings: defaults, allowed values, `.env`, faults. */
import { join } from 'node:path'
import t from 'tap'
import { SETTINGS, type SettingName, type Settings } from '../../src/settings/settings.js'
import {
  readSettings,
  settingSource,
  SettingsError,
  withoutSecrets,
} from '../../src/settings/settings_reader.js'

const NO_FILE = ''
const faultsOf = (environment: Record<string, string>, file = NO_FILE): string => {
  try {
    readSettings(environment, file)
    return ''
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
}

/** Partners, scripts and running stacks rely on these without setting them. */
const DEFAULTS: Partial<Settings> = {
  ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: 8_080, GRPC_HOST: '127.0.0.1', GRPC_PORT: 50_051 },
  ...{ OPS_HOST: '127.0.0.1', OPS_PORT: 9_090, NATS_PORT: 4_222, DATA_DIR: 'var', GATEWAYS: 1 },
  ...{ CONSOLE: 'on', CONSOLE_HOST: '127.0.0.1', CONSOLE_PORT: 8_090, BRAND: 'Service' },
  ...{ SANDBOX_HOSTS: ['api.localhost'], PRODUCTION_HOSTS: [] },
  ...{ STORE: 'sqlite', SHARD: 'books_1', CLUSTER: 'off', RECOVERY: 'no' },
  ...{ RATE_LIMIT: 'on', RATE_LIMIT_PER_SECOND: 1_000, RAIL_DELAY_MS: 250 },
  ...{ SESSION_TTL_S: 300, QUOTE_TTL_S: 300, INTENT_TTL_S: 1_800, RAIL_SUBMIT_TTL_S: 60 },
  ...{ REVIEW_TTL_S: 72 * 3_600, DUPLICATE_SCAN_WINDOW_S: 60, SPREAD_BPS: 0, RATE_MAX_AGE_S: 0 },
  ...{ TH_LIMIT_TRANSACTION_THB: 50_000, TH_LIMIT_DAY_THB: 200_000 },
  ...{ TH_LIMIT_MONTH_THB: 1_000_000, TH_MINIMUM_SATANG: 100, VN_MINIMUM_VND: 1_000 },
  ...{ SECOND_OPERATOR_FROM: [], ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'no' },
  ...{ WEBHOOK_ALLOW_PRIVATE: false, WEBHOOK_MAX_ATTEMPTS: 12, WEBHOOK_BACKOFF_SCALE_PCT: 100 },
  ...{ EVENTS_KEEP_DAYS: 0, IDEMPOTENCY_KEYS_KEEP_DAYS: 0, PAYOUT_KEYS_KEEP_DAYS: 0 },
  ...{ REQUESTS_KEEP_DAYS: 0, USERS_KEEP_DAYS: 0, BENEFICIARIES_KEEP_DAYS: 0 },
}

t.test('every setting has its default without an environment', async (t) => {
  const settings = readSettings({}, NO_FILE)
  for (const [name, value] of Object.entries(DEFAULTS))
    t.strictSame(settings[name as SettingName], value, name)
  t.ok(Object.isFrozen(settings))
})

t.test('an invalid value is reported with its name and the allowed values', async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ HTTP_PORT: '70000' }, /HTTP_PORT=70000 is not allowed: a whole number from 0 to 65535/],
    [{ HTTP_PORT: '8e3' }, /HTTP_PORT=8e3/],
    [{ HTTP_PORT: ' 80' }, /HTTP_PORT/],
    [{ HTTP_PORT: '' }, /HTTP_PORT/],
    [{ RATE_LIMIT: 'yes' }, /RATE_LIMIT=yes is not allowed: on or off/],
    [{ SESSION_TTL_S: '59' }, /SESSION_TTL_S=59 is not allowed: a whole number from 60 to 900/],
    [{ WEBHOOK_ALLOW_PRIVATE: '1' }, /true or false/],
    [{ SANDBOX_HOSTS: 'a.example,b_c' }, /SANDBOX_HOSTS/],
    [{ BRAND: 'service' }, /BRAND/],
    [{ DATA_DIR: '' }, /^DATA_DIR= is not allowed: the path of a directory/],
    [{ DATA_DIR: '"var"' }, /^DATA_DIR="var" is not allowed: .* without quotes or blanks around/],
    [{ DATA_DIR: 'var\r' }, /^DATA_DIR=/],
    [{ MASTER_KEY_FILE: '/etc/master.key ' }, /^MASTER_KEY_FILE=.*: a path without quotes/],
    [{ DATA_DIR: '~/causeway' }, /^DATA_DIR=~\/causeway is not allowed: .*~ is not expanded/],
    [{ TRUSTED_PROXIES: '10.0.0.0/33' }, /TRUSTED_PROXIES=10\.0\.0\.0\/33 is not allowed: comma/],
    [{ TRUSTED_PROXIES: '10.0.0.1,proxy' }, /TRUSTED_PROXIES/],
    [{ TRUSTED_PROXIES: '10.0.0.0/8/8' }, /TRUSTED_PROXIES/],
    [{ TRUSTED_PROXIES: '::1/129' }, /TRUSTED_PROXIES/],
    [{ TRUSTED_PROXIES: '10.0/16' }, /TRUSTED_PROXIES/],
  ]
  for (const [environment, expected] of cases) t.match(faultsOf(environment), expected)
})

t.test('trusted proxies are addresses and blocks of IPv4 and IPv6', async (t) => {
  const given = '10.0.0.1, 192.168.0.0/16,::1,fd00::/8,0.0.0.0/0'
  const { TRUSTED_PROXIES } = readSettings({ TRUSTED_PROXIES: given }, NO_FILE)
  t.same(TRUSTED_PROXIES, ['10.0.0.1', '192.168.0.0/16', '::1', 'fd00::/8', '0.0.0.0/0'])
})

t.test('all faults are reported at once', async (t) => {
  const faults = faultsOf({ HTTP_PORT: 'x', GATEWAYS: '0' })
  t.match(faults, /HTTP_PORT/)
  t.match(faults, /GATEWAYS/)
})

t.test('an address that can contain a password is masked', async (t) => {
  const faults = faultsOf({ NATS_URL: 'http://user:secret@host:4222' })
  t.match(faults, /^NATS_URL=… is not allowed/)
  t.notMatch(faults, /secret/)
})

t.test('a URL whose password could be taken for its host is refused, unprinted', async (t) => {
  const forms: Record<string, (credentials: string) => string> = {
    STORE_URL: (credentials) => `postgres://${credentials}@db.example,db2:5433/books?x=y`,
    WEBHOOK_STORE_URL: (credentials) => `postgres://${credentials}@db.example/books`,
    NATS_URL: (credentials) => `nats://${credentials}@bus.example:4222,bus2`,
  }
  for (const [name, url] of Object.entries(forms)) {
    for (const password of ['hid@den', 'hid/den', 'hid:den', 'hid?den', 'hid#den', 'hid%den@']) {
      const faults = faultsOf({ [name]: url(`user:${password}`) })
      t.match(faults, `${name}=… is not allowed: `, password)
      t.match(faults, 'percent-encoded (@ is %40, / is %2F)')
      t.notMatch(faults, /hid|den/)
      t.equal(faults.split('\n').length, 1)
    }
    for (const user of [
      '',
      'user',
      'user:',
      'user:hidden',
      'user:%40%2f%3A%25',
      'us~er:!$&()*+,;=',
    ]) {
      t.equal(faultsOf({ [name]: url(user) }), '', user)
      t.notMatch(withoutSecrets(name as SettingName, url(user)), /user|hidden/)
    }
    const shown = withoutSecrets(name as SettingName, url('us@er:hid/d@en'))
    t.equal(shown, url('…'), 'masked up to the last @ all the same')
  }
  t.match(faultsOf({ STORE_URL: 'postgres://user:hid%zzden@host/books' }), 'STORE_URL=… is not')
  t.equal(faultsOf({ STORE_URL: 'postgresql://host/books', NATS_URL: 'tls://host' }), '')
})

t.test('every setting that is a URL or a token is masked', async (t) => {
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const isSecret = /_URL$|_TOKEN$/.test(name)
    t.equal(SETTINGS[name].secret !== undefined, isSecret, name)
    const value = 'nats://user:hidden@host'
    t.equal(withoutSecrets(name, value).includes('hidden'), !isSecret, name)
  }
})

t.test('contradicting values are rejected', async (t) => {
  t.match(
    faultsOf({ WEBHOOK_ALLOW_PRIVATE: 'true', PRODUCTION_HOSTS: 'api.example.com' }),
    /WEBHOOK_ALLOW_PRIVATE=true is not allowed together with PRODUCTION_HOSTS/,
  )
  t.match(faultsOf({ TLS_CERT_FILE: 'cert.pem' }), /only allowed together/)
  t.match(
    faultsOf({ SANDBOX_HOSTS: 'a.example', PRODUCTION_HOSTS: 'a.example' }),
    /a\.example is in SANDBOX_HOSTS and in PRODUCTION_HOSTS/,
  )
})

t.test('the environment overrides .env, which rejects unknown names', async (t) => {
  const folder = t.testdir({ good: 'HTTP_PORT=1234\nGRPC_PORT=5\n', bad: 'HTTP_PROT=1234\n' })
  const settings = readSettings({ GRPC_PORT: '6' }, join(folder, 'good'))
  t.equal(settings.HTTP_PORT, 1234)
  t.equal(settings.GRPC_PORT, 6)
  process.env['DOT_ENV'] = join(folder, 'good')
  t.equal(settingSource('HTTP_PORT', {}), '.env', 'the file that DOT_ENV names')
  delete process.env['DOT_ENV']
  const fault = /HTTP_PROT in .* is not a setting \(did you mean HTTP_PORT\?\)/
  t.match(faultsOf({}, join(folder, 'bad')), fault)
  t.equal(faultsOf({ HTTP_PROT: '1' }), '', 'unknown names in the environment are no fault')
})

t.test('a file that DOT_ENV names is needed, .env is not', async (t) => {
  const folder = t.testdir({ folder: {} })
  const missing = join(folder, 'missing')
  t.equal(
    faultsOf({}, missing),
    `The settings in ${missing} cannot be read: there is no ${missing}`,
    'a start without it would have the defaults',
  )
  t.match(faultsOf({}, join(folder, 'folder')), /^The settings in .*folder cannot be read: EISDIR/)
  const before = process.cwd()
  process.chdir(folder)
  t.equal(faultsOf({}, '.env'), '')
  process.chdir(before)
})

t.test('a name in two lines of .env is named, and the last line counts', async (t) => {
  const text = 'HTTP_PORT=1\nGRPC_PORT=7\nHTTP_PORT=2\nHTTP_PORT=3\n'
  const file = join(t.testdir({ text }), 'text')
  const warned: string[] = []
  const { HTTP_PORT } = readSettings({}, file, (line) => warned.push(line))
  t.equal(HTTP_PORT, 3)
  t.strictSame(warned, [`HTTP_PORT is more than once in ${file}: the last line counts.`])
})

t.test('an invalid line of .env is rejected with its number', async (t) => {
  const good = '# a = comment\n\n  # another\nexport HTTP_PORT=1234\r\n\t\nGRPC_PORT = "5" # why\n'
  const bad = 'HTTP_PORT 80\nGRPC_PORT=5\n\n=7\nBRAND: Acme'
  const folder = t.testdir({ good, bad })
  const settings = readSettings({}, join(folder, 'good'))
  t.equal(settings.HTTP_PORT, 1234)
  t.equal(settings.GRPC_PORT, 5)
  const file = join(folder, 'bad')
  t.equal(
    faultsOf({}, file),
    [
      `Line 1 of ${file} is not NAME=value`,
      `Line 4 of ${file} is not NAME=value`,
      `Line 5 of ${file} is not NAME=value`,
    ].join('\n'),
  )
})

t.test('every default is allowed, every setting is described', async (t) => {
  for (const [name, setting] of Object.entries(SETTINGS)) {
    t.not(setting.read(setting.fallback), undefined, name)
    t.ok(setting.about.length > 10, name)
  }
})
