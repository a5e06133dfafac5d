/** Log lines: their schema, the redaction of secrets, readers that are gone or stand still. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createLog, type Logger } from '../../src/base/log.js'
import { projectRoot } from '../../src/base/project_root.js'
import { eventually } from '../support/eventually.js'

const SECRETS = [
  'authorization',
  'session_token',
  'receipt_token',
  'account_number',
  'qr_payload',
  'secret',
  'signing_secret',
]

t.test('secrets are redacted at the top and one level below', async (t) => {
  for (const [name, top, nested] of logged(SECRETS)) {
    t.equal(top, '[Redacted]', name)
    t.equal(nested, '[Redacted]', `*.${name}`)
  }
})

t.test('other fields are logged', async (t) => {
  t.strictSame(logged(['endpoint']), [['endpoint', 'shown', 'shown']])
})

/** Each name with the values that a child process logs for it. */
function logged(names: readonly string[]): (readonly [string, unknown, unknown])[] {
  const file = join(projectRoot(), '.build/src/base/log.js')
  const script = `import { createLog } from '${file}'
    const log = createLog('test', { LOG_LEVEL: 'info' })
    for (const name of ${JSON.stringify(names)}) {
      log.info({ [name]: 'shown', call: { [name]: 'shown' } })
    }`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script])
  const lines = output.toString().trim().split('\n')
  return names.map((name, i) => {
    const line = JSON.parse(lines[i] ?? '{}') as Record<string, unknown>
    return [name, line[name], (line['call'] as Record<string, unknown>)[name]] as const
  })
}

t.test('a line has the schema of all processes', async (t) => {
  const fault = Object.assign(new TypeError('disk full'), { code: 'ENOSPC', metadata: 'a token' })
  const [line = '', ...more] = linesOf((log) => log.warn({ entity_id: 'pi_1', error: fault }, 'no'))
  t.strictSame(more, [])
  const { time, error, ...rest } = JSON.parse(line) as Record<string, unknown>
  t.equal(new Date(String(time)).toISOString(), time)
  t.strictSame(rest, { level: 'warn', process: 'test', entity_id: 'pi_1', message: 'no' })
  const { stack, ...named } = error as Record<string, unknown>
  t.strictSame(named, { type: 'TypeError', message: 'disk full', code: 'ENOSPC' })
  t.match(stack, /log\.test/)
})

t.test('a thrown value that is not an Error keeps its text', async (t) => {
  const [line = ''] = linesOf((log) => log.error({ error: 'gone' }, 'failed'))
  t.match(JSON.parse(line), { error: { message: 'gone' } })
})

t.test('LOG_FORMAT=pretty: one line, and the stack below it', async (t) => {
  const fault = new Error('disk full')
  fault.stack = 'Error: disk full\n    at write (file.js:1:2)'
  const lines = linesOf((log) => {
    log.info({ port: 8080, reason: 'a b' }, 'serving')
    log.fatal({ error: fault, endpoint_id: 'we_1' }, 'stopped')
  }, 'pretty')
  const shown = lines.map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/, 'TIME'))
  t.strictSame(shown, [
    'TIME INFO  test: serving port=8080 reason="a b"\n',
    'TIME FATAL test: stopped (disk full) endpoint_id=we_1\n    at write (file.js:1:2)\n',
  ])
})

function linesOf(write: (log: Logger) => void, LOG_FORMAT: 'json' | 'pretty' = 'json'): string[] {
  const lines: string[] = []
  write(createLog('test', { LOG_LEVEL: 'info', LOG_FORMAT }, { write: (line) => lines.push(line) }))
  return lines
}

t.test('every field of a log call in the sources is in snake_case', async (t) => {
  const calls = sourceFiles().flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(LOG_CALL)].map(([, fields = '']) => ({ path, fields })),
  )
  t.ok(calls.length > 30, 'log calls are found')
  for (const { path, fields } of calls) {
    const names = fields.split(',').map((field) => field.split(':')[0]?.trim() ?? '')
    t.same(
      names.filter((name) => !/^(?:[a-z][a-z0-9_]*|)$/.test(name)),
      [],
      path,
    )
  }
})

const LOG_CALL = /\blog\.(?:debug|info|warn|error|fatal)\(\s*\{([^{}]*)\}/g

const sourceFiles = (): readonly string[] =>
  ['src', 'gateway', 'actors'].flatMap((folder) =>
    readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(projectRoot(), folder, name)),
  )

t.test('a process ends when its output pipe is closed', async (t) => {
  const log = join(projectRoot(), '.build/src/base/log.js')
  const child = `
    import { createLog } from '${log}'
    const log = createLog('a', { LOG_LEVEL: 'info' })
    process.on('disconnect', () => {
      for (let i = 0; i < 1000; i++) log.info({ i }, 'a line')
      process.exit(0)
    })
    process.send(process.pid)`
  const parent = `
    import { spawn } from 'node:child_process'
    const child = spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(child)}], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    child.on('message', (pid) => console.log(pid))`
  const started = spawn(process.execPath, ['--input-type=module', '-e', parent])
  const pid = await new Promise<number>((resolve) =>
    started.stdout.once('data', (text: Buffer) => resolve(Number(text.toString()))),
  )
  started.kill('SIGKILL')
  await eventually('the child has ended', () => !isAlive(pid))
  t.pass('the process ended')
})

for (const kind of ['socket', 'FIFO'] as const) {
  t.test(`a process exits with its code while nothing reads its output, a ${kind}`, async (t) => {
    const script = `
      import { createLog } from '${join(projectRoot(), '.build/src/base/log.js')}'
      const log = createLog('a', { LOG_LEVEL: 'info' })
      for (let i = 0; i < 1000; i++) log.info({ text: 'x'.repeat(1000) }, 'a line')
      setTimeout(() => {
        log.fatal('deposed')
        log.flush(() => process.exit(71))
      }, 50)`
    const output = kind === 'socket' ? 'pipe' : fifoIn(t.testdir())
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', output, 'inherit'],
    })
    t.teardown(() => {
      child.kill('SIGKILL')
      if (output !== 'pipe') closeSync(output)
    })
    await eventually('the process has ended', () => child.exitCode !== null)
    t.equal(child.exitCode, 71)
  })
}

t.test('lines beyond what waits for a reader are lost and counted', async (t) => {
  const written = 18_000
  const script = `
    import { createLog } from '${join(projectRoot(), '.build/src/base/log.js')}'
    const log = createLog('a', { LOG_LEVEL: 'info' })
    for (let i = 0; i < ${written}; i++) log.info({ text: 'x'.repeat(1000) }, 'a line')
    process.send('written')
    process.on('message', () => process.disconnect())`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const last = await eventually('the loss is told', () => /\{[^{]*"lost":.*\n/.exec(output)?.[0])
  const told = JSON.parse(last) as { readonly level: string; readonly lost: number }
  t.match(told, { level: 'warn', message: 'log lines were lost: nothing read them' })
  t.equal(output.split('\n').length - 2 + told.lost, written, 'every other line was read')
  t.ok(Buffer.byteLength(output) < 20 * 1024 * 1024, 'a bounded number of bytes waited')
  child.send('end')
  await once(child, 'exit')
})

/** Full after 64 KiB. @returns a descriptor for both ends */
function fifoIn(folder: string): number {
  const path = join(folder, 'output')
  execFileSync('mkfifo', [path])
  return openSync(path, 'r+')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
