/**
 * The partner guide on a real stack: its programs, run as printed, make a payment and a payout and
 * verify a webhook. Its QR codes are valid.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readQr } from '../../src/qr/read.js'
import { CORRIDOR_NAMES, isCorridor } from '../../src/qr/corridor.js'
import { freePort } from '../../src/supervisor/ports.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { wholePartnerGuide } from '../support/partner_guide.js'
import { startStack } from '../support/stack.js'

const GUIDE = wholePartnerGuide()
const run = promisify(execFile)

/** The first program after this text in the guide. */
function programAfter(mark: string): string {
  const from = GUIDE.indexOf(mark)
  const [, program] = /```js\n(.*?)```/s.exec(from < 0 ? '' : GUIDE.slice(from)) ?? []
  if (program === undefined) throw new Error(`the guide has no program after ${mark}`)
  return program
}

t.setTimeout(0)

t.test('the programs of the guide run in their printed order, twice', async (t) => {
  const stack = await startStack({ t })
  const port = await freePort('127.0.0.1')
  const parts = ['## Quick start', '<!-- first payment -->', '<!-- first webhook -->']
  const whole = parts.map(programAfter).join('\n').replace('127.0.0.1:3000', `127.0.0.1:${port}`)
  const folder = t.testdir({
    'create.mjs': whole,
    'receiver.mjs': programAfter('<!-- receiver node -->'),
  })

  const env = { PATH: process.env['PATH'], SANDBOX: join(stack.dataDir, 'sandbox.json') }
  let stdout = ''
  // In a row: a sample that works only once is a puzzle for its reader.
  for (let time = 0; time < 2; time++) {
    stdout = (await run(process.execPath, [join(folder, 'create.mjs')], { env })).stdout
    for (const line of [/^201 /m, /200 authorized/, /status: 'captured'/, /202 processing/]) {
      t.match(stdout, line)
    }
    t.match(stdout, /status: 'completed'/)
  }

  const [, secrets = ''] = /^WEBHOOK_SECRETS='(.*)' node receiver\.mjs$/m.exec(stdout) ?? []
  const receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
    env: { PORT: String(port), WEBHOOK_SECRETS: secrets },
  })
  t.teardown(async () => {
    const ended = once(receiver, 'exit')
    receiver.kill('SIGKILL')
    await ended
  })
  let output = ''
  receiver.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(
    'the test event arrives',
    () => /^webhook_endpoint\.test evt_/m.test(output),
    60_000,
  )

  await assertCleanAudit(t, stack.dataDir)
})

t.test('the QR codes of the guide are valid', async (t) => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z_]+)` \| [^`]*`(000201[^`]+)` \|$/gm)]
  t.same([...new Set(rows.map(([, corridor]) => corridor))].sort(), [...CORRIDOR_NAMES].sort())
  for (const [, corridor = '', code = ''] of rows) {
    t.ok(isCorridor(corridor) && readQr(code, corridor).ok, corridor)
  }
})
