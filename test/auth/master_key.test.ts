/** The master key file: creation, permissions, format, derived keys. */
import { createHmac } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { deriveKey, loadMasterKeys, type KeyPurpose } from '../../src/auth/master_key.js'
import type { Random } from '../../src/base/random.js'
import { fixedRandom } from './fixed_random.js'

const FIRST_START = { create: true }
const LATER_START = { create: false }
const HEX = 'ab'.repeat(32)
const OTHER_HEX = 'cd'.repeat(32)

function keyFile(t: Test, text: string, mode = 0o600): string {
  const file = join(t.testdir(), 'master.key')
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

t.test('the first start creates the file, later starts read it', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'var', 'master.key')
  const made = loadMasterKeys(file, FIRST_START, fixedRandom())
  t.equal(made.length, 1)
  t.equal(made[0].bytes.length, 32)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(readFileSync(file, 'utf8'), /^k[0-9a-f]{8}:[0-9a-f]{64}\n$/)
  t.same(readdirSync(join(folder, 'var')), ['master.key'], 'no temporary file is left')
  t.same(loadMasterKeys(file, LATER_START, fixedRandom('other')), made)
  t.same(loadMasterKeys(file, FIRST_START, fixedRandom('other')), made, 'the key is not replaced')
})

t.test('two processes that start together use one key', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'master.key')
  const random = fixedRandom()
  const overtaken: Random = {
    ...random,
    bytes: (count) => {
      if (count === 32) loadMasterKeys(file, FIRST_START, fixedRandom('faster'))
      return random.bytes(count)
    },
  }
  const slow = loadMasterKeys(file, FIRST_START, overtaken)
  t.same(slow, loadMasterKeys(file, LATER_START, fixedRandom()))
  t.same(readdirSync(folder), ['master.key'])
})

t.test('a missing file is not created without permission', async (t) => {
  const file = join(t.testdir(), 'master.key')
  t.throws(() => loadMasterKeys(file, LATER_START, fixedRandom()), /master\.key is missing/)
  t.same(readdirSync(join(file, '..')), [])
})

t.test('a file that others can read or write is rejected', async (t) => {
  for (const mode of [0o640, 0o604, 0o620, 0o602, 0o666]) {
    const file = keyFile(t, `k1:${HEX}\n`, mode)
    const expected = new RegExp(`accessible to others \\(mode ${mode.toString(8)}\\)`)
    t.throws(() => loadMasterKeys(file, LATER_START, fixedRandom()), expected)
  }
  const readOnly = keyFile(t, `k1:${HEX}\n`, 0o400)
  t.equal(loadMasterKeys(readOnly, LATER_START, fixedRandom())[0].kid, 'k1')
})

t.test('the first line is current, the others follow', async (t) => {
  const file = keyFile(t, `new:${HEX}\nold:${OTHER_HEX}`)
  t.same(loadMasterKeys(file, LATER_START, fixedRandom()), [
    { kid: 'new', bytes: Buffer.from(HEX, 'hex') },
    { kid: 'old', bytes: Buffer.from(OTHER_HEX, 'hex') },
  ])
})

t.test('an error names the line of the file and not its content', async (t) => {
  const table: [string, RegExp][] = [
    ['', /line 1/],
    ['\n', /line 1/],
    [`${HEX}\n`, /line 1/],
    [`k1:${HEX}\n\n`, /line 2/],
    [`k1:${HEX}\nk2:${HEX.slice(2)}\n`, /line 2/],
    [`k1:${HEX}\nk2:${HEX.toUpperCase()}\n`, /line 2/],
    [`k1:${HEX}\nK2:${HEX}\n`, /line 2/],
    [`k1:${HEX}\r\nk2:${HEX}\n`, /line 1/],
    [`k1:${HEX}\nk2:${HEX}0\n`, /line 2/],
    [`k1:${HEX}\nk.2:${HEX}\n`, /line 2/],
    [`k1:${HEX}\nk1:${OTHER_HEX}\n`, /line 2.*duplicate/],
  ]
  for (const [text, expected] of table) {
    const file = keyFile(t, text)
    t.throws(() => loadMasterKeys(file, LATER_START, fixedRandom()), expected, JSON.stringify(text))
    try {
      loadMasterKeys(file, LATER_START, fixedRandom())
    } catch (error) {
      t.notMatch(String(error), /abab|ABAB|cdcd/)
    }
  }
})

t.test('each purpose has its own key, derived by HKDF-SHA256 (RFC 5869)', async (t) => {
  const master = { kid: 'k1', bytes: Buffer.from(HEX, 'hex') }
  const purposes: KeyPurpose[] = ['secrets', 'accounts', 'idempotency', 'tokens', 'cursor']
  const seen = new Set([HEX])
  for (const purpose of purposes) {
    const extracted = createHmac('sha256', Buffer.alloc(32)).update(master.bytes).digest()
    const expanded = createHmac('sha256', extracted).update(`causeway ${purpose}\x01`).digest()
    t.same(deriveKey(master, purpose), expanded, purpose)
    seen.add(deriveKey(master, purpose).toString('hex'))
  }
  t.equal(seen.size, 6)
})
