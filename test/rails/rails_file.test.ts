/** RAILS_FILE: what it says, and the sentence of each fault. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readSettings } from '../../src/settings/settings_reader.js'
import { createRailTable } from '../../src/rails/rail_table.js'
import { readRails, type ConfiguredRails } from '../../src/rails/rails_file.js'
import { tempFolder } from '../support/temp_folder.js'

const TOKEN = 'token-of-the-processor-at-a-bank'
const BANK = {
  name: 'bank_a',
  environments: ['sandbox', 'production'],
  payouts: ['TH/THB'],
  corridors: ['th_promptpay'],
  address: 'localhost:50100',
  token_file: 'bank_a.token',
}
const INCLUDED = { name: 'play', environments: ['sandbox'], payouts: 'any', sandbox: true }

function readFrom(t: Test, text: string, given: Record<string, string> = {}): ConfiguredRails {
  const folder = tempFolder(t)
  const file = join(folder, 'rails.json')
  writeFileSync(join(folder, 'bank_a.token'), `${TOKEN}\n`, { mode: 0o600 })
  writeFileSync(join(folder, 'short.token'), 'guess me', { mode: 0o600 })
  writeFileSync(file, text)
  return readRails(readSettings({ RAILS_FILE: file, ...given }, ''))
}

t.test('without a file there is the sandbox rail', async (t) => {
  const settings = { RAIL_ADDRESS: 'unix:/rail.sock', RAIL_TOKEN: TOKEN }
  const rails = readRails(readSettings(settings, ''))
  t.match(rails, [{ name: 'sandbox', address: 'unix:/rail.sock', token: TOKEN, isSandbox: true }])
  const table = createRailTable(rails)
  t.equal(table.defaultOf('sandbox/ID/IDR'), 'sandbox')
  t.equal(table.defaultOf('production/TH/THB'), null, 'it moves no real money')
  const allowed = readRails(readSettings({ ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes' }, ''))
  t.equal(createRailTable(allowed).defaultOf('production/th_promptpay'), 'sandbox')
})

t.test('rails with what they carry and how they are reached', async (t) => {
  const tls = { cert_file: 'a.pem', key_file: '/etc/a.key', ca_file: 'ca.pem' }
  const second = { ...BANK, name: 'bank_b', address: 'bank.internal:50100', tls }
  const rails = readFrom(t, JSON.stringify({ rails: [BANK, second, INCLUDED] }), {
    RAIL_ADDRESS: 'unix:/rail.sock',
  })
  t.match(rails, [
    { name: 'bank_a', token: TOKEN, tls: null, isSandbox: false, isIncluded: false },
    { name: 'bank_b', tls: { GRPC_TLS_KEY_FILE: '/etc/a.key', GRPC_TLS_CA_FILE: /\/ca\.pem$/ } },
    { name: 'play', address: 'unix:/rail.sock', isSandbox: true, isIncluded: true },
  ])
  const { defaultOf, carries } = createRailTable(rails)
  t.equal(defaultOf('production/TH/THB'), 'bank_a', 'the first one that carries it')
  t.equal(defaultOf('sandbox/VN/VND'), 'play')
  t.equal(defaultOf('production/VN/VND'), null)
  t.equal(defaultOf('sandbox/vn_vietqr'), null)
  t.ok(carries('bank_b', 'sandbox/th_promptpay'))
  t.notOk(carries('play', 'sandbox/th_promptpay'))
  t.notOk(carries('nobody', 'sandbox/TH/THB'))
})

const without = (member: keyof typeof BANK): object =>
  Object.fromEntries(Object.entries(BANK).filter(([name]) => name !== member))

const FAULTS: readonly (readonly [rails: readonly unknown[], sentence: RegExp])[] = [
  [[], /"rails" must name at least one rail/],
  [[BANK, 7], /rail 2: it must be an object/],
  [[{ ...BANK, adress: 'a:1' }], /rail 1 \(bank_a\): it may have only name, .* not adress/],
  [[{ ...BANK, name: 'Bank A' }], /rail 1 \(Bank A\): name must be 1 to 32 of/],
  [[without('environments')], /environments must be a list of "sandbox" and "production"/],
  [[{ ...BANK, environments: ['moon'] }], /environments must be a list/],
  [[{ ...BANK, payouts: ['TH-THB'] }], /payouts must be "any" or a list of country\/currency/],
  [[{ ...BANK, payouts: ['XX/THB'] }], /payouts must be "any"/],
  [[{ ...BANK, corridors: ['th_card'] }], /corridors must be "any" or a list of corridors/],
  [[{ ...BANK, payouts: [], corridors: [] }], /it must carry payouts or corridors/],
  [[{ ...BANK, sandbox: 'yes' }], /sandbox must be true or false/],
  [[{ ...BANK, sandbox: true }], /a sandbox rail moves no real money: take "production" out/],
  [[{ ...BANK, address: 'somewhere' }], /address must be host:port or unix:\/path/],
  [[{ ...BANK, address: '10.0.0.5:1' }], /address is beyond this machine, which needs tls/],
  [[{ ...BANK, tls: { ca_file: 'a' } }], /tls must have the paths cert_file, key_file, ca_file/],
  [[without('token_file')], /token_file must be the path of the file with the token/],
  [[{ ...BANK, token_file: 'short.token' }], /token_file: .* has a token of 8 characters/],
  [[{ ...BANK, token_file: 'none.token' }], /token_file: .*none\.token/],
  [[without('address')], /without an address it is the included sandbox rail/],
  [[{ ...INCLUDED, tls: {} }], /token_file and tls are only allowed together with an address/],
  [[BANK, { ...BANK, address: 'localhost:1' }], /two rails have the name bank_a/],
  [[BANK, { ...BANK, name: 'bank_b' }], /two rails have the address localhost:50100/],
]

t.test('each fault is a sentence with the line, the rail and the rule', async (t) => {
  for (const [rails, sentence] of FAULTS) {
    const read = (): unknown => readFrom(t, JSON.stringify({ rails }))
    t.throws(read, { name: 'SettingsError', message: sentence }, JSON.stringify(rails))
  }
  const two = {
    rails: [
      { ...BANK, name: '' },
      { ...BANK, payouts: 1 },
    ],
  }
  t.throws(
    () => readFrom(t, JSON.stringify(two)),
    { message: /rail 1 .*\n.*rail 2 / },
    'all of them',
  )
  const lines = (text: string): string[] => {
    try {
      readFrom(t, text)
    } catch (error) {
      return [...(error as Error).message.matchAll(/, (line \d+, rail \d+)/g)].map(
        ([, line]) => line!,
      )
    }
    return []
  }
  t.same(lines(JSON.stringify({ rails: [7, { name: '[{,\n"' }] }, null, 2)).slice(0, 2), [
    ...['line 3, rail 1', 'line 4, rail 2'],
  ])
  t.same(lines('{"rails":\n[\n\n null , [\n7], {"tls": {\n}}, "x\\",[",\n0]}'), [
    ...['line 4, rail 1', 'line 4, rail 2'],
    ...Array<string>(4).fill('line 5, rail 3'),
    ...['line 6, rail 4', 'line 7, rail 5'],
  ])
})

t.test('a file of another form', async (t) => {
  t.throws(() => readFrom(t, '{\n"rails": [\n}'), {
    message: /rails\.json, line 3: it is not JSON/,
  })
  t.throws(() => readFrom(t, ''), { message: /line 1: it is not JSON/ })
  t.throws(() => readFrom(t, '[]'), { message: /must be \{"rails": \[…\]\}/ })
  const missing = (): unknown => readRails(readSettings({ RAILS_FILE: '/no/rails.json' }, ''))
  t.throws(missing, { message: /^RAILS_FILE \/no\/rails\.json cannot be read: ENOENT/ })
})
