/** Backups: what is copied, kept and refused, and books that go on being written beside one. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { backupsIn, openBackupFolder } from '../../src/backup/backups.js'
import { makeBackup, type BackupOptions, type MadeBackup } from '../../src/backup/make_backup.js'
import { MANIFEST, type Manifest } from '../../src/backup/manifest.js'
import { manifestOf, requireEmpty, restoreBackup, verifyFiles } from '../../src/backup/restore.js'
import {
  backupAgeSeconds,
  knownBackupAgeSeconds,
  readRestoredMark,
  writeLastBackup,
} from '../../src/files/backup_marks.js'
import { DAY, instant, plus } from '../../src/base/clock.js'
import { MIB } from '../../src/files/free_space.js'
import { FILES } from '../../src/base/subjects.js'
import { systemRandom } from '../../src/base/random.js'
import { openKeyring } from '../../src/processor/master_keys/keyring.js'
import { readCopiedAt } from '../../src/store/copied_books.js'
import type { Database } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { problemsIn, takeSnapshot } from '../../src/store/sqlite/database_copy.js'
import { openStore } from '../../src/store/sqlite/store.js'
import { operatorCli } from '../support/operator_cli.js'
import { startProgram } from '../support/program.js'
import { tempFolder } from '../support/temp_folder.js'

const START = instant(1_795_000_000_000)
const SCHEMAS = {
  [FILES.processorDatabase]: 'src/store/sqlite/schema',
  [FILES.webhookDatabase]: 'actors/webhook/store/schema',
  [FILES.railDatabase]: 'src/rails/sandbox/schema',
  [FILES.railRecord]: 'src/rails/iso20022/schema',
}

/** A DATA_DIR, and a folder beside it for backups, which does not exist. */
async function aDataDir(t: Test): Promise<{ readonly dataDir: string; readonly backups: string }> {
  const folder = tempFolder(t)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  for (const [name, migrations] of Object.entries(SCHEMAS)) {
    await (await openDatabase(join(dataDir, name), { migrations })).close()
  }
  writeFileSync(join(dataDir, FILES.masterKey), `k1:${'0'.repeat(64)}\n`, { mode: 0o600 })
  return { dataDir, backups: join(folder, 'backups') }
}

let seconds = 0

async function backedUp(
  dataDir: string,
  backups: string,
  over: Partial<BackupOptions> = {},
): Promise<MadeBackup> {
  const into = await openBackupFolder(backups)
  const now = plus(START, (seconds += 1) * 1_000)
  return makeBackup({
    ...{ dataDir, into, keys: new Map(), version: '1.2.3' },
    clock: { now: () => now },
    freeBytes: () => Promise.resolve(Number.MAX_SAFE_INTEGER),
    stopwatch: () => 0,
    isStopped: () => false,
    ...over,
  }).finally(() => into.release())
}

async function verifiedManifest(folder: string): Promise<Manifest> {
  const manifest = manifestOf(folder)
  await verifyFiles(folder, manifest)
  return manifest
}

t.test('a disk without space for the copy is refused before it begins', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const freeBytes = (): Promise<number> => Promise.resolve(256 * MIB)
  await t.rejects(backedUp(dataDir, backups, { freeBytes }), {
    ...{ name: 'BackupFault', message: /backups has 256 MB free and needs 25\d MB: free space/ },
  })
  t.same(backupsIn(backups), [])
})

t.test('a backup is whole, private, checked and of one moment', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const { folder, manifest } = await backedUp(dataDir, backups)
  const databases = ['webhooks.db', 'processor.db', 'rail.db', 'iso20022.db']
  t.same(readdirSync(folder).sort(), [...databases, MANIFEST].sort())
  t.equal(statSync(folder).mode & 0o777, 0o700)
  for (const name of readdirSync(folder)) {
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  }
  t.same(
    manifest.files.map(({ name }) => name),
    databases,
    'the pools first, then the books, then what the bank has',
  )
  t.match(manifest, { version: '1.2.3', audit: { clean: true }, books: { epoch: 1, batch: 0 } })
  t.same(await verifiedManifest(folder), manifest)
})

