/**
 * What the operators' guide has in code blocks besides the CLI: shell lines are run as they are
 * written, and each target of make has its options and a test that runs its program.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadMasterKeys } from '../../src/auth/master_key.js'
import { ownerKeyDigest, ownerKeyIn, sealedFor } from '../../src/auth/sealed_secret.js'
import { projectRoot } from '../../src/base/project_root.js'
import { systemRandom } from '../../src/base/random.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { importedBy } from '../runner/store_tests.js'
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

/** A program of a target, a test, and what runs that program in the test or what it imports. */
type RunBy = readonly [program: string, test: string, runs: string]

const RUN_BY: Readonly<Record<string, RunBy>> = {
  audit: ['src/audit/main.js', 'integration/payouts', "'audit/main.js'"],
  bench: ['test/load/main.js', 'load/main', "load(t, 'bench'"],
  // The drill starts it.
  cluster: ['src/trial_cluster/main.js', 'cluster/programs', "'--cluster'"],
  'cluster-chaos': ['test/cluster/main.js', 'cluster/programs', "'test/cluster/main.js'"],
  demo: ['src/operations/demo/demo.js', 'operations/commands', "'demo/demo.js'"],
  load: ['test/load/main.js', 'load/main', "load(t, 'load'"],
  ops: ['src/operations/main.js', 'restore/guide', "'operations/main.js'"],
  restart: ['src/supervisor/restart_main.js', 'upgrade/upgrade', "'supervisor/restart_main.js'"],
  'restore-drill': ['test/restore/main.js', 'restore/restore', 'restoreDrill('],
  run: ['src/supervisor/main.js', 'integration/payouts', "'supervisor/main.js'"],
  seed: ['test/load/main.js', 'load/seed_data/seed_data', 'writeSeedData('],
  statement: [
    'src/rails/sandbox/statement_main.js',
    'integration/reconciliation',
    "'rails/sandbox/statement_main.js'",
  ],
  stop: ['src/supervisor/stop_main.js', 'supervisor/stop', "'supervisor/stop_main.js'"],
  'upgrade-drill': ['test/upgrade/main.js', 'cluster/programs', "'test/upgrade/main.js'"],
}
/** Before every test. */
const PREPARES = ['setup', 'build']

interface TargetLine {
  readonly title: string
  readonly target: string
  /** The variables that the line sets. */
  readonly given: readonly string[]
}

const targetLines: readonly TargetLine[] = guidePages().flatMap(({ title, text }) =>
  [...text.matchAll(/(?:^ *|`|=\S* )make ([a-z-]+)\b([^\n`]*)/gm)].map(
    ([, target = '', rest = '']) => ({
      ...{ title, target },
      given: [...rest.replaceAll(/"[^"]*"|\s#.*/g, '').matchAll(/\b([A-Z_]+)=/g)].map(
        ([, name = '']) => name,
      ),
    }),
  ),
)

/** The lines of a target, with the variables of the file in them, or undefined. */
function recipeOf(target: string): string | undefined {
  const makefile = readFileSync(join(projectRoot(), 'Makefile'), 'utf8')
  const values = new Map(
    [...makefile.matchAll(/^([A-Z_]+) :?= (.+)$/gm)].map(([, name = '', value = '']) => [
      `$(${name})`,
      value,
    ]),
  )
  const [recipe] = new RegExp(`^${target}:(?! export).*\\n(?:\\t.*\\n)*`, 'm').exec(makefile) ?? []
  return recipe?.replaceAll(/\$\([A-Z_]+\)/g, (name) => values.get(name) ?? name)
}

t.test('each target of make that the guide names has what the guide gives it', async (t) => {
  t.ok(targetLines.length > 100)
  for (const { title, target, given } of targetLines) {
    const recipe = recipeOf(target)
    t.ok(recipe, `${title}: make ${target}`)
    for (const name of given) {
      const isTaken = name in SETTINGS || new RegExp(`\\b${name}\\b`).test(recipe ?? '')
      t.ok(isTaken, `${title}: make ${target} ${name}=`)
    }
  }
})

t.test('a test runs the program of each target of make that the guide names', async (t) => {
  const named = new Set(targetLines.map(({ target }) => target))
  t.same([...named].sort(), [...Object.keys(RUN_BY), ...PREPARES].sort())
  const script = readFileSync(join(projectRoot(), 'src/scripts/test.sh'), 'utf8')
  for (const target of PREPARES) t.match(script, new RegExp(`make .*\\b${target}\\b`), target)
  for (const [target, [program, test, runs]] of Object.entries(RUN_BY)) {
    t.match(recipeOf(target), new RegExp(` \\.build/${program}\\s`), target)
    const texts = [...importedBy(`test/${test}`)].map((file) => readFileSync(file, 'utf8'))
    t.ok(
      texts.some((text) => text.includes(runs)),
      `make ${target}: test/${test} does not run ${program}`,
    )
  }
})
