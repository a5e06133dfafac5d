/** Output of operator commands that cannot be written, and files that are not replaced. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { openOutput } from '../../src/operations/cli/text_output.js'
import { tempFolder } from '../support/temp_folder.js'

t.test('a list that a full disk has cut off fails', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const program = join(projectRoot(), '.build/src/operations/main.js')
  const { status, stderr } = spawnSync(process.execPath, [program, 'config', 'show'], {
    env: { PATH: process.env['PATH'], DOT_ENV: '', DATA_DIR: tempFolder(t) },
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  t.equal(stderr, 'The output is not whole: ENOSPC: no space left on device, write\n')
  t.equal(status, 1)
})

t.test('a file appears when it is whole, and only a file is replaced', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'journal.csv')
  writeFileSync(file, 'old')
  const output = openOutput(file, new PassThrough())
  await output.write('new')
  t.equal(readFileSync(file, 'utf8'), 'old')
  await output.close()
  t.equal(readFileSync(file, 'utf8'), 'new')
  for (const other of [folder, '/dev/null'])
    t.throws(() => openOutput(other, new PassThrough()), {
      name: 'CommandFault',
      message: `${other} is not a regular file: name another one.`,
    })
  t.ok(statSync('/dev/null').isCharacterDevice())
})
