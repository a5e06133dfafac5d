/** What a process said last, as the supervisor repeats it. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  rmSync,
  statSync,
  writeFileSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLogFile } from '../../src/supervisor/log_file.js'

function logAfter(folder: string, text: string): string {
  const path = join(folder, 'a.log')
  const log = openLogFile(path)
  appendFileSync(path, text)
  const words = log.lastWords()
  closeSync(log.descriptor)
  return words
}

t.test('the last line of plain text', async (t) => {
  t.equal(logAfter(t.testdir(), 'one\ntwo\n'), 'two')
})

t.test('a file that was taken away says nothing', async (t) => {
  const path = join(t.testdir(), 'a.log')
  const log = openLogFile(path)
  rmSync(path)
  t.equal(log.lastWords(), '')
  log.close()
})

t.test('a JSON line is reduced to what it says', async (t) => {
  const line = '{"level":60,"msg":"the journal can not be written","err":{"message":"disk full"}}\n'
  t.equal(logAfter(t.testdir(), line), 'the journal can not be written: disk full')
})

t.test('an uncaught error is told by its message, not by its stack', async (t) => {
  const crash = `file:///main.js:3
    throw new Error('no such table')
          ^

Error: no such table
    at main (file:///main.js:3:11)
    at node:internal/main:1:1

Node.js v20.20.2
`
  t.equal(logAfter(t.testdir(), crash), 'no such table')
})

t.test('an error with details too', async (t) => {
  const crash = `[Error: SQLITE_ERROR: no such column: x] {
  errno: 1,
  code: 'SQLITE_ERROR'
}

Node.js v20.20.2
`
  t.equal(logAfter(t.testdir(), crash), 'SQLITE_ERROR: no such column: x')
})

t.test('what stood there before this run is not repeated', async (t) => {
  const folder = t.testdir({ 'a.log': 'of a former run\n' })
  t.equal(logAfter(folder, ''), '')
})

t.test('a file above its bound is put aside', async (t) => {
  const path = join(t.testdir(), 'a.log')
  writeFileSync(path, '')
  truncateSync(path, 65 * 1024 * 1024)
  const log = openLogFile(path)
  closeSync(log.descriptor)
  t.equal(statSync(path).size, 0)
  t.ok(existsSync(`${path}.old`))
})
