/** The guides name only what exists: targets, pages, files, commands, error codes. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ERRORS } from '../src/base/errors.js'
import { projectRoot } from '../src/base/project_root.js'
import { SETTINGS } from '../src/settings/settings.js'
import { SETTINGS_GROUPS } from '../src/settings/settings_groups.js'
import { FAMILIES } from '../src/metrics/families.js'
import { COMMANDS } from '../src/operations/commands.js'
import { GUARDED_CHANGES } from '../src/processor/changes/second_operator.js'
import { metricsPage } from '../src/operations/metrics_page.js'
import { envExample, settingsPage } from '../src/operations/settings_page.js'
import { guidePage, guidePages, wholeGuide } from './support/operators_guide.js'
import { partnerGuideFiles, partnerGuidePage } from './support/partner_guide.js'

const textOf = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8')

const GUIDES = [
  'README.md',
  'CHANGELOG.md',
  'src/METRICS.md',
  'src/client/README.md',
  'src/client/python/README.md',
  'src/processor/DEVELOPING.md',
  'gateway/DEVELOPING.md',
  ...partnerGuideFiles(),
  ...guidePages().map(({ path }) => path),
].concat(
  [
    'src/operations',
    'src/deploy',
    'gateway',
    'protos',
    'src',
    'src/rails',
    'actors',
    'test/load',
  ].map((m) => `${m}/README.md`),
)
const FRONT_PAGE_LINES_MAX = 150

t.test('the pages made from the settings are current', async (t) => {
  t.equal(textOf('src/SETTINGS.md'), settingsPage(), 'make settings')
  t.equal(textOf('.env.example'), envExample(), 'make settings')
  const grouped = Object.values(SETTINGS_GROUPS).flat()
  t.same([...grouped].sort(), Object.keys(SETTINGS).sort(), 'each setting is in exactly one group')
})

t.test('the page of metrics is current, and the guides name families of the code', async (t) => {
  t.equal(textOf('src/METRICS.md'), metricsPage(), 'make metrics')
  for (const guide of GUIDES.filter((each) => each !== 'CHANGELOG.md')) {
    for (const [, name = ''] of textOf(guide).matchAll(/`(causeway_[a-z0-9_]+)[`{]/g)) {
      if (!/^causeway_pools?$/.test(name)) t.ok(Object.hasOwn(FAMILIES, name), `${guide}: ${name}`)
    }
  }
})

t.test('the front page has at most 150 lines', async (t) => {
  t.ok(textOf('README.md').split('\n').length <= FRONT_PAGE_LINES_MAX + 1)
})

t.test('every make target in a guide exists', async (t) => {
  const targets = new Set(
    [...textOf('Makefile').matchAll(/^([a-z][a-z-]*):/gm)].map(([, name]) => name),
  )
  for (const guide of GUIDES) {
    for (const [, name] of textOf(guide).matchAll(/(?:^|`)make ([a-z][a-z-]*)/gm)) {
      t.ok(targets.has(name), `${guide}: make ${name}`)
    }
  }
})

t.test('every page and section that a guide links to exists', async (t) => {
  for (const guide of GUIDES) {
    for (const [, link = ''] of textOf(guide).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(link)) continue
      const [file = '', section] = link.split('#')
      const target = file === '' ? guide : join(dirname(guide), file)
      t.ok(existsSync(join(projectRoot(), target)), `${guide}: ${link}`)
      if (section !== undefined) {
        t.ok(sectionsOf(textOf(target)).includes(section), `${guide}: ${link}`)
      }
    }
  }
})

/** The anchors of the headings, as Markdown renderers make them. */
const sectionsOf = (page: string): readonly string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^a-z0-9 _-]/g, '')
      .replaceAll(' ', '-'),
  )

t.test("every file in the developers' page exists", async (t) => {
  const page = textOf('src/README.md')
  const paths = page.match(/\b(?:[a-z_]+\/)+[a-z_]+\.(?:ts|proto|sh)\b/g) ?? []
  t.ok(paths.length > 20)
  for (const path of paths) {
    const candidates = ['', 'src', 'src/processor'].map((folder) =>
      join(projectRoot(), folder, path),
    )
    t.ok(candidates.some(existsSync), path)
  }
})

t.test("every command in the operators' guide exists", async (t) => {
  const known = COMMANDS.map(({ usage }) => usage.replace(/ \[?[A-Z].*$/, ''))
  const named = [...wholeGuide().matchAll(/make ops ARGS="([a-z][^"]*)"/g)].map(
    ([, words = '']) => words,
  )
  t.ok(named.length > 30)
  for (const words of named) {
    t.ok(
      known.some((command) => words === command || words.startsWith(`${command} `)),
      words,
    )
  }
})

t.test('the table of changes that need a second operator is that of the code', async (t) => {
  const page = guidePage('A second operator').text
  const rows = [...page.matchAll(/^\| (.+) \| (.+) \|$/gm)].map(([, change, from]) => [
    change,
    from,
  ])
  const inCode = Object.values(GUARDED_CHANGES).map(({ change, from }) => [change, from])
  t.same(rows, [['change', 'from which amount'], ...inCode])
})

t.test(
  'every error code is in the guide of partners or of operators, with its status',
  async (t) => {
    const guides = [partnerGuidePage('errors'), guidePage('Error codes').text]
    const rows = guides.flatMap((guide) => [
      ...guide.matchAll(/^\| `([a-z_]+)` \| ([0-9]{3}) \|/gm),
    ])
    const documented = Object.fromEntries(rows.map(([, code = '', http]) => [code, Number(http)]))
    const registry = Object.fromEntries(
      Object.entries(ERRORS).map(([code, { http }]) => [code, http]),
    )
    t.same(documented, registry)
  },
)

t.test('the newest section of the changelog is the version of the package', async (t) => {
  const { version } = JSON.parse(textOf('package.json')) as { version: string }
  t.equal(/^## \[([0-9][^\]]*)\]/m.exec(textOf('CHANGELOG.md'))?.[1], version)
})
