/** Command lines to copy: a shell gives make, and make gives the command, the words as they are. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { opsLine, shellWord } from '../../src/operations/cli/command_text.js'
import { tempFolder } from '../support/temp_folder.js'

const PLAIN = '/backups/2026-11-29T03-44-34.123Z'
const WORDS = [
  ...[PLAIN, '/back ups/2026', "/it's", '/a "b"', '/$HOME/$$', '/`id`', '/a\\b', '/wow!', '/a#b'],
  ...['~/x', '/a;b&c|d', '/*', '(a)', '', '/é', '--json'],
]

t.test('a plain word is printed as it is', async (t) => {
  t.equal(opsLine('restore', PLAIN), `make ops ARGS="restore ${PLAIN}"`)
  t.equal(opsLine('restore', '/back ups'), `make ops ARGS="restore '/back ups'"`)
  t.equal(shellWord('var'), 'var')
})

t.test('a shell reads each word as it is meant', async (t) => {
  for (const word of WORDS) {
    const read = execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })
    t.equal(read, word)
  }
})

t.test('make passes each word on as it is meant', async (t) => {
  const cwd = tempFolder(t)
  writeFileSync(join(cwd, 'Makefile'), 'ops:\n\t@printf "[%s]" $(ARGS)\n')
  const env = { PATH: process.env['PATH'] }
  const read = execFileSync('sh', ['-c', opsLine('restore', ...WORDS)], {
    cwd,
    env,
    encoding: 'utf8',
  })
  t.equal(read, ['restore', ...WORDS].map((word) => `[${word}]`).join(''))
})
