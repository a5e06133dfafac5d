/** `doctor`: each area alone, with a machine that is right and with what can be wrong in it. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeLastBackup } from '../../src/files/backup_marks.js'
import { DAY, instant, plus, systemClock, type Instant } from '../../src/base/clock.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { FILES } from '../../src/base/subjects.js'
import { MANIFEST, manifestText } from '../../src/backup/manifest.js'
import type { Area } from '../../src/operations/doctor/area.js'
import { certificates } from '../../src/operations/doctor/certificates.js'
import { AREAS } from '../../src/operations/doctor/doctor.js'
import { files } from '../../src/operations/doctor/files.js'
import { indexes } from '../../src/operations/doctor/indexes.js'
import { backups, clockFindings, disk } from '../../src/operations/doctor/machine.js'
import {
  openFilesFindings,
  runningStack,
  stateFindings,
  type StackState,
} from '../../src/operations/doctor/running_stack.js'
import { server, serverFindings, type ServerState } from '../../src/operations/doctor/server.js'
import { createAuthority, writeTlsFiles } from '../support/certificates.js'
import { operatorCli } from '../support/operator_cli.js'
import { connectedTo, noPostgres, startPostgres } from '../support/postgres_server.js'
import { startProgram } from '../support/program.js'
import { tempFolder } from '../support/temp_folder.js'

t.setTimeout(0)

const NOW = instant(1_795_000_000_000)
const AGAINST_SQLITE = { STORE: 'sqlite', STORE_URL: '' }

/** @returns its findings; that it was not checked, or not used, as text */
async function found(
  area: Area,
  settings: Readonly<Record<string, string>>,
  now: Instant = NOW,
): Promise<readonly string[] | string> {
  const seen = await area.look(readSettings({ ...AGAINST_SQLITE, ...settings }, ''), {
    now: () => now,
  })
  if (seen.kind !== 'checked') return seen.kind
  for (const { why, remedy } of seen.findings) t.ok(why.length > 10 && remedy.length > 10)
  return seen.findings.map(({ finding }) => finding)
}

