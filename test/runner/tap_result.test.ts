/** What the runner counts in the output of a test file. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readTap } from './tap_result.js'

const OUTPUT = `TAP version 14
# Subtest: a subtest
    ok 1 - one
    ok 2 - two
    not ok 3 - three
    1..3
not ok 1 - a subtest
ok 2 - another # SKIP no server
ok 3 - a file # SKIP SQLite only: its pages
1..3
`

t.test('skipped tests are not passed', async (t) => {
  const tap = readTap()
  tap.write(OUTPUT)
  const { passed, skipped, notApplicable, failures } = await tap.end()
  t.equal(passed, 2)
  t.same(skipped, ['another: no server'])
  t.same(notApplicable, ['a file: SQLite only: its pages'])
  t.match(failures, [/^ {4}not ok: a subtest > three/])
})

t.test('truncated output fails', async (t) => {
  const tap = readTap()
  tap.write('TAP version 14\nok 1 - one\n')
  t.same((await tap.end()).failures, ['the output is truncated'])
})

t.test('a failure names a line of the source', async (t) => {
  const fileName = relative('', fileURLToPath(import.meta.url))
  const lineNumber = lineOf('t.test(', fileName)
  const diagnosis = { at: { fileName, lineNumber, columnNumber: 1 } }
  const tap = readTap()
  tap.write(`TAP version 14\nnot ok 1 - one\n  ---\n  ${JSON.stringify(diagnosis)}\n  ...\n1..1\n`)
  const source = fileName.replace(/^\.build\/(.*)\.js$/, '$1.ts')
  const line = lineOf('t.test(', source)
  t.not(line, lineNumber)
  t.same((await tap.end()).failures, [`    not ok: one\n    at ${source}:${line}:1`])
})

/** The number of the first line with a text. */
const lineOf = (text: string, file: string): number =>
  readFileSync(file, 'utf8').split(text)[0]?.split('\n').length ?? 0
