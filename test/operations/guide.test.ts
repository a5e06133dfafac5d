/**
 * The operators' guide: every page is found by its task, and what the index and the code name
 * exists on the other side. Its commands are those of the CLI, and tests run them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { CHANGE } from '../../src/operations/cli/actor.js'
import type { AnyCommand } from '../../src/operations/cli/command.js'
import { readCommandLine } from '../../src/operations/command_line.js'
import { COMMANDS } from '../../src/operations/commands.js'
import { GUIDE_INDEX, guidePages } from '../support/operators_guide.js'

/** A page that needs more has two tasks. Generated tables are counted too. */
const PAGE_LINES_MAX = 120

const index = readFileSync(join(projectRoot(), GUIDE_INDEX), 'utf8')
const pages = guidePages()

/** Product code, with the parts of a text that are added to each other as one. */
const code = ['src', 'gateway', 'actors'].flatMap(filesIn).map(([path, text]) => ({
  path,
  text: text.replaceAll(/['`]\s*\+\s*['`]/g, ''),
}))
const allCode = code.map(({ text }) => text).join('\n')

t.test('every page is in the table of its task, once, by its title', async (t) => {
  const tasks = sectionOf('By task')
  const listed = [...tasks.matchAll(/^\| \[(.+)\]\((guide\/\S+\.md)\) \| .+ \|$/gm)]
  t.same(
    listed.map(([, title, path]) => `${path}: ${title}`).sort(),
    pages.map(({ path, title }) => `${relative('src/operations', path)}: ${title}`).sort(),
  )
  t.equal(new Set(pages.map(({ title }) => title)).size, pages.length, 'titles are distinct')
})

t.test('a page is short and begins with what it is about', async (t) => {
  for (const { path, text } of pages) {
    t.match(text, /^# .+\n\n[^#\s]/, path)
    t.ok(text.split('\n').length <= PAGE_LINES_MAX, path)
  }
})

t.test('every text of a log line and of /readyz that the index names is in the code', async (t) => {
  const logTexts = textsIn(sectionOf('From a log line'), 2)
  t.ok(logTexts.length > 30)
  for (const text of logTexts) t.ok(allCode.includes(text), text)
  const readyTexts = textsIn(sectionOf('From `/readyz`'), 1)
  t.ok(readyTexts.length > 10)
  for (const text of readyTexts) {
    const [member = '', value] = text.split(': ')
    t.ok(allCode.includes(member), text)
    if (value !== undefined) t.match(allCode, new RegExp(`['"]${value}['"]`), text)
  }
})

/** Texts of a call such as `log.error({ … }, 'text')`, up to the end of its line or of the call. */
const LOUD_LINE =
  /\b[lL]og\.(?:warn|error|fatal)\(\s*(?:\{[^}]*\}|[\w(), ]+),\s*(?:'([^']+)'|"([^"]+)")/g

t.test('the index has every line of level warn and above', async (t) => {
  const listed = textsIn(sectionOf('From a log line'), 2)
  const lines = code.flatMap(({ path, text }) =>
    [...text.matchAll(LOUD_LINE)].map(([, one, other]) => ({ path, line: one ?? other ?? '' })),
  )
  t.ok(lines.length > 90)
  for (const { path, line } of lines) {
    t.ok(
      listed.some((text) => line.startsWith(text) || text.startsWith(line)),
      `${path}: ${line}`,
    )
  }
})

t.test('every page that the code names exists', async (t) => {
  const titles = new Set(pages.map(({ title }) => title))
  const named = code.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => /\bguide\b/.test(line))
      .flatMap((line) =>
        [...line.matchAll(/"([A-Z][A-Za-z ]+)"/g)].map(([, title = '']) => ({ path, title })),
      ),
  )
  t.ok(named.length >= 4)
  for (const { path, title } of named) t.ok(titles.has(title), `${path}: ${title}`)
  const files = allCode.match(/\boperations\/guide\/[a-z0-9-]+\.md/g) ?? []
  t.ok(files.length > 0)
  for (const file of files)
    t.ok(
      pages.some(({ path }) => path === `src/${file}`),
      file,
    )
})

