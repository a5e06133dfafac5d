/** Stack traces of programs: they name lines of the sources. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS_READ_BY } from '../../src/settings/setting_readers.js'
import { inSources } from '../../src/process/source_positions.js'

const inRoot = (file: string): string => join(projectRoot(), file)
const COMPILED = fileURLToPath(import.meta.url)
const SOURCE = inRoot('test/process/source_positions.test.ts')

/** A file, line and column as stack traces name them: the first place that has this text. */
function positionOf(text: string, file: string): string {
  const before = (readFileSync(file, 'utf8').split(text)[0] ?? '').split('\n')
  return `${file}:${before.length}:${(before.at(-1) ?? '').length + 1}`
}

t.test('positions in compiled files become those in the sources', async (t) => {
  const text = 't.test('
  const compiled = positionOf(text, COMPILED)
  const source = positionOf(text, SOURCE)
  t.not(compiled.replace(/.*?:/, ''), source.replace(/.*?:/, ''), 'they differ')
  t.equal(
    inSources(`Error: no\n    at f (file://${compiled})\n    at ${compiled}`),
    `Error: no\n    at f (${source})\n    at ${source}`,
  )
  t.equal(inSources(`at ${relative('', compiled)}`), `at ${relative('', source)}`)
})

t.test('what has no map stays as it is', async (t) => {
  for (const text of [
    'at f (file:///a/.build/missing.js:3:1)',
    `at g (${inRoot('node_modules/tap/dist/esm/main.js')}:3:1)`,
    'at node:internal/process/task_queues:95:5',
    'at new Promise (<anonymous>)',
  ]) {
    t.equal(inSources(text), text)
  }
})

/** The first two lines of a stack trace in a program that begins as those of a stack do. */
function stackOf(fault: string): readonly string[] {
  const script = `import { assert } from '${inRoot('.build/src/base/assert.js')}'
    import { reportStartupFaults } from '${inRoot('.build/src/process/startup_faults.js')}'
    reportStartupFaults()
    try { ${fault} } catch (error) { console.log(error.stack) }`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script])
  return output.toString().split('\n').slice(0, 2)
}

t.test('errors of a program name the sources, without an option of Node', async (t) => {
  const position = positionOf(
    'new Error(`broken invariant: ${what}`)',
    inRoot('src/base/assert.ts'),
  )
  t.same(stackOf("assert(false, 'no')"), [
    'Error: broken invariant: no',
    `    at assert (${position})`,
  ])
  const [head] = stackOf('Buffer.from(1)')
  t.match(head, /^TypeError \[ERR_INVALID_ARG_TYPE\]: The first argument/)
  t.same(
    stackOf('Error.captureStackTrace(globalThis.x = Object.create(null)); throw x')[0],
    'Error',
  )
})

t.test('every program of a stack begins so', async (t) => {
  const first = /\b(?:useSourcePositions|reportStartupFaults|openOwnProcess|runRail)\(/
  for (const main of Object.keys(SETTINGS_READ_BY)) {
    t.match(readFileSync(inRoot(main.replace(/\.js$/, '.ts')), 'utf8'), first, main)
  }
})
