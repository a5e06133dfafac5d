/** What reaches a log by mistake does not reach its lines. */
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'
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

t.test('secrets are blotted out, alone and one level down', async (t) => {
  for (const [name, alone, within] of logged(SECRETS)) {
    t.equal(alone, '[Redacted]', name)
    t.equal(within, '[Redacted]', `*.${name}`)
  }
})

t.test('what is no secret is told', async (t) => {
  t.strictSame(logged(['endpoint']), [['endpoint', 'told', 'told']])
})

/** Each name with what a process of its own logs under it. */
function logged(names: readonly string[]): (readonly [string, unknown, unknown])[] {
  const file = join(projectRoot(), '.build/src/base/log.js')
  const script = `import { createLog } from '${file}'
    const log = createLog('test', { LOG_LEVEL: 'info' })
    for (const name of ${JSON.stringify(names)}) {
      log.info({ [name]: 'told', call: { [name]: 'told' } })
    }`
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', script])
  const lines = told.toString().trim().split('\n')
  return names.map((name, i) => {
    const line = JSON.parse(lines[i] ?? '{}') as Record<string, unknown>
    return [name, line[name], (line['call'] as Record<string, unknown>)[name]] as const
  })
}

t.test('a process ends when the reader of its output is gone', async (t) => {
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
  t.pass('it ended')
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
