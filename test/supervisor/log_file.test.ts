/** Log files: rotation, the last message, no loss at an exit. */
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { openLogFile } from '../../src/supervisor/log_file.js'
import { run } from '../../src/supervisor/program.js'

async function lastLineOf(folder: string, ...texts: string[]): Promise<string> {
  const log = openLogFile(join(folder, 'a.log'))
  for (const text of texts) log.write(text)
  await log.close()
  return log.lastLine()
}

t.test('the last message of plain text is its last line', async (t) => {
  t.equal(await lastLineOf(t.testdir(), 'one\ntw', 'o\n'), 'two')
  t.equal(await lastLineOf(t.testdir()), '')
})

t.test('a plain line counts before a warning that arrives after it', async (t) => {
  const warning = '{"level":"warn","message":"commits wait for no standby"}\n'
  t.equal(await lastLineOf(t.testdir(), warning), 'commits wait for no standby')
  t.equal(await lastLineOf(t.testdir(), 'no master key\n', warning), 'no master key')
  const node = '(node:7) DeprecationWarning: old\n'
  t.equal(await lastLineOf(t.testdir(), node, warning), 'commits wait for no standby')
  const fatal = '{"level":"fatal","message":"commit failed"}\n'
  t.equal(await lastLineOf(t.testdir(), 'no master key\n', fatal), 'commit failed')
})

t.test('a JSON line is reduced to its message and error', async (t) => {
  const line = '{"message":"the journal cannot be written","error":{"message":"disk full"}}\n'
  t.equal(await lastLineOf(t.testdir(), line), 'the journal cannot be written: disk full')
})

t.test('the rest of a line that was cut is no reason', async (t) => {
  const lines = Array.from(
    { length: 300 },
    (_, line) => `{"level":"info","message":"payment ${line}"}\n`,
  )
  const stopped = '{"level":"info","reason":"the shard moves to b","message":"stopped"}\n'
  for (let shift = 0; shift < 50; shift += 7) {
    const texts = [...lines, `{"level":"info","filler":"${'x'.repeat(shift)}"}\n`, stopped]
    t.equal(await lastLineOf(t.testdir(), ...texts), 'stopped: the shard moves to b')
  }
  t.equal(await lastLineOf(t.testdir(), `${'x'.repeat(20_000)}\n`), 'x'.repeat(600))
})

t.test('an uncaught error is reduced to its message', async (t) => {
  const crash = `file:///main.js:3
    throw new Error('no such table')
          ^

Error: no such table
    at main (file:///main.js:3:11)
    at node:internal/main:1:1

Node.js v20.20.2
`
  t.equal(await lastLineOf(t.testdir(), crash), 'no such table')
  const detailed = `[Error: SQLITE_ERROR: no such column: x] {
  errno: 1,
  code: 'SQLITE_ERROR'
}

Node.js v20.20.2
`
  t.equal(await lastLineOf(t.testdir(), detailed), 'SQLITE_ERROR: no such column: x')
})

t.test('lines of a former run stay in the file and are not repeated', async (t) => {
  const folder = t.testdir({ 'a.log': 'of a former run\n' })
  t.equal(await lastLineOf(folder), '')
  await lastLineOf(folder, 'new\n')
  t.equal(readFileSync(join(folder, 'a.log'), 'utf8'), 'of a former run\nnew\n')
})

t.test('a file above its bound is rotated', async (t) => {
  const path = join(t.testdir(), 'a.log')
  writeFileSync(path, '')
  truncateSync(path, 65 * 1024 * 1024)
  const log = openLogFile(path)
  log.write('new\n')
  await log.close()
  t.equal(readFileSync(path, 'utf8'), 'new\n')
  t.equal(statSync(path).mode & 0o077, 0, 'readable by its owner only')
  t.ok(existsSync(`${path}.1`))
})

t.test('a missing folder is no error', async (t) => {
  const log = openLogFile(join(t.testdir(), 'no', 'such', 'a.log'))
  log.write('lost\n')
  await log.close()
  t.equal(log.lastLine(), 'lost')
})

t.test('the last lines before an exit are kept', async (t) => {
  const path = join(t.testdir(), 'a.log')
  const script = `
    import { createLog } from '${join(projectRoot(), '.build/src/base/log.js')}'
    const log = createLog('a', { LOG_LEVEL: 'info' })
    for (let i = 0; i < 20000; i++) log.info({ i }, 'a line')
    log.fatal('the end')
    process.exit(3)`
  const ended = run(
    {
      command: process.execPath,
      arguments: ['--input-type=module', '-e', script],
      environment: {},
      readyWhen: () => undefined,
    },
    path,
  )
  t.equal(await ended.ended, 'exit code 3')
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  t.equal(lines.length, 20_001)
  t.match(JSON.parse(lines.at(-2) ?? ''), { i: 19_999 })
  t.equal(ended.lastLogLine(), 'the end')
})
