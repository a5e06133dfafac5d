/** The limits of the gateway: each alone, and in a running gateway. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import type { Caller } from '../../gateway/http/caller.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import { createTrafficClass } from '../../gateway/admission/traffic_class.js'
import {
  createLimits,
  TENANT_IN_FLIGHT_MAX,
  type LimitName,
  type Limits,
} from '../../gateway/admission/limits.js'
import { eventually } from '../support/eventually.js'
import {
  bytesOf,
  call,
  createRequest,
  get,
  OTHER_KEY_ID,
  TENANT,
  twoPartners,
} from './signing_partner.js'
import { heldClock } from './held_clock.js'
import { openClient } from './open_client.js'
import { QUEUED_MAX, SUSTAINED_MS } from '../../gateway/admission/load_shedder.js'
import { startGateway } from './running_gateway.js'
import { accept, silence } from './processor_stub.js'

const NOW = instant(1_000_000)

function limitsOf(environment: Record<string, string>) {
  const names: LimitName[] = []
  const limits = createLimits({
    settings: readSettings(environment, ''),
    clientAddress: (request) => request.peer(),
    clock: { now: () => NOW },
    onLimited: (name) => names.push(name),
  })
  return { limits, names }
}

const TRAFFIC_CLASS = createTrafficClass('key')

/** A sustained queue with more requests arriving. */
function overload({ queue, overload }: Limits): void {
  for (let i = 0; i < QUEUED_MAX; i++) queue.enter(TRAFFIC_CLASS)
  for (const looks of [2, 1]) overload(instant(NOW - looks * SUSTAINED_MS), () => TRAFFIC_CLASS)
}

const decisionOf = ({ overload }: Limits): string => overload(NOW, () => TRAFFIC_CLASS)

const from = (peer: string): RequestContext => ({ peer: () => peer }) as unknown as RequestContext

const caller = (tenant: string, rateKey: string, ratePerSecond = 0): Caller => ({
  tenant: tenant as TenantId,
  signedBy: null,
  sessionJti: '',
  receiptSubject: '',
  rateKey,
  ratePerSecond,
})

t.test('each limit reports its name and rejects only its own caller', async (t) => {
  const { limits, names } = limitsOf({ RATE_LIMIT_PER_ADDRESS: '2', RATE_LIMIT_PER_SECOND: '1' })
  t.equal(limits.source(from('2001:db8::1')), null)
  t.equal(limits.source(from('2001:db8::2')), null)
  t.same(
    limits.source(from('2001:db8::3')),
    { limit: 2, retryAfter: 1 },
    'the network is one source',
  )
  t.equal(limits.source(from('2001:db9::1')), null)
  t.equal(limits.caller(caller('a', 'key 1')), null)
  t.same(limits.caller(caller('a', 'key 1')), { limit: 1, retryAfter: 1 })
  t.equal(limits.caller(caller('a', 'key 2')), null)
  t.equal(limits.caller(caller('a', 'key 3', 2)), null)
  t.equal(limits.caller(caller('a', 'key 3', 2)), null, 'the key has its own rate')
  t.same(names, ['address', 'key'])

  limits.inFlight('a' as TenantId).count = TENANT_IN_FLIGHT_MAX
  t.same(limits.caller(caller('a', 'key 4')), { limit: TENANT_IN_FLIGHT_MAX, retryAfter: 1 })
  t.equal(limits.caller(caller('b', 'key 5')), null)
  limits.inFlight('a' as TenantId).count -= 1
  t.equal(limits.caller(caller('a', 'key 4')), null, 'the rejected request had consumed no token')
  t.same(names, ['address', 'key', 'in_flight'])

  overload(limits)
  t.equal(decisionOf(limits), 'refused')
  limits.shed()
  t.same(names, ['address', 'key', 'in_flight', 'load_shedder'])
})