t.test('a backup whose record fails is a good one', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  writeFileSync(join(dataDir, FILES.sandbox), '{}')
  chmodSync(join(dataDir, FILES.sandbox), 0o644)
  const program = startProgram('operations/main.js', ['backup', backups], { DATA_DIR: dataDir })
  const { exitCode, out, err } = await program.ended
  t.same({ exitCode, err }, { exitCode: 0, err: '' })
  t.match(out, /Not in the action log: \S+sandbox\.json is accessible to others/)
  t.equal(backupsIn(backups).length, 1)
})

t.test('keys are in a backup only when it was asked for', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const key = join(dataDir, FILES.masterKey)
  const { folder } = await backedUp(dataDir, backups, {
    keys: new Map([[FILES.masterKey, key]]),
  })
  t.equal(readFileSync(join(folder, FILES.masterKey), 'utf8'), readFileSync(key, 'utf8'))
  t.equal(statSync(join(folder, FILES.masterKey)).mode & 0o777, 0o600)
  const restored = join(dataDir, '..', 'restored')
  mkdirSync(restored, { mode: 0o700 })
  writeFileSync(join(restored, FILES.masterKey), 'another')
  const manifest = await verifiedManifest(folder)
  await t.rejects(restoreBackup(folder, restored, manifest), /master\.key differs from that of the/)
  t.notOk(existsSync(join(restored, FILES.processorDatabase)))
})

t.test('a restore places the files and marks them before the books', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const { folder, manifest } = await backedUp(dataDir, backups)
  const restored = join(dataDir, '..', 'restored')
  requireEmpty(restored)
  mkdirSync(restored, { mode: 0o700 })
  const { missingKeys } = await restoreBackup(folder, restored, manifest)
  t.same(missingKeys, [FILES.masterKey, FILES.railKey, FILES.operatorToken, FILES.internalToken])
  t.same(readRestoredMark(join(restored, FILES.restored)), {
    booksId: manifest.books.id,
    snapshotAt: manifest.snapshot_at,
  })
  for (const name of readdirSync(restored)) {
    t.equal(statSync(join(restored, name)).mode & 0o777, 0o600, name)
  }
  t.throws(() => requireEmpty(restored), /DATA_DIR=.* is not empty \(\w/)
  t.throws(() => requireEmpty(join(restored, FILES.processorDatabase)), /db is not a folder\.$/)
  t.throws(() => manifestOf(join(folder, FILES.processorDatabase)), /is not a folder\.$/)
  t.throws(() => manifestOf(join(folder, 'x')), { message: `there is no folder ${folder}/x.` })

  await t.test('of two restores at once one is refused', async (t) => {
    const ops = operatorCli(join(dataDir, '..', 'twice'))
    const done = await Promise.all([ops('restore', folder), ops('restore', folder)])
    t.same(done.map(({ exitCode }) => exitCode).sort(), [0, 1])
    t.match(done.map(({ err }) => err).join(''), /Not restored: DATA_DIR=.* is not empty/)
    const out = done.map((each) => each.out).join('')
    t.match(out, /rail\.db is the journal of the bank's adapter, AS OLD AS THE BOOKS/)
  })

  await t.test('the books know that they are a copy, until they are released', async (t) => {
    const releases = async (number: number): Promise<string | null> => {
      const raw = await openDatabase(join(restored, FILES.processorDatabase))
      await raw.run(
        `INSERT INTO recoveries (number, entered_at, cause, released_at, loss, position_from,
          position_to) VALUES (?, 1, 'a test', 2, '[]', 1, 2)`,
        [number],
      )
      const copiedAt = await readCopiedAt(raw)
      await raw.close()
      return copiedAt
    }
    const store = await openStore(join(restored, FILES.processorDatabase))
    t.equal(await store.copiedAt(), manifest.snapshot_at)
    await store.close()
    t.equal(await releases(1), null)
    const again = await backedUp(restored, join(dataDir, '..', 'of_released'))
    const copy = await openDatabase(join(again.folder, FILES.processorDatabase), { readOnly: true })
    t.teardown(() => copy.close())
    t.equal(await readCopiedAt(copy), again.manifest.snapshot_at)
  })
})

t.test('a copy that differs from the backup is no books, which come last', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const { folder, manifest } = await backedUp(dataDir, backups)
  const books = join(folder, FILES.processorDatabase)
  writeFileSync(books, flipped(readFileSync(books)))
  const restored = join(dataDir, '..', 'restored')
  mkdirSync(restored, { mode: 0o700 })
  await t.rejects(restoreBackup(folder, restored, manifest), {
    ...{
      name: 'BackupFault',
      message: /processor\.db\.new was not written as it is in the backup/,
    },
  })
  const others = [FILES.webhookDatabase, FILES.railDatabase, FILES.railRecord, FILES.restored]
  t.same(
    readdirSync(restored).sort(),
    [...others, `${FILES.processorDatabase}.new`].sort(),
    'the mark and all others are there before',
  )
})

