/** A real gateway in front of an overloaded processor. */
import t, { type Test } from 'tap'
import { CAPACITY_MIN } from '../../gateway/admission/request_scheduler.js'
import { QUEUED_MAX, SUSTAINED_MS } from '../../gateway/admission/load_shedder.js'
import { eventually } from '../support/eventually.js'
import {
  bearer,
  bytesOf,
  byToken,
  call,
  createRequest,
  get,
  INTENT,
  OTHER_KEY_ID,
  post,
  twoPartners,
  type HttpCall,
} from './signing_partner.js'
import { heldClock } from './held_clock.js'
import { openClient } from './open_client.js'
import { startGateway, type Running } from './running_gateway.js'
import { accept } from './processor_stub.js'

/** A gateway whose processor answers nothing, with a full queue. */
async function stuckGateway(t: Test, request: HttpCall, hasCapacityFor: number) {
  const clock = heldClock()
  const gateway = await startGateway(t, {
    script: () => [],
    partners: twoPartners(),
    environment: { RATE_LIMIT_PER_ADDRESS: '100000' },
    clock,
  })
  for (let i = 0; i < QUEUED_MAX; i++) {
    openClient(t, gateway.port, bytesOf(request))
  }
  await eventually('the processor has its commands', () =>
    isHolding(gateway, hasCapacityFor, QUEUED_MAX - hasCapacityFor),
  )
  return { gateway, clock }
}

async function isHolding({ processorStub, metrics }: Running, sent: number, held: number) {
  return (
    processorStub.commands.length === sent && (await metrics()).includes(`_requests_held ${held}\n`)
  )
}

t.test('a stuck processor gets no more commands, and callers are rejected at once', async (t) => {
  const { gateway, clock } = await stuckGateway(t, get('/v1/balances'), CAPACITY_MIN)
  const held = QUEUED_MAX - CAPACITY_MIN
  const { commands } = gateway.processorStub
  const early = call(gateway.port, createRequest())
  await eventually('a longer queue is accepted', () => isHolding(gateway, CAPACITY_MIN, held + 1))
  clock.pass(SUSTAINED_MS)
  const second = call(gateway.port, createRequest())
  await eventually('a sustained queue is accepted', () =>
    isHolding(gateway, CAPACITY_MIN, held + 2),
  )
  clock.pass(SUSTAINED_MS)
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
  const read = byToken(get(`/v1/payment_intents/${INTENT}`), bearer(INTENT))
  const app = call(gateway.port, read)
  await eventually('a token request is not queued', () =>
    isHolding(gateway, CAPACITY_MIN + 1, held + 3),
  )

  const check = { ...post('/v1/sandbox/signature/check', {}), unsigned: true }
  const checked = await call(gateway.port, check)
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
  const { gateway, clock } = await stuckGateway(t, get('/v1/payouts'), QUEUED_MAX)
  const { processorStub, port } = gateway
  for (const more of [1, 2]) {
    void call(port, createRequest()).catch(() => undefined)
    await eventually(
      'the request is pending',
      () => processorStub.commands.length === QUEUED_MAX + more,
    )
    clock.pass(SUSTAINED_MS)
  }
  processorStub.script = accept
  t.equal((await call(port, createRequest())).status, 201)
})
