/**
 * Rules about the text of source files and the names of migrations.
 *
 * Does not own: imports (imports.test), what the compiler, the linter and the formatter check.
 */
import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { checkRules, file, isSource, linesWhere, type Rule } from './rules.js'

const WIDTH_MAX = 100
const LINES_MAX = 500
/** Generated. */
const LONG = ['src/client/api_types.ts']

/** The client stands alone, so it has defaults of its own for what callers may pass in. */
const CLIENT_SOURCES = ['connection', 'request', 'webhook_signing', 'webhooks'].map(
  (name) => `src/client/${name}.ts`,
)

/** Time, randomness and the environment, each with the files that may read it. */
const SOURCES: readonly (readonly [pattern: RegExp, adapters: readonly string[]])[] = [
  [/\bDate\.now\b|\bnew Date\(\)/, ['src/base/clock.ts', ...CLIENT_SOURCES]],
  [/\bMath\.random\b/, ['src/base/random.ts', ...CLIENT_SOURCES]],
  [/\bprocess\.env\b/, ['src/settings/settings_reader.ts', 'src/supervisor/environment.ts']],
]

/** Spelled in two parts because this file is checked too. */
const MARKS = new RegExp(
  ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].map((mark) => `\\b${mark}\\b`).join('|') +
    ['@ts-' + 'ignore', 'eslint-' + 'disable'].map((mark) => `|${mark}`).join('') +
    ['parse' + 'Float\\('].map((mark) => `|\\b${mark}`).join(''),
)

/** Imports are exempt: prettier does not wrap a single name. */
const narrow: Rule = (file) =>
  linesWhere(file, (line) => line.length > WIDTH_MAX && !/^import .* from '.*'$/.test(line))

const short: Rule = ({ path, text }) => {
  const lines = text.trimEnd().split('\n').length
  return lines > LINES_MAX && !LONG.includes(path) ? [`it has ${lines} lines`] : []
}

const unmarked: Rule = (file) => linesWhere(file, (line) => MARKS.test(line))

const introduced: Rule = ({ path, text }) =>
  isSource(path) && !text.startsWith('/**') ? ['it does not open with a header'] : []

const takesItsSources: Rule = (file) =>
  isSource(file.path)
    ? SOURCES.flatMap(([pattern, adapters]) =>
        adapters.includes(file.path) ? [] : linesWhere(file, (line) => pattern.test(line)),
      )
    : []

const FOLDERS_AND_FILES = new Set(
  ['src', 'actors', 'gateway', 'test']
    .flatMap((folder) => [
      folder,
      ...readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => join(folder, name),
      ),
    ])
    .flatMap((path) => endingsOf(path.replace(/\.\w+$/, ''))),
)

/** `src/qr/codec`: itself, `qr/codec` and `codec`. */
function endingsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, first) => parts.slice(first).join('/'))
}

/** A comment names another file in parentheses, by the end of its path. */
const namesFiles: Rule = ({ text }) =>
  [...text.matchAll(/\/\*\*.*?\*\/|\/\/[^\n]*/gs)]
    .flatMap(([comment]) => [
      ...comment.replaceAll(/\n\s*\*/g, ' ').matchAll(/\(([a-z]\w*(?:\/\w+)+)(?:\.ts)?[,)]/g),
    ])
    .flatMap(([, named = '']) => (FOLDERS_AND_FILES.has(named) ? [] : [`no file ${named}`]))

checkRules(t, {
  'a comment names files that exist': {
    rule: namesFiles,
    sample: {
      breaks: [
        file('src/a.ts', '// (base/' + 'gone)'),
        file('src/a.ts', '/** Not its port', ' * (base/' + 'gone). */'),
      ],
      keeps: [file('src/a.ts', '/** Its clock (base/clock). (1/2) */')],
    },
  },
  'lines are at most 100 columns wide': {
    rule: narrow,
    sample: {
      breaks: [file('src/a.ts', `const a = '${'x'.repeat(100)}'`)],
      keeps: [
        file('src/a.ts', 'x'.repeat(100)),
        file('src/a.ts', `import { A } from '${'x'.repeat(100)}'`),
      ],
    },
  },
  'files have at most 500 lines': {
    rule: short,
    sample: {
      breaks: [file('src/a.ts', ...Array<string>(501).fill('a()'))],
      keeps: [file('src/a.ts', ...Array<string>(500).fill('a()'), '')],
    },
  },
  'no open task and no suppressed warning is in the code': {
    rule: unmarked,
    sample: {
      breaks: [
        file('src/a.ts', '// TO' + 'DO later'),
        file('src/a.ts', '// eslint-' + 'disable-next-line'),
        file('test/a.ts', '// @ts-' + 'ignore'),
        file('src/a.ts', 'const amount = parse' + 'Float(text)'),
      ],
      keeps: [file('src/a.ts', '// what is left to the reader')],
    },
  },
  'a source file opens with a header': {
    rule: introduced,
    sample: {
      breaks: [file('src/a.ts', "import { a } from './b.js'")],
      keeps: [file('src/a.ts', '/** Owns a. */'), file('test/a.test.ts', "import t from 'tap'")],
    },
  },
  'time, randomness and the environment are arguments': {
    rule: takesItsSources,
    sample: {
      breaks: [
        file('src/store/a.ts', 'const now = Date.now()'),
        file('gateway/a.ts', 'const now = new Date()'),
        file('actors/a.ts', 'const jitter = Math.random()'),
        file('src/base/clock.ts', 'const port = process.env'),
      ],
      keeps: [
        file('src/base/clock.ts', 'const now = Date.now()'),
        file('src/store/a.ts', 'const at = new Date(given)'),
        file('test/a.test.ts', 'const now = Date.now()'),
      ],
    },
  },
})

t.test('migrations are numbered from 1 without a gap or a repetition', async (t) => {
  const files = ['src', 'actors'].flatMap((area) =>
    readdirSync(join(projectRoot(), area), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.sql'))
      .map((path) => join(area, path)),
  )
  const folders = new Set(files.map((path) => dirname(path)))
  t.ok(folders.size >= 5)
  for (const folder of folders) {
    const numbers = files
      .filter((path) => dirname(path) === folder)
      .map((path) => Number(basename(path).slice(0, 4)))
    t.same(
      numbers.sort((one, other) => one - other),
      numbers.map((_, n) => n + 1),
      folder,
    )
  }
})
