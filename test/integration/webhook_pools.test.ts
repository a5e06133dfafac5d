/** Two webhook pools share the events: one list for partners, also while one pool is killed. */
import t from 'tap'
import { assertCleanAudit } from '../support/audit.js'
import { rawPool } from '../support/books.js'
import { eventually } from '../support/eventually.js'
import { wholeList } from '../support/pages.js'
import { tempFolder } from '../support/temp_folder.js'
import { payBoth, receivedBy, untilReceived } from './paid_events.js'
import type { TestReceiver } from '../support/receiver.js'
import { startStack } from '../support/stack.js'

const PAGE = 20

interface Listed {
  readonly event_id: string
  readonly status: string
  readonly attempts: readonly unknown[]
}

const settings = { RAIL_DELAY_MS: '20', WEBHOOK_POOLS: '2' }
const stack = await startStack({ t, dataDir: tempFolder(t), settings })
const { partner } = stack
const receivers = [await stack.receiver(), await stack.receiver()] as const

/** The events that every receiver must get: `entity type`. */
const expected = new Set<string>()
let payments = 0

async function payAll(count: number): Promise<void> {
  const one = () => payBoth(partner, `pools ${++payments}`, expected)
  await Promise.all(Array.from({ length: count }, one))
}

const untilAllAreReceived = async (): Promise<void> => {
  for (const receiver of receivers) await untilReceived(receiver, expected)
}

const deliveriesOf = ({ endpointId }: TestReceiver): Promise<Listed[]> =>
  wholeList(partner, `/v1/webhook_endpoints/${endpointId}/deliveries?limit=${PAGE}`)

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
