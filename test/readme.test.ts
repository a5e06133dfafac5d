/** The front page tells the truth about settings and commands. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../src/base/protos.js'
import { SETTINGS } from '../src/base/settings.js'
import { SETTINGS_GROUPS } from '../src/base/settings_groups.js'
import { envExample, settingsPage } from '../src/operations/settings_page.js'

const textOf = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8')
const readme = textOf('README.md')

const MODULES = ['src/operations', 'gateway', 'protos', 'src', 'actors', 'test/load']

t.test('the pages made from the settings are current', async (t) => {
  t.equal(textOf('src/SETTINGS.md'), settingsPage(), 'make settings')
  t.equal(textOf('.env.example'), envExample(), 'make settings')
  const grouped = Object.values(SETTINGS_GROUPS).flat()
  t.same([...grouped].sort(), Object.keys(SETTINGS).sort(), 'each setting is in one group')
})

t.test('every make target that is named exists', async (t) => {
  const targets = new Set(
    [...textOf('Makefile').matchAll(/^([a-z][a-z-]*):/gm)].map(([, name]) => name),
  )
  const pages = [readme, ...MODULES.map(pageOf)]
  const named = pages.flatMap((page) => [...page.matchAll(/(?:^|`)make ([a-z][a-z-]*)/gm)])
  t.ok(named.length > 5)
  for (const [, name] of named) t.ok(targets.has(name), `make ${name}`)
})

t.test('every module and page that is named exists', async (t) => {
  for (const [, path = ''] of readme.matchAll(/\]\(([^)]+)\)/g)) t.ok(textOf(path), path)
})

function pageOf(module: string): string {
  return textOf(`${module}/README.md`)
}
