/** What the runner counts in the output of a test file. */
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
