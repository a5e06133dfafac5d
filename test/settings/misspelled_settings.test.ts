/** Variables that are close to a setting are named; those of shells and platforms are not. */
import t from 'tap'
import { misspelledSettings } from '../../src/settings/misspelled_settings.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { startProgram } from '../support/program.js'

const NO_FILE = ''
const named = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, 'a value']))

t.test('a name that differs little from a setting', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['STORE_SYNK', 'STORE_SYNC'],
    ['DATADIR', 'DATA_DIR'],
    ['HTTP_PROT', 'HTTP_PORT'],
    ['STROE', 'STORE'],
    ['data_dir', 'DATA_DIR'],
    ['STORE-URL', 'STORE_URL'],
    ['PRODUCTION_HOST', 'PRODUCTION_HOSTS'],
    ['WEBHOOK_ALOW_PRIVAT', 'WEBHOOK_ALLOW_PRIVATE'],
    ['GRPC_TLS_CERTFILE', 'GRPC_TLS_CERT_FILE'],
  ]
  for (const [given, meant] of cases)
    t.same(misspelledSettings(named(given)), [{ given, meant }], given)
  for (const given of Object.keys(SETTINGS).map((name) => name.slice(0, -1))) {
    if (!Object.hasOwn(SETTINGS, given)) t.match(misspelledSettings(named(given)), [{ given }])
  }
})

t.test('settings, their old names, and variables of others', async (t) => {
  const none = (environment: Readonly<Record<string, string>>, what: string): void =>
    void t.same(misspelledSettings(environment), [], what)
  none(named(...Object.keys(SETTINGS), 'HANDOVER_TTL_S', 'DOT_ENV'), 'settings')
  none(
    named(
      ...['PATH', 'HOME', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'SHELL', 'USER', 'LOGNAME'],
      ...['PWD', 'OLDPWD', 'TERM', 'COLORTERM', 'SHLVL', 'MAIL', 'EDITOR', 'VISUAL', 'PAGER', '_'],
      ...['LS_COLORS', 'LESSOPEN', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'HOSTNAME', 'TZ'],
      ...['XDG_DATA_DIRS', 'XDG_CONFIG_DIRS', 'XDG_RUNTIME_DIR', 'XDG_SESSION_ID', 'TMPDIR'],
      ...['SSH_CLIENT', 'SSH_CONNECTION', 'SSH_TTY', 'SSH_AUTH_SOCK', 'GPG_TTY', 'SUDO_USER'],
      ...['DBUS_SESSION_BUS_ADDRESS', 'DEBIAN_FRONTEND', 'DEBIAN_CHROOT', 'VTE_VERSION'],
    ),
    'a shell',
  )
  none(
    named(
      ...['http_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'SSL_CERT_FILE'],
      ...['SSL_CERT_DIR', 'NODE_OPTIONS', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'NODE_VERSION'],
      ...['YARN_VERSION', 'NPM_CONFIG_LOGLEVEL', 'MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'CI'],
      ...['PGHOST', 'PGPORT', 'PGDATA', 'PGDATABASE', 'PGPASSWORD', 'GRPC_TRACE', 'GRPC_VERBOSITY'],
      ...['OTEL_SERVICE_NAME', 'RAILS_ENV', 'PORT', 'HOST', 'DATABASE_URL', 'AWS_REGION'],
    ),
    'common programs',
  )
  none(
    named(
      ...['INVOCATION_ID', 'JOURNAL_STREAM', 'SYSTEMD_EXEC_PID', 'NOTIFY_SOCKET', 'WATCHDOG_PID'],
      ...['WATCHDOG_USEC', 'LISTEN_FDS', 'LISTEN_PID', 'MAINPID', 'CREDENTIALS_DIRECTORY'],
      ...['STATE_DIRECTORY', 'RUNTIME_DIRECTORY', 'LOGS_DIRECTORY', 'MEMORY_PRESSURE_WATCH'],
    ),
    'systemd',
  )
  const service = (name: string): Readonly<Record<string, string>> => ({
    [`${name}_SERVICE_HOST`]: '10.0.0.7',
    [`${name}_SERVICE_PORT`]: '80',
    [`${name}_SERVICE_PORT_HTTP`]: '80',
    [`${name}_PORT`]: 'tcp://10.0.0.7:80',
    [`${name}_PORT_80_TCP`]: 'tcp://10.0.0.7:80',
    [`${name}_PORT_80_TCP_PROTO`]: 'tcp',
    [`${name}_PORT_80_TCP_PORT`]: '80',
    [`${name}_PORT_80_TCP_ADDR`]: '10.0.0.7',
  })
  for (const name of ['KUBERNETES', 'HTTPS', 'OP', 'GATEWAY', 'CONSOLES', 'X'])
    none(service(name), `the service ${name} in Kubernetes`)
})

t.test('they are warned of in one line, and the settings are read', async (t) => {
  const lines: string[] = []
  const environment = { DATADIR: '/srv', STORE_SYNK: 'required', HTTP_PORT: '8180', HOME: '/root' }
  const { HTTP_PORT, DATA_DIR } = readSettings(environment, NO_FILE, (line) => lines.push(line))
  t.same({ HTTP_PORT, DATA_DIR }, { HTTP_PORT: 8_180, DATA_DIR: 'var' })
  t.same(lines, [
    'Ignored, as not a setting: DATADIR (did you mean DATA_DIR?), ' +
      'STORE_SYNK (did you mean STORE_SYNC?)',
  ])
})

t.test('a program that reads its settings twice says it once', async (t) => {
  const { err } = await startProgram('operations/main.js', ['config', 'show'], {
    ...{ DOT_ENV: '', STORE: 'sqlite', STORE_URL: '', STORE_SYNK: 'required' },
  }).ended
  t.equal(err, 'Ignored, as not a setting: STORE_SYNK (did you mean STORE_SYNC?)\n')
})
