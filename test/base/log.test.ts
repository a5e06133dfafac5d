/** What reaches a log by mistake does not reach its lines. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'

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
