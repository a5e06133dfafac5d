/**
 * What the operators' guide has in code blocks besides the CLI: shell lines are run as they are
 * written, and each target of make exists and has its options.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadMasterKeys } from '../../src/auth/master_key.js'
import { ownerKeyDigest, ownerKeyIn, sealedFor } from '../../src/auth/sealed_secret.js'
import { projectRoot } from '../../src/base/project_root.js'
import { systemRandom } from '../../src/base/random.js'
import { guidePage, guidePages } from '../support/operators_guide.js'
import { tempFolder } from '../support/temp_folder.js'

/** The lines of a page's code blocks that contain this text, without their comments. */
const linesWith = (title: string, text: string): readonly string[] =>
  [...guidePage(title).text.matchAll(/^ *```\w*\n([^]*?)^ *```/gm)]
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => line.includes(text))
    .map((line) => line.trim().replace(/\s{2,}#.*$/, ''))

const shell = (line: string, cwd: string): string =>
  execFileSync('sh', ['-ec', line], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

t.test('the line that adds a master key keeps the older one', async (t) => {
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'var'), { mode: 0o700 })
  const file = join(folder, 'var/master.key')
  writeFileSync(file, `k1:${'07'.repeat(32)}\n`, { mode: 0o600 })
  const [line = ''] = linesWith('Master keys', 'openssl rand')
  shell(line, folder)
  const keys = loadMasterKeys(file, { create: false }, systemRandom())
  t.same(
    keys.map(({ kid }) => kid),
    ['k2', 'k1'],
  )
  t.equal(statSync(file).mode & 0o777, 0o600)
})

t.test('the lines of an owner key make one, show its digest and open a secret', async (t) => {
  const folder = tempFolder(t)
  const [make = '', digest = '', open = ''] = linesWith('A second operator', 'openssl')
  shell(make, folder)
  const key = ownerKeyIn(readFileSync(join(folder, 'partner.pem'), 'utf8'))
  if (key === null) throw new Error('the key is not an RSA key in PEM')
  t.match(shell(digest, folder), ownerKeyDigest(key))
  writeFileSync(join(folder, 'sealed.txt'), sealedFor(key, 'sk_of_a_partner'))
  t.equal(shell(open, folder), 'sk_of_a_partner')
})

t.test('each target of make that the guide names exists', async (t) => {
  const makefile = readFileSync(join(projectRoot(), 'Makefile'), 'utf8')
  const targets = new Set([...makefile.matchAll(/^([a-z-]+):/gm)].map(([, name]) => name))
  const named = guidePages().flatMap(({ title, text }) =>
    [...text.matchAll(/(?:^ *|`|=\S* )make ([a-z-]+)\b/gm)].map(
      ([, name]) => [title, name] as const,
    ),
  )
  t.ok(named.length > 100)
  for (const [title, name] of named) t.ok(targets.has(name), `${title}: make ${name}`)
})