t.test('a restore onto a disk without its space is refused, and nothing is written', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const { folder } = await backedUp(dataDir, backups)
  const file = join(folder, MANIFEST)
  const text = readFileSync(file, 'utf8').replace(/("bytes": )\d+/, `$1${2 ** 52}`)
  writeFileSync(file, text)
  const restored = join(dataDir, '..', 'not', 'restored')
  const { exitCode, err } = await operatorCli(restored)('restore', folder)
  t.equal(exitCode, 1)
  t.match(err, /^Not restored: \/.*\/not\/restored has \d+ MB free and needs 42949675\d\d MB: free/)
  t.notOk(existsSync(join(restored, '..')))
})

t.test('a master key that is there has to open the books of the backup', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const own = readFileSync(join(dataDir, FILES.masterKey), 'utf8')
  const store = await openStore(join(dataDir, FILES.processorDatabase))
  await openKeyring(store, [{ kid: 'k1', bytes: Buffer.alloc(32) }], systemRandom(), START)
  await store.close()
  const { folder } = await backedUp(dataDir, backups)
  const beside = (name: string, keys: string): string => {
    const target = join(dataDir, '..', name)
    mkdirSync(target, { mode: 0o700 })
    writeFileSync(join(target, FILES.masterKey), keys, { mode: 0o600 })
    return target
  }

  for (const [name, keys, why] of [
    ['other-name', own.replace('k1', 'k2'), 'the master key file lacks k1'],
    ['other-bytes', own.replaceAll('0', '1'), 'master key k1 in the file differs'],
    ['no-key', 'no key\n', 'line 1: must be kid:64 hex digits'],
  ] as const) {
    const target = beside(name, keys)
    const { exitCode, err } = await operatorCli(target)('restore', folder)
    t.equal(exitCode, 1, name)
    t.match(err, `Not restored: ${join(target, FILES.masterKey)} does not open the secrets of this`)
    t.match(err, why)
    t.match(err, 'put the key file there that has k1, or none until the start.')
    t.same(readdirSync(target), [FILES.masterKey], 'nothing is written')
  }
  const named = join(dataDir, '..', 'other-name', FILES.masterKey)
  const later = join(dataDir, '..', 'later')
  const refused = await operatorCli(later, undefined, { MASTER_KEY_FILE: named })('restore', folder)
  t.match(refused, { exitCode: 1, err: `Not restored: ${named} does not open` })
  t.notOk(existsSync(later))

  const rotated = beside('rotated', own.replace('k1', 'k2').replaceAll('0', '2') + own)
  t.match(await operatorCli(rotated)('restore', folder), { exitCode: 0 })
  const { out } = await operatorCli(later)('restore', folder)
  t.match(out, `Before the start put master.key into ${later}, mode 0600: it has k1.`)
})

t.test('a backup that is not whole is refused with its fault', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const { folder } = await backedUp(dataDir, backups)
  const books = join(folder, FILES.processorDatabase)
  const file = join(folder, MANIFEST)
  const [bytes, text] = [readFileSync(books), readFileSync(file, 'utf8')]
  const faults: readonly (readonly [fault: RegExp, make: () => void])[] = [
    [/processor\.db is missing: the backup is incomplete/, () => rmSync(books)],
    [/has \d+ bytes, and \d+ in the manifest/, () => appendFileSync(books, 'x')],
    [/differs from its digest/, () => writeFileSync(books, flipped(bytes))],
    [/it is no whole backup/, () => rmSync(file)],
    [/damaged or foreign/, () => writeFileSync(file, '{"format": 1}')],
    [/damaged or foreign/, () => writeFileSync(file, text.replace('rail.db', '../x'))],
    [/written by a newer version: restore/, () => writeFileSync(file, '{"format": 2}')],
    [
      /processor\.db was written by a newer version \(999 > \d+\)/,
      () => writeFileSync(file, text.replace(/(processor\.db[^}]*"schema": )\d+/, '$1999')),
    ],
  ]
  for (const [fault, make] of faults) {
    make()
    await t.rejects(verifiedManifest(folder), fault)
    writeFileSync(books, bytes)
    writeFileSync(file, text)
  }
  await verifiedManifest(folder)
  await t.rejects(verifiedManifest(backups), new RegExp(`the newest is ${folder}`))
})

