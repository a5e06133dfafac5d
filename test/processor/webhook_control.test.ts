/** The control stream: responses of all pools, faults, timeouts and bounds, refused redrives. */
import { credentials, Server, type ClientDuplexStream, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { ControlResponse } from '../../protos/types/causeway/internal/v1/ControlResponse.js'
import type { ClaimedEvents__Output as ClaimedEvents } from '../../protos/types/causeway/internal/v1/ClaimedEvents.js'
import type { ControlRequest__Output as ControlRequest } from '../../protos/types/causeway/internal/v1/ControlRequest.js'
import type { ProtoGrpcType } from '../../protos/types/webhook_control.js'
import { CONTROL_REQUESTS_MAX } from '../../src/base/constants.js'
import type { TenantId } from '../../src/base/ids.js'
import type { Outcome } from '../../src/base/errors.js'
import { contracts } from '../../src/grpc/contracts.js'
import {
  webhookControlService,
  type PoolConnected,
} from '../../src/processor/servers/webhook_control.js'
import { webhookAdminService } from '../../src/processor/servers/webhook_admin.js'
import { listenGrpc } from '../support/grpc_listen.js'
import { eventually } from '../support/eventually.js'

/** Nothing that is to come in time is late, however busy the machine. */
const NEVER_MS = 2 ** 31 - 1

type PoolStream = ClientDuplexStream<ControlResponse, ControlRequest>
/** Undefined means that there is no response. */
type Script = (request: ControlRequest, stream: PoolStream) => ControlResponse | undefined

async function aControlService(
  t: Test,
  { expectedPools = 0, answerWithinMs = NEVER_MS, awaitPoolMs = NEVER_MS } = {},
) {
  const pools: Parameters<PoolConnected>[] = []
  const onPool: PoolConnected = (...greeting) => void pools.push(greeting)
  const control = webhookControlService(onPool, expectedPools, answerWithinMs, awaitPoolMs)
  const { WebhookControl } = contracts<ProtoGrpcType>().causeway.internal.v1
  const server = new Server()
  server.addService(WebhookControl.service, control.handlers)
  const address = await listenGrpc(server)
  t.teardown(() => server.forceShutdown())
  const connected = (count: number): Promise<unknown> =>
    eventually(`${count} connected`, () => control.connectedPools === count)
  const connect = async (script: Script): Promise<PoolStream> => {
    const before = control.connectedPools
    const client = new WebhookControl(address, credentials.createInsecure())
    const stream = client.Connect()
    stream.on('data', (request: ControlRequest) => {
      const answer = script(request, stream)
      if (answer !== undefined) stream.write({ ...answer, number: request.number })
    })
    stream.on('error', () => undefined)
    t.teardown(() => {
      stream.cancel()
      client.close()
    })
    await connected(before + 1)
    return stream
  }
  const greet = async (stream: PoolStream, pool: number, more: object = {}): Promise<void> => {
    const before = pools.length
    stream.write({ number: 0, greeting: { pool, newest_event: '', ...more } })
    await eventually('it has reported', () => pools.length > before)
  }
  const asker = new WebhookControl(address, credentials.createInsecure())
  t.teardown(() => asker.close())
  const claim = (pool: number): Promise<ClaimedEvents> =>
    new Promise((resolve, reject) =>
      asker.Claim({ pool, event_ids: ['evt_1', 'evt_2'] }, (error, answer) =>
        answer === undefined ? reject(error ?? new Error('no answer')) : resolve(answer),
      ),
    )
  return { control, connect, connected, greet, pools, claim }
}

const inFlight =
  (in_flight: number): Script =>
  () => ({ status: { in_flight } })
const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.code)

t.test('a pool reports its number and its newest event', async (t) => {
  const { connect, greet, pools } = await aControlService(t)
  const stream = await connect(inFlight(1))
  await greet(stream, 2, { newest_event: 'evt_1' })
  await greet(stream, 2, { newest_event: 'evt_2', tenant: 'demo_sandbox' })
  await greet(stream, 2)
  t.same(pools, [
    [2, { id: 'evt_1', tenant: undefined }],
    [2, { id: 'evt_2', tenant: 'demo_sandbox' }],
    [2, null],
  ])
})

t.test('an expected pool that is not connected is missing', async (t) => {
  const { control, connect, connected, greet } = await aControlService(t, { expectedPools: 2 })
  t.same(control.missingPools, [1, 2])
  const second = await connect(inFlight(1))
  t.same(control.missingPools, [1, 2], 'one without a number')
  await greet(second, 2)
  t.same(control.missingPools, [1])
  const third = await connect(inFlight(1))
  t.same(control.missingPools, [], 'it may be the missing one')
  await greet(third, 3)
  t.same(control.missingPools, [1])
  await greet(await connect(inFlight(1)), 1)
  t.same(control.missingPools, [])
  third.cancel()
  await connected(2)
  t.same(control.missingPools, [3], 'beyond the setting, but it was connected')
})

t.test('a request reaches all pools, or one pool in turn', async (t) => {
  const { control, connect } = await aControlService(t)
  await connect(inFlight(1))
  await connect(inFlight(2))
  const all = await control.requestAll('status', {})
  t.same(all.ok && all.value.map((status) => status.in_flight).sort(), [1, 2])
  const turns = []
  for (let i = 0; i < 4; i++) {
    const one = await control.requestOne('status', {})
    turns.push(one.ok && one.value.in_flight)
  }
  t.same(turns, [1, 2, 1, 2])
})

