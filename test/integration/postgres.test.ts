/** A stack with books and webhook pools in its own PostgreSQL server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { untilStatus } from '../support/payments.js'
import { requirePostgres } from '../support/postgres_server.js'
import { processesIn, startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { payBoth, receivedBy, untilReceived } from './paid_events.js'

requirePostgres(t)

/** Started here, independent of the store of the test run. */
const OWN = { STORE: 'postgres', STORE_URL: '', SHARD: 'books_1', WEBHOOK_POOL_SCHEMA: 'pool' }

t.test('payments complete although the server is killed', async (t) => {
  const dataDir = tempFolder(t)
  const settings = { ...OWN, RAIL_DELAY_MS: '50', WEBHOOK_POOLS: '2' }
  const stack = await startStack({ t, dataDir, settings })
  const { partner } = stack
  const receiver = await stack.receiver()
  const expected = new Set<string>()
  const paid: (readonly [payout: string, intent: string])[] = []
  const pay = async (key: string): Promise<void> =>
    void paid.push(await payBoth(partner, key, expected))
  const untilComplete = async (): Promise<void> => {
    for (const [payout, intent] of paid) {
      await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
      await untilStatus(partner, `/v1/payment_intents/${intent}`, 'captured')
    }
    await untilReceived(receiver, expected)
  }

  await pay('before')
  await untilComplete()
  for (let kills = 1; kills <= 2; kills++) {
    await Promise.all([1, 2, 3].map((number) => pay(`kill ${kills} ${number}`)))
    const pid = stack.pidOf('processor')
    stack.kill('postgres')
    const processes = () => processesIn(join(dataDir, 'run.json'))
    await eventually('the processor has ended', () => processes()['processor']?.pid !== pid)
    await stack.untilServing()
  }
  await pay('after')
  await untilComplete()
  t.same(receivedBy(receiver), expected, 'no other events')
  t.ok(receiver.deliveries.every(({ verdict }) => verdict !== 'wrong_signature'))
  for (const name of [FILES.processorDatabase, FILES.webhookDatabase])
    t.notOk(existsSync(join(dataDir, name)), `${name} is in PostgreSQL`)

  const { clean, report } = await auditOf(dataDir, OWN)
  t.ok(clean, report)
  t.match(report, /^ok +settled_events_are_final/m)
  t.match(report, /^ok +pool_events_match/m)
  t.notMatch(report, 'not audited')
  t.equal(await stack.stop(), 0)
  const stopped = await auditOf(dataDir, OWN)
  t.ok(stopped.clean, stopped.report)
  t.notMatch(stopped.report, 'not audited')
  t.notOk(existsSync(join(dataDir, 'postgres/postmaster.pid')), 'its server has stopped')
})
