/** A real gateway in front of an overloaded processor. */
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { instant, type Clock } from '../../src/base/clock.js'
import { CAPACITY_MIN } from '../../gateway/admission/request_scheduler.js'
import { QUEUED_MAX, SUSTAINED_MS } from '../../gateway/admission/load_shedder.js'
import { eventually } from '../support/eventually.js'
import {
  bearer,
  bytesOf,
  call,
  createRequest,
  OTHER_KEY_ID,
  twoPartners,
  type HttpCall,
} from './signing_partner.js'
import { startGateway, type Running } from './running_gateway.js'
import { accept } from './processor_stub.js'

interface Stuck {
  readonly gateway: Running
  readonly clock: Clock
  readonly pass: (ms: number) => void
}

/** A gateway whose processor answers nothing, with a full queue. */
async function stuckGateway(t: Test, request: HttpCall, hasCapacityFor: number): Promise<Stuck> {
  let now = Date.now()
  const clock: Clock = { now: () => instant(now) }
  const gateway = await startGateway(t, {
    script: () => [],
    partners: twoPartners(),
    environment: { RATE_LIMIT_PER_ADDRESS: '100000' },
    clock,
  })
  for (let i = 0; i < QUEUED_MAX; i++) {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(bytesOf(request))
    t.teardown(() => socket.destroy())
  }
  await eventually('the processor has its commands', () =>
    isHolding(gateway, hasCapacityFor, QUEUED_MAX - hasCapacityFor),
  )
  return { gateway, clock, pass: (ms) => (now += ms) }
}

async function isHolding({ processorStub, metrics }: Running, sent: number, held: number) {
  return (
    processorStub.commands.length === sent && (await metrics()).includes(`_requests_held ${held}\n`)
  )
}

t.test('a stuck processor gets no more commands, and callers are rejected at once', async (t) => {
  const request = { method: 'GET', path: '/v1/balances' }
  const { gateway, clock, pass } = await stuckGateway(t, request, CAPACITY_MIN)
  const held = QUEUED_MAX - CAPACITY_MIN
  const { commands } = gateway.processorStub
  const early = call(gateway.port, createRequest())
  await eventually('a longer queue is accepted', () => isHolding(gateway, CAPACITY_MIN, held + 1))
  pass(SUSTAINED_MS)
  const second = call(gateway.port, createRequest())
  await eventually('a sustained queue is accepted', () =>
    isHolding(gateway, CAPACITY_MIN, held + 2),
  )
  pass(SUSTAINED_MS)
  const over = await call(gateway.port, createRequest())
  t.equal(over.status, 503)
  t.equal(over.headers.get('retry-after'), '1')
  t.match(over.json, { error: { code: 'configuration_error', request_id: /^req_/ } })
  const unknownKey = await call(gateway.port, { ...createRequest(), unsigned: true })
  t.equal(unknownKey.status, 503, 'an unknown key is rejected')
  t.ok(await isHolding(gateway, CAPACITY_MIN, held + 2), 'no rejected request was held')
  t.match(await gateway.metrics(), 'causeway_http_limited_total{limit="load_shedder"} 2')

  const other = call(gateway.port, { ...createRequest(), keyId: OTHER_KEY_ID })
  await eventually('another key is held', () => isHolding(gateway, CAPACITY_MIN, held + 3))
  const intent = 'pi_01KAJ0V8X0ABCDEFGHJKMNPQRS'
  const path = `/v1/payment_intents/${intent}`
  const authorization = { Authorization: bearer(intent) }
  const app = call(gateway.port, { method: 'GET', path, unsigned: true, headers: authorization })
  await eventually('a token request is not queued', () =>
    isHolding(gateway, CAPACITY_MIN + 1, held + 3),
  )

  const checked = await call(gateway.port, {
    method: 'POST',
    path: '/v1/sandbox/signature/check',
    body: '{}',
    unsigned: true,
  })
  t.not(checked.status, 503, 'requests that need no processor are answered')

  const sent = commands.flatMap(accept)
  gateway.processorStub.script = (command) => [...sent.splice(0), ...accept(command)]
  gateway.processor.submit(
    { get_balances: {} },
    { startedAt: clock.now(), settle: () => undefined },
  )
  t.same([(await early).status, (await second).status, (await other).status], [201, 201, 201])
  t.not((await app).status, 503)
  const next = await call(gateway.port, createRequest())
  t.equal(next.status, 201, 'once the queue is empty')
})

t.test('pending lists shed no request, as they run outside of the command cycle', async (t) => {
  const request = { method: 'GET', path: '/v1/payouts' }
  const { gateway, pass } = await stuckGateway(t, request, QUEUED_MAX)
  const { processorStub, port } = gateway
  for (const more of [1, 2]) {
    void call(port, createRequest()).catch(() => undefined)
    await eventually(
      'the request is pending',
      () => processorStub.commands.length === QUEUED_MAX + more,
    )
    pass(SUSTAINED_MS)
  }
  processorStub.script = accept
  t.equal((await call(port, createRequest())).status, 201)
})