t.test('without a connected pool a request fails', async (t) => {
  const { control } = await aControlService(t)
  t.equal(codeOf(await control.requestAll('status', {})), 'configuration_error')
  t.equal(codeOf(await control.requestOne('status', {})), 'configuration_error')
})

t.test('a silent pool causes a timeout, and its late response is ignored', async (t) => {
  const { control, connect } = await aControlService(t, { answerWithinMs: 100 })
  let late: () => void = () => undefined
  await connect((request, stream) => {
    late = () => stream.write({ number: request.number, status: { in_flight: 9 } })
    return undefined
  })
  t.equal(codeOf(await control.requestAll('status', {})), 'timeout')
  late()
  t.equal(codeOf(await control.requestAll('status', {})), 'timeout', 'a late response is ignored')
})

t.test('a pool that disconnects causes an error', async (t) => {
  const { control, connect, connected } = await aControlService(t)
  await connect(inFlight(1))
  const silent = await connect(() => undefined)
  const responses = control.requestAll('status', {})
  silent.cancel()
  t.equal(codeOf(await responses), 'configuration_error')
  await connected(1)
  t.equal(codeOf(await control.requestAll('status', {})), 'ok')
})

t.test('a fault is returned by its code, and a mismatched response is an error', async (t) => {
  const { control, connect } = await aControlService(t)
  const script: Record<string, ControlResponse> = {
    status: { fault: 'invalid_request' },
    poison: { fault: 'an unregistered code' },
    redrive: { status: {} },
  }
  await connect((request) => script[request.request ?? ''])
  t.equal(codeOf(await control.requestAll('status', {})), 'invalid_request')
  t.equal(codeOf(await control.requestAll('poison', {})), 'internal_error')
  t.equal(codeOf(await control.requestAll('redrive', {})), 'internal_error')
})

t.test(
  'requests of a tenant in flight are bounded, leave slots to others and free them',
  async (t) => {
    const { control, connect } = await aControlService(t, { answerWithinMs: 300 })
    await connect(() => undefined)
    const [greedy, other] = ['greedy_sandbox', 'other_sandbox'] as TenantId[]
    const responses = Array.from({ length: CONTROL_REQUESTS_MAX / 2 }, () =>
      control.requestAll('status', {}, greedy),
    )
    t.equal(codeOf(await control.requestAll('status', {}, greedy)), 'configuration_error')
    responses.push(control.requestAll('status', {}, other), control.requestAll('status', {}))
    const codes = await Promise.all(responses)
    t.ok(codes.every((outcome) => codeOf(outcome) === 'timeout'))
    t.equal(codeOf(await control.requestAll('status', {}, greedy)), 'timeout', 'it has slots again')
  },
)

t.test('a claim asks every other pool', async (t) => {
  const { control, connect, connected, greet, claim } = await aControlService(t)
  await greet(await connect(() => ({ claim: { held_ids: ['own'] } })), 1)
  t.same(await claim(1), { held_ids: [], complete: true }, 'alone')
  const asked: unknown[] = []
  const second = await connect((request) => {
    asked.push(request.claim)
    return { claim: { held_ids: ['evt_2'] } }
  })
  await greet(second, 2)
  const older = await connect(() => ({ fault: 'invalid_request' }))
  await greet(older, 3)
  t.same(await claim(1), { held_ids: ['evt_2'], complete: true }, 'an older pool has no part in it')
  t.match(asked, [{ pool: 1, event_ids: ['evt_1', 'evt_2'] }])
  second.cancel()
  older.cancel()
  await connected(1)
  t.same(await claim(1), { held_ids: [], complete: false }, 'both may come back')
  t.equal(control.connectedPools, 1)
})

t.test('a pool that left is not awaited forever', async (t) => {
  const { connect, connected, greet, claim } = await aControlService(t, { awaitPoolMs: 10 })
  const left = await connect(() => ({ claim: { held_ids: [] } }))
  await greet(left, 2)
  left.cancel()
  await connected(0)
  await eventually('it is not awaited any more', async () => (await claim(1)).complete)
})

t.test('a claim is incomplete while a pool is silent or has not come yet', async (t) => {
  const { connect, greet, claim } = await aControlService(t, {
    ...{ expectedPools: 2, answerWithinMs: 50 },
  })
  t.equal((await claim(1)).complete, false, 'the second one is expected')
  await greet(await connect(() => undefined), 2)
  t.equal((await claim(1)).complete, false)
  t.equal((await claim(2)).complete, false, 'the first one is expected')
})

t.test('a redrive since no moment, or of no endpoint, is refused', async (t) => {
  const dependencies = { memory: { endpoints: new Map() } }
  const { Redrive } = webhookAdminService(dependencies as never, {} as never)
  const codeOf = (request: object): unknown => {
    let code: unknown = 'passed on'
    const call = { request: { actor: null, since: '0', ...request } }
    Redrive(call as never, (error) => (code = error?.code))
    return code
  }
  for (const since of [String(2n ** 60n), '8640000000000001', '-1']) {
    t.equal(codeOf({ since }), status.INVALID_ARGUMENT, since)
  }
  t.equal(codeOf({ endpoint_id: 'we_x' }), status.NOT_FOUND)
})
