/** Two webhook pools share the events: one list for partners, also while one pool is killed. */
import t from 'tap'
import { MINUTE } from '../../src/base/clock.js'
import { assertCleanAudit } from '../support/audit.js'
import { rawPool } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { payByQr, payOut } from '../support/payments.js'
import { receiverOf, type TestReceiver } from '../support/receiver.js'
import { startStack } from '../support/stack.js'

const PAGE = 20
const OF_A_PAYOUT = ['payout.completed', 'payout.created', 'payout.processing']
const OF_AN_INTENT = ['payment_intent.captured']

interface Listed {
  readonly data: readonly {
    readonly event_id: string
    readonly status: string
    readonly attempts: readonly unknown[]
  }[]
  readonly next_cursor: string | null
}
interface Event {
  readonly type: string
  readonly data: {
    readonly payout?: { readonly id: string }
    readonly payment_intent?: { readonly intent_id: string }
  }
}

t.setTimeout(0)
const settings = { RAIL_DELAY_MS: '20', WEBHOOK_POOLS: '2' }
const stack = await startStack({ t, dataDir: tempFolder(t), settings })
const { partner } = stack
const receivers = [await receiverOf(partner), await receiverOf(partner)] as const
t.teardown(() => Promise.all(receivers.map((receiver) => receiver.close())))

/** The events that every receiver must get: `entity type`. */
const expected = new Set<string>()
let payments = 0

async function payAll(count: number): Promise<void> {
  const one = async (): Promise<void> => {
    const key = `pools ${++payments}`
    const payout = await payOut(partner, key)
    for (const type of OF_A_PAYOUT) expected.add(`${payout} ${type}`)
    const { id } = await payByQr(partner, key)
    for (const type of OF_AN_INTENT) expected.add(`${id} ${type}`)
  }
  await Promise.all(Array.from({ length: count }, one))
}

function receivedBy({ events }: TestReceiver): Set<string> {
  const all = [...events.values()].map(({ body }) => JSON.parse(body.toString()) as Event)
  return new Set(
    all.map(({ type, data }) => `${data.payout?.id ?? data.payment_intent?.intent_id} ${type}`),
  )
}

const untilAllAreReceived = async (): Promise<void> => {
  for (const receiver of receivers) {
    const haveArrived = (): boolean => {
      const received = receivedBy(receiver)
      return [...expected].every((each) => received.has(each))
    }
    // What a pool had not acknowledged before it ended is sent again by the bus, and asked about.
    await eventually('all events arrive', haveArrived, MINUTE)
  }
}

async function deliveriesOf({ endpointId }: TestReceiver): Promise<Listed['data']> {
  const all: Listed['data'][number][] = []
  for (let cursor = ''; ;) {
    const path = `/v1/webhook_endpoints/${endpointId}/deliveries?limit=${PAGE}${cursor}`
    const { data, next_cursor } = (await partner.request('GET', path)).body as Listed
    all.push(...data)
    if (next_cursor === null) return all
    cursor = `&cursor=${next_cursor}`
  }
}

/** Ids of the events in a pool's database. */
async function eventsOf(pool: number): Promise<readonly string[]> {
  const books = await rawPool(stack.dataDir, pool)
  const rows = await books.all<{ id: string }>(
    "SELECT id FROM events WHERE type <> 'payment_intent.authorized'",
  )
  await books.close()
  return rows.map(({ id }) => id)
}

t.test('deliveries of both pools are in one list, and a resend reaches either pool', async (t) => {
  await payAll(8)
  const shares = await eventually('both pools have events', async () => {
    const both = [await eventsOf(1), await eventsOf(2)] as const
    if (both.every((ids) => ids.length > 0)) return both
    await payAll(1)
    return false
  })
  await untilAllAreReceived()
  for (const receiver of receivers) {
    const listed = await eventually('all are delivered', async () => {
      const all = await deliveriesOf(receiver)
      return (
        all.length === expected.size && all.every(({ status }) => status === 'delivered') && all
      )
    })
    const ids = listed.map((each) => each.event_id)
    t.same(ids, [...ids].sort().reverse(), 'newest first')
    t.same(new Set(ids), new Set([...(await eventsOf(1)), ...(await eventsOf(2))]))
    t.ok(shares.every((share) => share.some((id) => ids.includes(id))))
  }

  const [first] = receivers
  for (const [id = ''] of shares) {
    const resend = `/v1/events/${id}/resend`
    const { status } = await partner.request('POST', resend, { endpoint_id: first.endpointId })
    t.equal(status, 202)
    await first.until(
      'the resent event',
      ({ eventId, verdict }) => eventId === id && verdict === 'duplicate',
    )
    await eventually('both attempts are listed', async () => {
      const found = (await deliveriesOf(first)).find(({ event_id }) => event_id === id)
      return found?.status === 'delivered' && found.attempts.length === 2
    })
  }
})

t.test('all events are delivered although one pool is killed', async (t) => {
  const paying = payAll(10)
  const before = receivedBy(receivers[0]).size
  await eventually('some events arrive', () => receivedBy(receivers[0]).size > before + 3)
  stack.kill('webhooks-2')
  await paying
  await untilAllAreReceived()
  await stack.untilServing()
  for (const receiver of receivers) {
    t.same(receivedBy(receiver), expected, 'no other events')
    t.ok(receiver.deliveries.every(({ verdict }) => verdict !== 'wrong_signature'))
    await eventually('all are listed as delivered', async () => {
      const all = await deliveriesOf(receiver)
      return all.length === expected.size && all.every(({ status }) => status === 'delivered')
    })
  }
  t.equal(await stack.stop(), 0)
  const report = await assertCleanAudit(t, stack.dataDir)
  t.match(report, /^ok +settled_events_are_final/m)
  t.notMatch(report, 'not audited')
})