function aDataDir(t: Test): string {
  const dataDir = join(tempFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  for (const name of [FILES.processorDatabase, FILES.masterKey]) {
    writeFileSync(join(dataDir, name), 'x', { mode: 0o600 })
  }
  return dataDir
}

t.test('files', async (t) => {
  const DATA_DIR = aDataDir(t)
  t.same(await found(files, { DATA_DIR }), [])
  t.same(await found(files, { DATA_DIR: join(DATA_DIR, 'none') }), [])
  const books = join(DATA_DIR, FILES.processorDatabase)
  chmodSync(books, 0o640)
  t.same(await found(files, { DATA_DIR }), [`${books} is accessible to others (mode 640)`])
  chmodSync(books, 0o600)
  const key = join(DATA_DIR, FILES.masterKey)
  rmSync(key)
  t.same(await found(files, { DATA_DIR }), [`${key} is missing`])
  const elsewhere = join(DATA_DIR, '..', 'key')
  t.match(await found(files, { DATA_DIR, MASTER_KEY_FILE: elsewhere }), [
    /^MASTER_KEY_FILE: ENOENT/,
  ])
  writeFileSync(elsewhere, 'x', { mode: 0o644 })
  chmodSync(elsewhere, 0o644)
  t.match(await found(files, { DATA_DIR, MASTER_KEY_FILE: elsewhere }), [/accessible to others/])
  chmodSync(elsewhere, 0o600)
  t.same(await found(files, { DATA_DIR, MASTER_KEY_FILE: elsewhere }), [])
  chmodSync(DATA_DIR, 0o755)
  t.match(await found(files, { DATA_DIR, MASTER_KEY_FILE: elsewhere }), [/DATA_DIR=.* is open to/])
})

t.test('a file that ends one check is a finding, and the others are made', async (t) => {
  const DATA_DIR = aDataDir(t)
  const sandbox = join(DATA_DIR, FILES.sandbox)
  const doctor = async () => {
    const { exitCode, out, err } = await operatorCli(DATA_DIR, '', AGAINST_SQLITE)('doctor --json')
    t.same({ exitCode, err }, { exitCode: 1, err: '' })
    const { findings = [], checked } = JSON.parse(out) as Record<string, readonly object[]>
    t.match(checked, ['settings', 'processors', 'stack', 'files', 'disk'])
    return findings
  }
  writeFileSync(sandbox, '{"grpc_addr', { mode: 0o600 })
  const torn = (await doctor()).filter((each) => /JSON/.test(JSON.stringify(each)))
  t.match(torn, [
    { area: 'processors', finding: /^a processor was not seen: / },
    { area: 'stack', why: 'the rest of this area is not checked' },
  ])
  chmodSync(sandbox, 0o644)
  const open = (await doctor()).filter((each) => JSON.stringify(each).includes('to others'))
  t.match(open, [{ area: 'processors' }, { area: 'stack' }, { area: 'files' }])
})

t.test('a variable that is probably a misspelled setting', async (t) => {
  const environment = { ...AGAINST_SQLITE, DATA_DIR: aDataDir(t), DATADIR: '/srv', DOT_ENV: '' }
  const { err, out } = await startProgram('operations/main.js', ['doctor', '--json'], environment)
    .ended
  t.equal(err, 'Ignored, as not a setting: DATADIR (did you mean DATA_DIR?)\n')
  const { findings = [] } = JSON.parse(out) as Record<string, readonly object[]>
  const finding = 'DATADIR is set, and is not a setting: DATA_DIR was probably meant'
  t.match(findings[0], { area: 'settings', finding })
})

t.test('private keys and headers', async (t) => {
  const folder = tempFolder(t)
  const [key, headers] = [join(folder, 'key.pem'), join(folder, 'headers')]
  for (const file of [key, headers]) writeFileSync(file, 'x', { mode: 0o640 })
  const settings = { DATA_DIR: join(folder, 'none'), TLS_KEY_FILE: key, TLS_CERT_FILE: key }
  chmodSync(key, 0o640)
  t.same(await found(files, settings), [], 'a group may read it')
  chmodSync(key, 0o644)
  t.same(await found(files, settings), [
    `TLS_KEY_FILE: ${key} is accessible to every user (mode 644)`,
  ])
  const given = { DATA_DIR: settings.DATA_DIR, OTLP_HEADERS_FILE: headers }
  t.match(await found(files, given), [/^OTLP_HEADERS_FILE: \S+ is accessible to others/])
})

t.test('the running stack', async (t) => {
  const right: StackState = {
    ...{ mode: 'normal', integrity: 'ok', processes: { gateway: true, processor: true } },
  }
  const findingsOf = (changed: Partial<StackState>): readonly string[] =>
    stateFindings({ ...right, ...changed }).map(({ finding }) => finding)
  t.same(findingsOf({}), [])
  t.same(
    findingsOf({
      ...{ processes: { gateway: false }, integrity: 'failed', mode: 'recovery' },
      reasons: { processor: 'recovery: an older copy' },
      degraded: { webhooks: 'the bus is away' },
    }),
    [
      ...['gateway is not ready', 'recovery: an older copy'],
      'webhooks is degraded: the bus is away',
      'the integrity check of a database has failed',
    ],
  )
  const DATA_DIR = aDataDir(t)
  t.equal(await found(runningStack, { DATA_DIR }), 'unused')
  const away = { ops_url: 'http://127.0.0.1:1' }
  writeFileSync(join(DATA_DIR, FILES.sandbox), JSON.stringify(away), { mode: 0o600 })
  t.equal(await found(runningStack, { DATA_DIR }), 'unknown')
  const { pid } = process
  writeFileSync(join(DATA_DIR, 'run.json'), JSON.stringify({ processes: { gateway: { pid } } }))
  const settings = readSettings({ ...AGAINST_SQLITE, DATA_DIR }, '')
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const [, limit] = /^Max open files +([0-9]+)/m.exec(limits) ?? []
  t.equal(openFilesFindings(settings).length, Number(limit) < 16_384 ? 1 : 0)
})

t.test('certificates', async (t) => {
  const folder = tempFolder(t)
  const ca = createAuthority()
  const now = systemClock.now()
  const issued = (days: number) =>
    ca.issue('processor', { notAfter: new Date(plus(now, days * DAY + 60_000)) })
  t.equal(await found(certificates, {}), 'unused')
  const settings = writeTlsFiles(folder, 'far', issued(100), ca)
  t.same(await found(certificates, settings, now), [])
  const soon = writeTlsFiles(folder, 'soon', issued(20), ca)
  t.match(await found(certificates, soon, now), [
    /^GRPC_TLS_CERT_FILE: the certificate of CN=processor ends in 20 days \(/,
  ])
  t.match(await found(certificates, settings, plus(now, 101 * DAY)), [/has ended \(/])
  const other = { ...settings, GRPC_TLS_KEY_FILE: soon.GRPC_TLS_KEY_FILE }
  t.match(await found(certificates, other, now), [
    /does not belong to the key in \S+soon\.key\.pem$/,
  ])
  const screening = {
    SCREENING_TLS_CERT_FILE: soon.GRPC_TLS_CERT_FILE,
    SCREENING_TLS_KEY_FILE: settings.GRPC_TLS_KEY_FILE,
    SCREENING_TLS_CA_FILE: settings.GRPC_TLS_CA_FILE,
  }
  t.match(await found(certificates, screening, now), [
    /^SCREENING_TLS_CERT_FILE: the certificate of CN=processor ends in 20 days/,
    /^SCREENING_TLS_CERT_FILE does not belong to the key/,
  ])
  const member = join(folder, 'member.json')
  const tls = (name: string) => ({
    ...{ cert_file: `${name}.cert.pem`, key_file: `${name}.key.pem` },
    ca_file: settings.GRPC_TLS_CA_FILE,
  })
  writeFileSync(member, JSON.stringify({ tls: tls('soon') }))
  t.match(await found(certificates, { ISO20022_FILE: member }, now), [
    /^ISO20022_FILE tls.cert_file: the certificate of CN=processor ends in 20 days/,
  ])
  writeFileSync(member, '{}')
  t.match(await found(certificates, { ISO20022_FILE: member }, now), [/^ISO20022_FILE: /])
  const rails = join(folder, 'rails.json')
  const railsWith = (tls: object): void =>
    writeFileSync(rails, JSON.stringify({ rails: [{ name: 'bank_a' }, { name: 'us', tls }] }))
  railsWith(tls('soon'))
  t.match(await found(certificates, { RAILS_FILE: rails }, now), [
    /^RAILS_FILE us tls.cert_file: the certificate of CN=processor ends in 20 days/,
  ])
  railsWith(tls('far'))
  t.same(await found(certificates, { RAILS_FILE: rails }, now), [])
  const url = `postgres://a@b/c?sslrootcert=${join(folder, 'none.pem')}`
  t.match(await found(certificates, { STORE_URL: url, WEBHOOK_STORE_URL: url }, now), [
    /^sslrootcert of STORE_URL: ENOENT/,
    /^sslrootcert of WEBHOOK_STORE_URL: ENOENT/,
  ])
  writeFileSync(settings.GRPC_TLS_CERT_FILE, 'no PEM')
  t.match(await found(certificates, settings, now), [
    /^GRPC_TLS_CERT_FILE: \S+ has no certificate$/,
  ])
})

t.test('disk and clock', async (t) => {
  const DATA_DIR = aDataDir(t)
  t.equal(await found(disk, { DATA_DIR: join(DATA_DIR, 'none') }), 'unused')
  const tooMuch = '1048576'
  t.match(await found(disk, { DATA_DIR, DISK_RESERVE_MB: tooMuch }), [
    /^\d+ MB are free on the disk/,
  ])
  t.match(clockFindings('yes\n'), { findings: [] })
  t.match(clockFindings('no\n'), { findings: [{ finding: 'the clock is not synchronized' }] })
})

t.test('backups', async (t) => {
  const DATA_DIR = aDataDir(t)
  const folder = join(DATA_DIR, '..', '2026-11-23T20-00-00.000Z')
  const here = 'the backups are on the file system of DATA_DIR'
  t.equal(await found(backups, { DATA_DIR, STORE: 'postgres' }), 'unknown')
  t.same(await found(backups, { DATA_DIR }), ['there is no backup'])
  writeLastBackup(join(DATA_DIR, FILES.lastBackup), { snapshotAt: NOW, folder })
  t.match(await found(backups, { DATA_DIR }), [/^the newest backup is gone: \S+ has no manifest/])
  mkdirSync(folder, { mode: 0o700 })
  const manifest = {
    ...{ version: '1.0.0', snapshot_at: '2026-11-23T20:00:00.000Z', completed_at: 'x', files: [] },
    books: { id: 'a'.repeat(32), epoch: 1, batch: 1, newest_event_at: '', master_keys: [] },
  }
  const write = (clean: boolean): void =>
    writeFileSync(
      join(folder, MANIFEST),
      manifestText({ ...manifest, audit: { clean, conclusion: '' } }),
    )
  write(true)
  t.same(await found(backups, { DATA_DIR }), [here])
  t.same(await found(backups, { DATA_DIR }, plus(NOW, 3 * DAY)), [
    'the newest backup is 3.0 days old',
    here,
  ])
  chmodSync(folder, 0o755)
  t.same(await found(backups, { DATA_DIR, STORE: 'postgres' }), [
    here,
    `${folder} is accessible to others (mode 755)`,
  ])
  chmodSync(folder, 0o700)
  write(false)
  t.same(await found(backups, { DATA_DIR }), [`the audit of ${folder} is broken`, here])
})

t.test('the PostgreSQL server', async (t) => {
  const right: ServerState = {
    ...{ fsync: 'on', full_page_writes: 'on', data_checksums: 'on', archive_mode: 'on' },
    archive_failed_at: null,
    now: NOW,
  }
  const findingsOf = (changed: Partial<ServerState>): readonly string[] =>
    serverFindings({ ...right, ...changed }, NOW).map(({ finding }) => finding)
  t.same(findingsOf({ now: NOW + 900 }), [])
  t.same(findingsOf({ fsync: 'off', full_page_writes: 'off' }), [
    'fsync is off on the server',
    'full_page_writes is off on the server',
  ])
  t.same(findingsOf({ data_checksums: 'off', archive_mode: 'off' }), [
    'data_checksums is off on the server',
    'archive_mode is off on the server',
  ])
  t.match(findingsOf({ archive_failed_at: NOW }), [/^the server failed to archive its WAL at 20/])
  t.match(findingsOf({ now: NOW - 4_000 }), [/^the clock of the server .* differ by 4000 ms$/])
  t.equal(await found(server, {}), 'unused')
  const away = 'postgres://user:password@127.0.0.1:1/none'
  const unseen = await found(server, { STORE_URL: away })
  t.match(unseen, [/^postgres:\/\/.* was not seen: /])
  t.notMatch(String(unseen), /password@/)
})

t.test('a PostgreSQL server without a standby', { skip: noPostgres }, async (t) => {
  const { url } = await startPostgres(t)
  const seen = await found(server, { STORE_URL: url }, systemClock.now())
  t.ok(seen.includes('archive_mode is off on the server'), String(seen))
  t.ok(seen.includes('synchronous_standby_names is empty: commits wait for no standby'))
  t.notMatch(String(seen), /was not seen|fsync|the clock/)
})

t.test('indexes of PostgreSQL', { skip: noPostgres }, async (t) => {
  t.equal(await found(indexes, { DATA_DIR: join(tempFolder(t), 'none') }), 'unused')
  const { url } = await startPostgres(t)
  const connection = await connectedTo(t, url, 'public')
  await connection.exec(`
    CREATE SCHEMA books_1;
    CREATE FUNCTION books_1.sorted(n integer) RETURNS integer IMMUTABLE
      LANGUAGE sql AS 'SELECT n';
    CREATE TABLE books_1.payments (n integer PRIMARY KEY);
    INSERT INTO books_1.payments SELECT generate_series(1, 1000);
    CREATE INDEX payments_sorted ON books_1.payments (books_1.sorted(n))`)
  t.equal(await found(indexes, { STORE_URL: url }), 'unknown', 'without the extension')
  await connection.exec('CREATE EXTENSION amcheck SCHEMA public')
  t.same(await found(indexes, { STORE_URL: url }), [])
  // As a new version of the C library may sort.
  await connection.exec(`CREATE OR REPLACE FUNCTION books_1.sorted(n integer) RETURNS integer
    IMMUTABLE LANGUAGE sql AS 'SELECT -n'`)
  t.match(await found(indexes, { STORE_URL: url }), [
    /^the index (?:books_1\.)?payments_sorted is damaged: /,
  ])
  const ops = operatorCli(tempFolder(t), '', { STORE: 'postgres', STORE_URL: url })
  const { out } = await ops('doctor --deep --json')
  const { findings } = JSON.parse(out) as { readonly findings: readonly object[] }
  t.match(findings.at(-1), { area: 'indexes' })
})

t.test('the command names what it found, checked and could not check', async (t) => {
  const DATA_DIR = aDataDir(t)
  const ops = operatorCli(DATA_DIR, '', AGAINST_SQLITE)
  const { exitCode, out } = await ops('doctor')
  t.equal(exitCode, 1)
  t.match(out, /^finding +why +what to do\n/)
  t.match(out, /\nthere is no backup +what was committed since is lost with the disk +backup DIR/)
  t.match(out, /\n\d+ findings\nChecked: settings, processors, files, disk, /)
  const { out: json } = await ops('doctor --json')
  const value = JSON.parse(json) as { readonly findings: readonly { readonly area: string }[] }
  t.ok(value.findings.some(({ area }) => area === 'backups'))
  t.equal(new Set(AREAS.map(({ name }) => name)).size, AREAS.length)
})