const flipped = (bytes: Buffer): Buffer => {
  const other = Buffer.from(bytes)
  other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
  return other
}

t.test('a failed backup leaves nothing; a killed one is removed by the next', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  await t.rejects(backedUp(dataDir, backups, { isStopped: () => true }), /the copy was stopped/)
  t.same(readdirSync(backups), ['backups.lock'])
  mkdirSync(join(backups, '.2026-11-23T20-00-00.000Z.part'))
  await backedUp(dataDir, backups)
  t.equal(readdirSync(backups).filter((name) => name.startsWith('.')).length, 0)
  const into = await openBackupFolder(backups)
  await t.rejects(openBackupFolder(backups), /in use by another process/)
  await into.release()
  await t.rejects(openBackupFolder('/proc/backups/books'), {
    name: 'BackupFault',
    message: '/proc/backups cannot be created (its file system creates no folders): name another',
  })
  rmSync(join(dataDir, FILES.processorDatabase))
  await t.rejects(backedUp(dataDir, backups), /has no processor\.db: there are no books/)
  chmodSync(backups, 0o755)
  await t.rejects(backedUp(dataDir, backups), /is open to others .* name a folder of its own/)
  await t.rejects(openBackupFolder('/dev/null'), { message: '/dev/null is not a folder.' })
})

t.test('broken books are backed up, and the newest clean backup is never pruned', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const first = await backedUp(dataDir, backups)
  const clean = await backedUp(dataDir, backups)
  const books = await openDatabase(join(dataDir, FILES.processorDatabase))
  await breakBooks(books)
  await books.close()
  const broken = [await backedUp(dataDir, backups), await backedUp(dataDir, backups)]
  t.match(broken[0], { manifest: { audit: { clean: false, conclusion: /audit broken/ } } })
  const foreign = join(backups, '2026-01-01T00-00-00.000Z')
  mkdirSync(foreign)
  const into = await openBackupFolder(backups)
  t.same(into.prune(newestOf(broken[1]!), 1), [broken[0]?.folder, first.folder])
  await into.release()
  t.same(
    backupsIn(backups).map(({ folder }) => folder),
    [broken[1]?.folder, clean.folder],
  )
  t.ok(existsSync(foreign), 'what is no backup stays')
})

const newestOf = ({ folder, manifest }: MadeBackup) => ({ folder, booksId: manifest.books.id })

t.test('backups made while the clock was ahead replace no later ones', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const first = await backedUp(dataDir, backups)
  const clock = { now: () => plus(START, 30 * DAY) }
  const ahead = await backedUp(dataDir, backups, { clock })
  const newest = await backedUp(dataDir, backups)
  t.ok(newest.folder < ahead.folder)
  const into = await openBackupFolder(backups)
  t.same(into.prune(newestOf(newest), 2), [ahead.folder])
  t.same(into.prune(newestOf(newest), 1), [first.folder])
  await into.release()
})

t.test('the backups of other books in a folder are neither counted nor pruned', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const first = await backedUp(dataDir, backups)
  const books = join(dataDir, FILES.processorDatabase)
  renameSync(books, `${books}.own`)
  await (await openDatabase(books, { migrations: SCHEMAS[FILES.processorDatabase] })).close()
  const foreign = await backedUp(dataDir, backups)
  renameSync(`${books}.own`, books)
  const newest = await backedUp(dataDir, backups)
  t.not(foreign.manifest.books.id, newest.manifest.books.id)
  const into = await openBackupFolder(backups)
  t.same(into.prune(newestOf(newest), 2), [])
  t.same(into.prune(newestOf(newest), 1), [first.folder])
  await into.release()
  t.same(
    backupsIn(backups).map(({ folder }) => folder),
    [newest.folder, foreign.folder],
  )
})

