/** Each child process gets exactly the variables that it reads. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/settings/settings.js'
import {
  foreignVariables,
  SETTINGS_READ_BY,
  variablesOf,
  type OwnProgram,
} from '../../src/supervisor/child_variables.js'

const PROGRAMS = Object.keys(SETTINGS_READ_BY) as OwnProgram[]
/** What is imported only as types runs nothing. */
const TYPES_ONLY = /import type [^']*'[^']*'/g
const IMPORTED = /(?:from|import) '(\.[^']+)\.js'/g
/** Files that name settings in texts, or all of them. */
const OF_ALL_SETTINGS = [
  ...['src/settings/settings.ts', 'src/settings/settings_reader.ts', 'src/base/errors.ts'],
  ...['src/settings/setting_readers.ts', 'src/settings/certificate_files.ts'],
  ...['process', 'processor', 'gateway'].map((name) => `src/metrics/${name}_families.ts`),
]

/** All source files that a program imports. */
function sourcesOf(main: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [main]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file) || !existsSync(join(projectRoot(), file))) continue
    found.add(file)
    const folder = dirname(file)
    const text = textOf(file).replaceAll(TYPES_ONLY, '')
    for (const [, path] of text.matchAll(IMPORTED)) open.push(join(folder, `${path}.ts`))
  }
  return found
}

const textOf = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8')

for (const program of PROGRAMS) {
  t.test(`${program} gets every setting that it reads, and no other`, async (t) => {
    const sources = sourcesOf(program.replace(/js$/, 'ts'))
    t.ok(sources.size > 10)
    const text = [...sources].filter((file) => !OF_ALL_SETTINGS.includes(file)).map(textOf)
    const words = new Set(text.flatMap((each) => each.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []))
    if (text.some((each) => each.includes('dataFile('))) words.add('DATA_DIR')
    const read = Object.keys(SETTINGS).filter((name) => words.has(name))
    t.same([...SETTINGS_READ_BY[program]].sort(), read.sort())
  })
}

t.test('other variables are not inherited', async (t) => {
  const settings = { NATS_URL: 'nats://u:secret@127.0.0.1', HTTP_HOST: '127.0.0.1' }
  const environment = { PATH: '/bin', NODE_OPTIONS: '--no-warnings', ...settings, OTHER: 'x' }
  const given = { settings, environment }
  t.same(variablesOf('gateway/main.js', given), {
    PATH: '/bin',
    NODE_OPTIONS: '--no-warnings',
    HTTP_HOST: '127.0.0.1',
    DOT_ENV: '',
  })
  t.equal(variablesOf('src/processor/main.js', given)['NATS_URL'], settings.NATS_URL)
  t.same(foreignVariables(environment), { PATH: '/bin' })
})
