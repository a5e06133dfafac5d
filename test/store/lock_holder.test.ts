/**
 * The lock of a data directory whose books are in PostgreSQL is held until the process ends, and
 * its holder differs from that of every other data directory.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { systemRandom } from '../../src/base/random.js'
import { lockHolder } from '../../src/store/postgres/owned_schema.js'
import { tempFolder } from '../support/temp_folder.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const random = systemRandom()
const holderIn = (folder: string, schema = 'books'): Promise<string> =>
  lockHolder(folder, schema, random)

t.test('a second process is rejected, also after a garbage collection', async (t) => {
  const folder = tempFolder(t)
  t.match(await holderIn(folder), `:${folder}:`)
  for (let i = 0; i < 3; i++) {
    collectGarbage()
    await setImmediate()
  }
  await t.rejects(holderIn(folder), /books is in use by another process/)
  await holderIn(folder, 'pool_1')
})

t.test('one data directory has one name, and another one of its path has another', async (t) => {
  const folder = tempFolder(t)
  const before = await holderIn(folder)
  t.equal(await holderIn(folder, 'pool_1'), before)
  t.match(before, /#[0-9a-f]{16}$/, 'and the process a random part')
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  t.not(await holderIn(folder, 'pool_2'), before)
})