t.test('RATE_LIMIT=off disables all limits', async (t) => {
  const { limits, names } = limitsOf({
    RATE_LIMIT: 'off',
    RATE_LIMIT_PER_ADDRESS: '1',
    RATE_LIMIT_PER_SECOND: '1',
  })
  limits.inFlight('a' as TenantId).count = TENANT_IN_FLIGHT_MAX
  for (let i = 0; i < 5; i++) {
    t.equal(limits.source(from('203.0.113.1')), null)
    t.equal(limits.caller(caller('a', 'key')), null)
  }
  overload(limits)
  t.equal(decisionOf(limits), 'passes')
  t.same(names, [])
})

const rateLimitOf = (answer: { readonly headers: Headers } | undefined): (string | null)[] =>
  ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map(
    (name) => answer?.headers.get(name) ?? null,
  )

t.test('a source over its rate is 429 before authentication', async (t) => {
  const environment = { RATE_LIMIT_PER_ADDRESS: '3' }
  const gateway = await startGateway(t, { environment, clock: heldClock() })
  const strange = { ...createRequest(), unsigned: true }
  const answers = await Promise.all([1, 2, 3, 4].map(() => call(gateway.port, strange)))
  const over = answers.filter(({ status }) => status === 429)
  t.equal(over.length, 1)
  t.same(rateLimitOf(over[0]), ['1', '3', '0', '1'])
  t.match(over[0]?.json, { error: { code: 'rate_limited' } })
  const { status } = await call(gateway.port, createRequest())
  t.equal(status, 429, 'for every caller at the address')
  t.match(await gateway.metrics(), 'causeway_http_limited_total{limit="address"} 2')
})

t.test('behind a proxy each client has its own rate', async (t) => {
  const gateway = await startGateway(t, {
    environment: { RATE_LIMIT_PER_ADDRESS: '1', TRUSTED_PROXIES: '127.0.0.0/8' },
    clock: heldClock(),
  })
  const as = async (client: string): Promise<number> => {
    const headers = { 'X-Forwarded-For': client }
    return await gateway.status({ ...createRequest(), headers })
  }
  t.equal(await as('203.0.113.1'), 201)
  t.equal(await as('203.0.113.2'), 201)
  t.equal(await as('203.0.113.2'), 429)
  t.equal(await as('198.51.100.1, 203.0.113.2'), 429, 'a header sent by the client is ignored')
})

t.test('requests in flight count until the reply, even after a disconnect', async (t) => {
  const gateway = await startGateway(t, {
    script: silence,
    partners: twoPartners(),
    environment: { RATE_LIMIT_PER_ADDRESS: '100000' },
    clock: heldClock(),
  })
  const clients = Array.from({ length: TENANT_IN_FLIGHT_MAX }, () =>
    openClient(t, gateway.port, bytesOf(get('/v1/payouts'))),
  )
  await eventually(
    'all commands are pending',
    () => gateway.processorStub.commands.length === TENANT_IN_FLIGHT_MAX,
  )
  const over = await call(gateway.port, createRequest())
  t.equal(over.status, 429)
  t.equal(over.headers.get('retry-after'), '1')

  gateway.processorStub.script = accept
  t.equal(await gateway.status({ ...createRequest(), keyId: OTHER_KEY_ID }), 201)
  for (const { socket } of clients) socket.destroy()
  const { status } = await call(gateway.port, createRequest())
  t.equal(status, 429, 'their commands are still pending')

  const late = gateway.processorStub.commands
    .filter(({ tenant }) => tenant === TENANT)
    .flatMap(accept)
  gateway.processorStub.script = (command) => [...late.splice(0), ...accept(command)]
  t.equal(await gateway.status({ ...createRequest(), keyId: OTHER_KEY_ID }), 201)
  await eventually('all requests are answered', () => gateway.processor.inFlight === 0)
  t.equal(await gateway.status(createRequest()), 201)
  t.match(await gateway.metrics(), 'causeway_http_limited_total{limit="in_flight"} 2')
})
