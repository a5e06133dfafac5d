/** The events of an endpoint, and its signing secrets. */
import t from 'tap'
import { signingKey } from '../../src/auth/signature.js'
import { instant, MINUTE } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { secretAt, subscribesTo } from '../../actors/webhook/endpoint/endpoint.js'
import { anEndpoint, TENANT } from './builders.js'

interface Changes {
  readonly tenant?: TenantId
  readonly createdAt?: number
  readonly receivedAt?: number
  readonly data?: object
}

const event = (
  type: string,
  { tenant = TENANT, createdAt = 100, receivedAt = createdAt, data = {} }: Changes = {},
) => ({
  tenant,
  type,
  createdAt: instant(createdAt),
  receivedAt: instant(receivedAt),
  body: JSON.stringify({ type, data }),
})

t.test('an endpoint gets the events it subscribes to', async (t) => {
  const everything = anEndpoint()
  t.ok(subscribesTo(everything, event('payout.created')))
  t.ok(subscribesTo(everything, event('payment_intent.captured')))
  t.notOk(subscribesTo(everything, event('payment_intent.authorized')), 'opt-in')
  const optedIn = anEndpoint({ enabledEvents: ['*', 'payment_intent.authorized'] })
  t.ok(subscribesTo(optedIn, event('payment_intent.authorized')))
  const one = anEndpoint({ enabledEvents: ['payout.failed'] })
  t.ok(subscribesTo(one, event('payout.failed')))
  t.notOk(subscribesTo(one, event('payout.completed')))
  t.notOk(
    subscribesTo(everything, event('payout.created', { tenant: 'demo_production' as TenantId })),
  )
})

t.test('a test event goes only to the endpoint that it names', async (t) => {
  const [one, other] = [anEndpoint({ enabledEvents: ['payout.failed'] }), anEndpoint()]
  const test = event('webhook_endpoint.test', { data: { webhook_endpoint: { id: one.id } } })
  t.ok(subscribesTo(one, test))
  t.notOk(subscribesTo(other, test), 'not to a wildcard subscriber')
  t.notOk(subscribesTo(other, event('webhook_endpoint.test')))
  t.notOk(subscribesTo({ ...one, status: 'deleted' }, test))
})

t.test('an event about an endpoint goes to the other endpoints', async (t) => {
  const [one, other] = [anEndpoint(), anEndpoint()]
  const narrow = anEndpoint({ enabledEvents: ['payout.failed'] })
  const disabled = event('webhook_endpoint.disabled', {
    data: { webhook_endpoint: { id: one.id } },
  })
  t.notOk(subscribesTo(one, disabled), 'also when it is enabled again')
  t.ok(subscribesTo(other, disabled))
  t.notOk(subscribesTo(narrow, disabled))
  const dead = event('webhook_endpoint.deliveries_dead', {
    data: { webhook_endpoint: { id: one.id } },
  })
  t.notOk(subscribesTo(one, dead))
  t.ok(subscribesTo(other, dead))
})

t.test('an endpoint gets nothing from before its creation or after its deletion', async (t) => {
  const endpoint = anEndpoint({ createdAt: instant(100) })
  t.ok(subscribesTo(endpoint, event('payout.created', { createdAt: 100 })))
  t.notOk(subscribesTo(endpoint, event('payout.created', { createdAt: 99 })))
  t.notOk(subscribesTo(anEndpoint({ status: 'deleted' }), event('payout.created')))
  t.ok(subscribesTo(anEndpoint({ status: 'disabled' }), event('payout.created')), 'held, not lost')
})

t.test('an endpoint of a clock that was far ahead gets the events of the right one', async (t) => {
  const endpoint = anEndpoint({ createdAt: instant(100 + 15 * MINUTE + 1) })
  t.ok(subscribesTo(endpoint, event('payout.created')))
  t.notOk(subscribesTo(endpoint, event('payout.created', { receivedAt: 101 })), 'clocks differ')
})

t.test('the newest active secret signs', async (t) => {
  const secret = (keyId: string, activeFrom: number) => ({
    keyId,
    key: signingKey(keyId),
    activeFrom: instant(activeFrom),
  })
  const endpoint = anEndpoint({ secrets: [secret('old', 0), secret('new', 500)] })
  t.equal(secretAt(endpoint, instant(499))?.keyId, 'old')
  t.equal(secretAt(endpoint, instant(500))?.keyId, 'new')
  const fresh = anEndpoint({ secrets: [secret('first', 500), secret('next', 600)] })
  t.equal(secretAt(fresh, instant(499))?.keyId, 'first', 'the clock of its processor is ahead')
  t.equal(secretAt(anEndpoint({ secrets: [] }), instant(1)), undefined)
})
