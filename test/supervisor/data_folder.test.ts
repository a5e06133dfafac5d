/** DATA_DIR as it was found: what is made private, what is refused. */
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { tempFolder } from '../support/temp_folder.js'

const modeOf = (path: string): number => statSync(path).mode & 0o777

t.test('an empty folder, as mkdir leaves it, is made private', async (t) => {
  for (const mode of [0o755, 0o750, 0o711, 0o700]) {
    const folder = tempFolder(t)
    chmodSync(folder, mode)
    await (await openDataFolder(folder)).release()
    t.equal(modeOf(folder), 0o700, mode.toString(8))
  }
})

t.test('a folder with files, or one that others can write, is refused as it is', async (t) => {
  for (const [mode, file] of [
    [0o755, 'processor.db'],
    [0o775, undefined],
    [0o757, undefined],
  ] as const) {
    const folder = tempFolder(t)
    if (file !== undefined) writeFileSync(join(folder, file), '')
    chmodSync(folder, mode)
    await t.rejects(openDataFolder(folder), { message: /is open to others/ }, mode.toString(8))
    t.equal(modeOf(folder), mode)
  }
})
