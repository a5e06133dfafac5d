/** A whole stack with a frozen bus that then loses its messages: every event is delivered. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { idIn, requestPayout, untilStatus } from '../support/payments.js'
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
    const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '50', WEBHOOK_POOLS: '2' } })
    const { partner } = stack
    const receiver = await stack.receiver()
    const payouts: string[] = []
    const pay = async (): Promise<void> => {
      const answer = await requestPayout(partner, `payout ${payouts.length}`)
      t.equal(answer.status, 202)
      const id = idIn(answer)
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

    await pay()
    await eventually('all events are delivered', hasAll)
    const before = delivered()
    stack.kill('nats', 'SIGSTOP')
    const status = `/proc/${stack.pidOf('nats')}/status`
    await eventually('the server is frozen', () =>
      /^State:\s+T/m.test(readFileSync(status, 'utf8')),
    )
    for (let count = 0; count < 5; count++) await pay()
    t.same(delivered(), before, 'no delivery while the bus is frozen')

    // While the server is frozen: the next one must not lose what it has written at its start.
    rmSync(join(stack.dataDir, FILES.natsStore), { recursive: true, force: true })
    stack.kill('nats')
    for (let count = 0; count < 5; count++) await pay()
    await eventually('all events are delivered', hasAll, SETTLED_WITHIN_MS)
    t.equal(delivered().size, payouts.length * TYPES.length, 'no other events')
    await stack.untilServing()
    await assertCleanAudit(t, stack.dataDir)
  },
)
