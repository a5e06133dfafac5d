/** Files with secrets and the folder of all state: who may own them, how they are written. */
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import {
  createSecretFile,
  readSecretFile,
  readTokenFile,
  requirePrivateFolder,
  SecretFileError,
  TOKEN_MIN_CHARACTERS,
  writeSecretFile,
} from '../../src/files/secret_file.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { tempFolder } from '../support/temp_folder.js'

const NOBODY = 65_534
const TOKEN = 'x'.repeat(TOKEN_MIN_CHARACTERS)
/** Only root can give a file away. */
const asRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }

const modeOf = (file: string): number => statSync(file).mode & 0o777

t.test('a file that others can read or write is refused', async (t) => {
  const file = join(tempFolder(t), 'operator.token')
  writeFileSync(file, TOKEN)
  for (const mode of [0o600, 0o400]) {
    chmodSync(file, mode)
    t.equal(readSecretFile(file), TOKEN)
  }
  for (const mode of [0o640, 0o620, 0o604, 0o602, 0o601, 0o777]) {
    chmodSync(file, mode)
    const expected = new RegExp(`^${file} is accessible to others \\(mode ${mode.toString(8)}\\)`)
    t.throws(() => readSecretFile(file), { name: 'SecretFileError', message: expected })
  }
})

t.test('a file or folder of another user is refused', asRoot, async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'operator.token')
  writeFileSync(file, TOKEN, { mode: 0o600 })
  chownSync(file, NOBODY, NOBODY)
  const expected = new RegExp(`^${file} belongs to user 65534, not to root or to user 0`)
  t.throws(() => readSecretFile(file), { message: expected })
  t.throws(() => readSecretFile(file, { isNamed: true }), { message: expected })
  t.throws(() => writeSecretFile(file, TOKEN), { message: expected })
  chownSync(folder, NOBODY, NOBODY)
  t.throws(() => requirePrivateFolder(folder, 'DATA_DIR=var'), {
    message: /^DATA_DIR=var belongs to user 65534,.*: run this as user 65534, or chown it/,
  })
  chownSync(folder, 0, 0)
})

t.test('a symbolic link is not followed, unless a setting names it', async (t) => {
  const folder = tempFolder(t)
  const [target, link] = [join(folder, 'target'), join(folder, 'nats.conf')]
  writeFileSync(target, 'of another file', { mode: 0o600 })
  symlinkSync(target, link)
  t.throws(() => readSecretFile(link), { message: /nats\.conf is a symbolic link/ })
  t.throws(() => writeSecretFile(link, TOKEN), SecretFileError)
  t.equal(createSecretFile(link, TOKEN), 'exists')
  t.equal(readFileSync(target, 'utf8'), 'of another file')
  t.same(readdirSync(folder).sort(), ['nats.conf', 'target'], 'no draft is left')
  t.equal(readSecretFile(link, { isNamed: true }), 'of another file')
  chmodSync(target, 0o644)
  t.throws(() => readSecretFile(link, { isNamed: true }), { message: /mode 644/ })
})

t.test('a link of another user is not followed', asRoot, async (t) => {
  const folder = tempFolder(t)
  const link = join(folder, 'link')
  writeFileSync(join(folder, 'target'), TOKEN, { mode: 0o600 })
  symlinkSync('target', link)
  lchownSync(link, NOBODY, NOBODY)
  t.throws(() => readSecretFile(link, { isNamed: true }), { message: /link belongs to user 65534/ })
})

t.test('what is no regular file is refused, and a pipe does not block', async (t) => {
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'folder'))
  execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')])
  for (const name of ['folder', 'pipe']) {
    const expected = { message: new RegExp(`${name} is not a regular file`) }
    t.throws(() => readSecretFile(join(folder, name)), expected)
    t.throws(() => writeSecretFile(join(folder, name), TOKEN), expected)
  }
})

t.test('a written file is private, whatever the mask and the former mode', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'sandbox.json')
  writeFileSync(file, 'former')
  chmodSync(file, 0o644)
  writeFileSync(`${file}.${process.pid}.new`, 'draft of a killed process with this id')
  writeSecretFile(file, 'new')
  t.equal(readSecretFile(file), 'new')
  t.equal(modeOf(file), 0o600)
  t.equal(createSecretFile(file, 'later'), 'exists')
  t.equal(createSecretFile(join(folder, 'first'), 'first'), 'created')
  t.equal(modeOf(join(folder, 'first')), 0o600)
  t.same(readdirSync(folder).sort(), ['first', 'sandbox.json'])
})

t.test('a folder may be passed through by others, not read or written', async (t) => {
  const folder = tempFolder(t)
  for (const mode of [0o700, 0o711, 0o500]) {
    chmodSync(folder, mode)
    requirePrivateFolder(folder)
  }
  for (const mode of [0o755, 0o750, 0o770, 0o722, 0o777]) {
    chmodSync(folder, mode)
    t.throws(() => requirePrivateFolder(folder, 'DATA_DIR=var'), {
      message: new RegExp(
        `^DATA_DIR=var is open to others \\(mode ${mode.toString(8)}\\): chmod 700`,
      ),
    })
  }
  chmodSync(folder, 0o700)
  requirePrivateFolder(join(folder, 'missing'))
})

t.test('a token that could be guessed is refused, in a file and in a setting', async (t) => {
  const file = join(tempFolder(t), 'operator.token')
  writeSecretFile(file, `${TOKEN}\n`)
  t.equal(readTokenFile(file), TOKEN)
  const short = TOKEN.slice(1)
  writeSecretFile(file, `${short}\n`)
  t.throws(() => readTokenFile(file), { message: /has a token of 31 characters: .+ at least 32/ })
  for (const name of ['PROCESSOR_TOKEN', 'RAIL_TOKEN']) {
    t.equal(readSettings({ [name]: TOKEN }, '')[name as 'RAIL_TOKEN'], TOKEN)
    t.throws(() => readSettings({ [name]: short }, ''), {
      message: `${name}=… is not allowed: a token of 32 characters or more`,
    })
  }
})
