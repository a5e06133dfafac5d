/** The lock of a data directory whose books are in PostgreSQL is held until the process ends. */
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { lockHolder } from '../../src/store/postgres/owned_schema.js'
import { tempFolder } from '../support/temp_folder.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

t.test('a second process is refused, also after garbage was collected', async (t) => {
  const folder = tempFolder(t)
  t.match(await lockHolder(folder, 'books'), `:${folder}`)
  for (let i = 0; i < 3; i++) {
    collectGarbage()
    await setImmediate()
  }
  await t.rejects(lockHolder(folder, 'books'), /books is in use by another process/)
  await lockHolder(folder, 'pool_1')
})
