/** A stack with books and webhook pools in its own PostgreSQL server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MINUTE } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { requirePostgres } from '../support/postgres_server.js'
import { processesIn, startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

requirePostgres(t)

/** Started here, independent of the store of the test run. */
const OWN = { STORE: 'postgres', STORE_URL: '', SHARD: 'books_1', WEBHOOK_POOL_SCHEMA: 'pool' }
const OF_A_PAYOUT = ['payout.completed', 'payout.created', 'payout.processing']
const OF_AN_INTENT = ['payment_intent.captured']

interface Event {
  readonly type: string
  readonly data: {
    readonly payout?: { readonly id: string }
    readonly payment_intent?: { readonly intent_id: string }
  }
}

t.setTimeout(0)

t.test('payments complete although the server is killed', async (t) => {
  const dataDir = tempFolder(t)
  const settings = { ...OWN, RAIL_DELAY_MS: '50', WEBHOOK_POOLS: '2' }
  const stack = await startStack({ t, dataDir, settings })
  const { partner } = stack
  const receiver = await stack.receiver()
  /** `entity type` */
  const expected = new Set<string>()
  const received = (): Set<string> =>
    new Set(
      [...receiver.events.values()].map(({ body }) => {
        const { type, data } = JSON.parse(body.toString()) as Event
        return `${data.payout?.id ?? data.payment_intent?.intent_id} ${type}`
      }),
    )
  const payBoth = async (key: string): Promise<void> => {
    const [payout, { id }] = await Promise.all([payOut(partner, key), payByQr(partner, key)])
    for (const type of OF_A_PAYOUT) expected.add(`${payout} ${type}`)
    for (const type of OF_AN_INTENT) expected.add(`${id} ${type}`)
  }
  const untilComplete = async (): Promise<void> => {
    const ids = new Set([...expected].map((each) => each.split(' ')[0] ?? ''))
    for (const id of ids) {
      const isPayout = id.startsWith('pout')
      await untilStatus(
        partner,
        isPayout ? `/v1/payouts/${id}` : `/v1/payment_intents/${id}`,
        isPayout ? 'completed' : 'captured',
      )
    }
    const allArrived = (): boolean => {
      const now = received()
      return [...expected].every((each) => now.has(each))
    }
    // What a pool had not acknowledged before it ended is sent again by the bus, and asked about.
    await eventually('all events arrive', allArrived, MINUTE)
  }

  await payBoth('before')
  await untilComplete()
  for (let kills = 1; kills <= 2; kills++) {
    await Promise.all([1, 2, 3].map((number) => payBoth(`kill ${kills} ${number}`)))
    const pid = stack.pidOf('processor')
    stack.kill('postgres')
    const processes = () => processesIn(join(dataDir, 'run.json'))
    await eventually('the processor has ended', () => processes()['processor']?.pid !== pid)
    await stack.untilServing()
  }
  await payBoth('after')
  await untilComplete()
  t.same(received(), expected, 'no other events')
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
