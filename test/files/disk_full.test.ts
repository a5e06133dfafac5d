/** A full disk: a start names the file that it cannot write. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { createSecretFile, SecretFileError, writeSecretFile } from '../../src/files/secret_file.js'
import { lockHolder } from '../../src/store/postgres/owned_schema.js'
import { timelinesIn } from '../../src/store/postgres/timelines.js'
import { acquireLock } from '../../src/store/sqlite/database.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { StartupError } from '../../src/supervisor/startup_error.js'
import { tempFolder } from '../support/temp_folder.js'

const PAGES = 16
const PAGE_BYTES = 4_096
const disk = join(tempFolder(t), 'disk')
mkdirSync(disk)
const size = `size=${PAGES * PAGE_BYTES},mode=700`
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', disk])
t.teardown(() => spawnSync('umount', ['-l', disk]))
const onSmallDisk = mounted.status === 0 ? {} : { skip: 'needs the right to mount a tmpfs' }

/** Files and folders can be made, and nothing written but so many pages. */
function fillDisk(freePages = 0): void {
  writeFileSync(join(disk, 'fill'), Buffer.alloc((PAGES - freePages) * PAGE_BYTES))
}

t.test('the files of a start name themselves', onSmallDisk, async (t) => {
  fillDisk()
  const text = (file: string, why = 'ENOSPC: no space left on device, write'): string =>
    `${join(disk, file)} cannot be written (${why}): free space on its disk.`
  const full = 'SQLITE_FULL: database or disk is full'

  for (const write of [createSecretFile, writeSecretFile]) {
    const refusal = t.throws(() => write(join(disk, 'operator.token'), 'secret'))
    t.ok(refusal instanceof SecretFileError, 'a start prints only its message')
    t.match(refusal, { message: text('operator.token') })
  }
  t.throws(
    () => timelinesIn(join(disk, 'timeline.json'), false).used({ system: '1', timeline: 1 }),
    {
      message: text('timeline.json'),
    },
  )

  const books = join(disk, 'books.db')
  await t.rejects(acquireLock(books), { code: 'SQLITE_FULL', message: text('books.db.lock', full) })
  mkdirSync(join(disk, 'var'), { mode: 0o700 })
  const refusal = await openDataFolder(join(disk, 'var')).then(String, (error: unknown) => error)
  t.ok(refusal instanceof StartupError, 'a start prints only its message')
  const why = text('var/supervisor.lock', full)
  t.match(refusal, { message: `DATA_DIR=${join(disk, 'var')} cannot be locked: ${why}` })
  t.notOk(
    readdirSync(disk).some((name) => name.startsWith('operator')),
    'no draft is left',
  )
})

t.test('so does the identity of a directory with books in PostgreSQL', onSmallDisk, async (t) => {
  fillDisk(1) // for the lock of the schema
  await t.rejects(
    lockHolder(disk, 'books_1', systemRandom()),
    new RegExp(`${FILES.folderId} cannot be written`),
  )
})
