/**
 * The books of a folder have a single writer: a second process is rejected, and a writer on a full
 * disk exits and recovers.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { assertCleanAudit } from '../support/audit.js'
import { rawBooks, sqliteOnly, storeSettings } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import type { HttpAnswer } from '../support/partner.js'
import { startProgram, type CliResult } from '../support/program.js'
import {
  payByQr,
  payOut,
  requestIntent,
  retryUntilFinal,
  untilStatus,
} from '../support/payments.js'
import { startSupervisedStack } from '../support/supervised_stack.js'
import { fullDisk } from './faults.js'

const stack = await startSupervisedStack({ RAIL_DELAY_MS: '50' }, t)
const { partner } = stack

/** A processor started without the supervisor. */
const secondProcessor = (): Promise<CliResult> =>
  startProgram('processor/main.js', [], {
    ...storeSettings(stack.dataDir),
    ...{ DATA_DIR: stack.dataDir, GRPC_PORT: '0', DOT_ENV: '' },
    ...{ RAIL_ADDRESS: 'unix:/nowhere', NATS_URL: 'nats://127.0.0.1:1' },
  }).ended

t.test('a second processor on the same folder is rejected', async (t) => {
  const { exitCode, out, err } = await secondProcessor()
  t.equal(exitCode, 1)
  t.match(out + err, / is in use by another process: stop that one first/)
  await stack.kill('processor')
  t.equal((await secondProcessor()).exitCode, 1, 'the restarted processor holds the lock')
  const id = await payOut(partner, 'also after a kill')
  t.ok(await untilStatus(partner, `/v1/payouts/${id}`, 'completed'))
})

const ONLY_SQLITE = { skip: sqliteOnly('a full disk under its file') }
/** A process that has ended had one. */
function hasFileLimit(pid: number): boolean {
  try {
    return /^Max file size +\d/m.test(readFileSync(`/proc/${pid}/limits`, 'utf8'))
  } catch {
    return true
  }
}

const KEYS = Array.from({ length: 40 }, (_, number) => `disk ${number}`)

t.test('a full disk stops the processor, which then recovers', ONLY_SQLITE, async (t) => {
  await payByQr(partner, 'before')
  const create = (key: string): Promise<HttpAnswer> =>
    requestIntent(partner, key, { partner_user_id: key })
  const before = stack.output().length
  const answers: (HttpAnswer | undefined)[] = []
  const pid = stack.pidOf('processor')
  const fault = fullDisk.cause(stack, createSeededRandom(1, 1))
  await eventually('no file can grow', () => hasFileLimit(pid))
  for (const key of KEYS) answers.push(await create(key).catch(() => undefined))
  await fault

  const output = stack.output().slice(before)
  // Node ignores the signal of the limit, but the test runner's preload ends the process by it,
  // unless the process is quicker to stop by itself.
  t.match(output, /processor ended \((exit code 70|signal SIGXFSZ)/)
  if (output.includes('exit code 70')) {
    t.match(stack.logOf('processor'), /commit failed with an unknown outcome/)
  }
  const refused = answers.filter((answer) => answer?.status === 503)
  t.ok(refused.length > 0, 'requests are rejected with 503')
  t.match(refused[0]?.body, { error: { code: 'configuration_error' } })
  t.ok(answers.every((answer) => answer?.status === 503 || answer?.status === 201))

  for (const [index, key] of KEYS.entries()) {
    const again = await retryUntilFinal(() => create(key))
    t.equal(again.status, 201)
    const first = answers[index]
    if (first?.status === 201) t.equal(again.text, first.text, 'an accepted request is stored')
  }
  const books = await rawBooks(stack.dataDir)
  const [row] = await books.all<{ n: number }>(
    `SELECT count(*) AS n FROM intents WHERE context ->> 'userId' LIKE 'disk %'`,
  )
  await books.close()
  t.equal(row?.n, KEYS.length, 'no request is stored twice')
  await assertCleanAudit(t, stack.dataDir)
})
