/** A whole stack with a frozen bus that then loses its messages: every event is delivered. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { partnerOf } from '../support/partner.js'
import { untilStatus } from '../support/payments.js'
import { receiverOf } from '../support/receiver.js'
import { aPayout } from '../support/requests.js'
import { startStack } from '../support/stack.js'

const TYPES = ['payout.created', 'payout.processing', 'payout.completed']
const SETTLED_WITHIN_MS = 60_000

interface PublishedEvent {
  readonly type: string
  readonly data: { readonly payout: { readonly id: string } }
}

t.test(
  'payouts continue without the bus, and every event is delivered after its return',
  async (t) => {
    const stack = await startStack({ settings: { RAIL_DELAY_MS: '50', WEBHOOK_POOLS: '2' } })
    t.teardown(() => stack.stop())
    const partner = partnerOf(stack.sandbox)
    const receiver = await receiverOf(partner)
    t.teardown(() => receiver.close())
    const payouts: string[] = []
    const payOut = async (): Promise<void> => {
      const { amount, currency, beneficiary, reference } = aPayout({ amount: '125000' })
      const body = { amount, currency, beneficiary, reference }
      const headers = { 'Idempotency-Key': `payout ${payouts.length}` }
      const answer = await partner.request('POST', '/v1/payouts', body, { headers })
      t.equal(answer.status, 202)
      const { id } = answer.body as { id: string }
      payouts.push(id)
      await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
    }
    const delivered = (): Set<string> =>
      new Set(
        [...receiver.events.values()].map(({ body }) => {
          const { type, data } = JSON.parse(body.toString()) as PublishedEvent
          return `${data.payout.id} ${type}`
        }),
      )
    const hasAll = (): boolean => {
      const all = delivered()
      return payouts.every((id) => TYPES.every((type) => all.has(`${id} ${type}`)))
    }

    await payOut()
    await eventually('all events are delivered', hasAll)
    const before = delivered()
    stack.kill('nats', 'SIGSTOP')
    const status = `/proc/${stack.pidOf('nats')}/status`
    await eventually('the server is frozen', () =>
      /^State:\s+T/m.test(readFileSync(status, 'utf8')),
    )
    for (let count = 0; count < 5; count++) await payOut()
    t.same(delivered(), before, 'no delivery while the bus is frozen')

    // While the server is frozen: the next one must not lose what it has written at its start.
    rmSync(join(stack.dataDir, FILES.natsStore), { recursive: true, force: true })
    stack.kill('nats')
    for (let count = 0; count < 5; count++) await payOut()
    await eventually('all events are delivered', hasAll, SETTLED_WITHIN_MS)
    t.equal(delivered().size, payouts.length * TYPES.length, 'no other events')
    await stack.untilServing()
    await assertCleanAudit(t, stack.dataDir)
  },
)