t.test('books whose archive cannot be read are backed up', async (t) => {
  const { dataDir, backups } = await aDataDir(t)
  const archive = join(dataDir, '..', 'payments.db')
  writeFileSync(archive, 'no database')
  const books = await openDatabase(join(dataDir, FILES.processorDatabase))
  const row = ['a'.repeat(32), archive]
  await books.run('INSERT INTO archives (id, path, created_at) VALUES (?, ?, 1)', row)
  await books.close()
  const { manifest } = await backedUp(dataDir, backups)
  t.equal(manifest.audit.clean, false)
  t.match(manifest.audit.conclusion, /archive_has_what_left/)
  t.match(manifest.audit.conclusion, /payments\.db cannot be read: .*not a database/)
})

/** A payout whose context is not JSON. */
async function breakBooks(books: Database): Promise<void> {
  const columns = await books.all<{ name: string; type: string; notnull: number }>(
    'SELECT name, type, "notnull" FROM pragma_table_info(\'payouts\')',
  )
  const names = columns.map(({ name }) => name)
  const values = columns.map(({ name, type }) => {
    if (name === 'id') return "'pout_01M85239S70EPPT5MSQAEJY725'"
    if (name === 'context') return "'no JSON'"
    return type === 'INTEGER' ? '1' : "'demo_sandbox'"
  })
  await books.exec(`PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
    INSERT INTO payouts (${names.join()}) VALUES (${values.join()})`)
}

t.test('a snapshot is of one moment while the file is written', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'a.db')
  const writer = await openDatabase(file, { sole: true })
  t.teardown(() => writer.close())
  await writer.exec('CREATE TABLE sums (id INTEGER PRIMARY KEY, amount INTEGER, filler TEXT)')
  await writer.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
    INSERT INTO sums SELECT i, 0, hex(zeroblob(600)) FROM n`)
  const snapshot = await takeSnapshot(file)
  let isCopied = false
  let commits = 0
  const writing = (async (): Promise<void> => {
    while (!isCopied || commits === 0) {
      const [from, to] = [(commits % 9_000) + 1, ((commits * 7) % 9_000) + 1]
      await writer.run(
        'UPDATE sums SET amount = amount + CASE id WHEN ? THEN 1 ELSE -1 END WHERE id IN (?, ?)',
        [from, from, to],
      )
      commits += 1
    }
  })()
  const target = join(folder, 'copy.db')
  await snapshot.copyTo(target, () => false)
  isCopied = true
  await snapshot.close()
  await writing
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('copy')),
    ['copy.db'],
  )
  t.same(await problemsIn(target), [])
  const copy = await openDatabase(target, { readOnly: true })
  t.same(await copy.all('SELECT count(*) AS rows, sum(amount <> 0) AS changed FROM sums'), [
    { rows: 9_000, changed: 0 },
  ])
  await copy.close()
  t.ok(commits > 0)
  const damaged = readFileSync(target)
  damaged.fill(0xff, 8_192, 12_288)
  renameSync(target, `${target}.old`)
  writeFileSync(target, damaged)
  t.not((await problemsIn(target)).length, 0, 'damage is found')
})

t.test('the age of the newest backup', async (t) => {
  const file = join(tempFolder(t), FILES.lastBackup)
  t.equal(backupAgeSeconds(file, START), Infinity, 'an alert on its age covers no backup')
  t.equal(knownBackupAgeSeconds(file, false, START), Infinity)
  t.equal(knownBackupAgeSeconds(file, true, START), null, 'a server can have backups of its own')
  writeLastBackup(file, { snapshotAt: START - 90_000, folder: '/backups/a' })
  t.equal(backupAgeSeconds(file, START), 90)
  t.equal(knownBackupAgeSeconds(file, true, START), 90)
  writeFileSync(file, 'damaged')
  t.equal(backupAgeSeconds(file, START), Infinity)
  writeFileSync(file, '{}')
  t.throws(() => readRestoredMark(file), /is damaged: restore the backup again/)
})