/** Commands in these files are read and not run. */
const PARSED_ONLY = new Set([
  'test/operations/guide.test.ts',
  'test/operations/command_line.test.ts',
])

/** The tests, without their imports. */
const testsText = filesIn('test')
  .filter(([path]) => !PARSED_ONLY.has(path))
  .map(([, text]) => text.replaceAll(/^import [^;]*? from '[^']+'$/gm, ''))
  .join('\n')

const nameOf = ({ usage }: AnyCommand): string => {
  const [first = '', second = ''] = usage.split(' ')
  return /^[a-z]/.test(second) ? `${first} ${second}` : first
}

/** As arguments, at the start of a text, or as the command in the code. */
function runsOf(name: string): RegExp {
  const typed = name
    .split(' ')
    .map((word) => `'${word}'`)
    .join(',\\s+')
  const inCode = name.replaceAll(/[ -]([a-z])/g, (_, first: string) => first.toUpperCase())
  return new RegExp(`${typed}|['"\`]${name}[ '"\`]|\\b${inCode}\\b`, 'g')
}

/** Tests type all commands of these pages. */
const isTyped = (title: string): boolean => testsText.includes(`commandsOf('${title}')`)

t.test('every command of the guide is one of the CLI, and a test runs it', async (t) => {
  let count = 0
  for (const { title, text: written } of pages) {
    const page = written.replaceAll(/\\\n\s*/g, '')
    for (const [, line = ''] of page.matchAll(/make ops ARGS="([^"…][^"]*)"/g)) {
      count += 1
      const words = [...line.replaceAll(/[[\]]/g, '').matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, plain = '']) => quoted ?? plain,
      )
      const parsed = readCommandLine(words)
      if ('help' in parsed) {
        t.fail(`${title}: ${line}`)
        continue
      }
      const name = nameOf(parsed.command)
      t.ok(isTyped(title) || runsOf(name).test(testsText), `${title}: no test runs ${name}`)
    }
  }
  t.ok(count > 100)
})

/** Every change of an operator takes these, in the same way. */
const OF_EVERY_CHANGE: readonly string[] = CHANGE
/** An option is this near to its command in the text of a test. */
const NEAR = 300

t.test('a test runs every command of the CLI, and each of its options', async (t) => {
  const typedPages = pages.filter(({ title }) => isTyped(title)).map(({ text }) => text)
  const tried = [testsText, ...typedPages].join('\n')
  let options = 0
  for (const command of COMMANDS) {
    const name = nameOf(command)
    const runs = [...tried.matchAll(runsOf(name))].map(({ index }) =>
      tried.slice(Math.max(0, index - NEAR), index + NEAR),
    )
    t.ok(runs.length > 0, `no test runs ${name}`)
    for (const option of command.options ?? []) {
      if (OF_EVERY_CHANGE.includes(option)) continue
      options += 1
      const given = new RegExp(`--${option}\\b|[{,\\s]'?${option}'?: `)
      t.ok(
        runs.some((run) => given.test(run)),
        `no test runs ${name} --${option}`,
      )
    }
  }
  t.ok(options > 50)
})

function sectionOf(title: string): string {
  const from = index.indexOf(`\n## ${title}\n`)
  t.ok(from > 0, title)
  const rest = index.slice(from + 1)
  return rest.slice(0, rest.indexOf('\n## ', 1) + 1 || undefined)
}

/** What is in backticks in this column of a table. */
const textsIn = (section: string, column: number): string[] =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...(line.split(' | ')[column - 1] ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, text = '']) => text)

function filesIn(folder: string): (readonly [path: string, text: string])[] {
  return readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => {
      const path = join(folder, name)
      return [path, readFileSync(join(projectRoot(), path), 'utf8')]
    })
}
