/** What is told of the calls of the gRPC port: figures by rpc and status, lines by caller. */
import t, { type Test } from 'tap'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { bearer } from '../../src/grpc/bearer.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import { createCallReport } from '../../src/processor/servers/call_report.js'
import { eventually } from '../support/eventually.js'
import { readableLog } from '../support/logs.js'
import { callsTo } from '../support/rpc_calls.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld } from '../support/world.js'

const TOKEN = 'token-of-the-internal-service'
const tenant = { partner_id: 'demo', environment: 'sandbox' }

async function reportedCalls(t: Test, refusalsPerSecond: number) {
  const world = await createWorld(t)
  const { lines, log } = readableLog('info')
  const metrics = createMetrics()
  let ms = 0
  const elapsed = () => (ms += 20)
  const configured = [configuredCaller(callerEntry('service', 'till', TOKEN))]
  const { address } = await serveShard(t, {
    world,
    callers: createCallers(configured, world.clock),
    observe: createCallReport({ metrics, clock: world.clock, elapsed, log, refusalsPerSecond }),
  })
  return {
    call: callsTo(t, address, TOKEN),
    lines: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    samples: async (family: string) =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith(`causeway_${family}`)),
  }
}

t.test('a call is counted by its status, and one that is refused has a line', async (t) => {
  const { call, lines, samples } = await reportedCalls(t, 10)
  await call('Payouts/Balances', { tenant })
  await call('Payouts/Get', { tenant, payout_id: 'pout_none' })
  await call('Payouts/Balances', { tenant: { ...tenant, environment: 'none' } })
  await call('PartnerAdmin/List')
  for (const token of ['an unknown token', TOKEN + TOKEN]) {
    await call('Payouts/Balances', { tenant }, bearer(token))
  }
  const payouts = 'service="causeway.v1.Payouts",method='
  t.same(await samples('grpc_calls_total'), [
    `causeway_grpc_calls_total{${payouts}"Balances",code="OK"} 1`,
    `causeway_grpc_calls_total{${payouts}"Get",code="NOT_FOUND"} 1`,
    `causeway_grpc_calls_total{${payouts}"Balances",code="INVALID_ARGUMENT"} 1`,
    'causeway_grpc_calls_total{service="causeway.operator.v1.PartnerAdmin",method="List",' +
      'code="PERMISSION_DENIED"} 1',
    `causeway_grpc_calls_total{${payouts}"Balances",code="UNAUTHENTICATED"} 2`,
  ])
  const durations = (await samples('grpc_call_duration_seconds')).join('\n')
  t.match(durations, `_count{${payouts}"Get"} 1`)
  t.match(durations, `_bucket{${payouts}"Get",le="0.01"} 0`)
  t.match(durations, `_bucket{${payouts}"Get",le="0.025"} 1`)
  const unknown = await eventually('they are counted', () =>
    lines().find(({ message }) => message === 'calls without a valid credential'),
  )
  t.equal(unknown['count'], 2)
  const refused = lines().filter(({ message }) => message === 'call refused')
  t.match(refused, [
    { caller: 'till', call: 'causeway.v1.Payouts/Get', code: 'payout_not_found', elapsed_ms: 20 },
    { caller: 'till', call: 'causeway.v1.Payouts/Balances', code: 'invalid_request' },
    { caller: 'till', call: 'causeway.operator.v1.PartnerAdmin/List', code: 'permission_denied' },
  ])
  t.match(refused[0], { request_id: /^req_[0-9A-Z]{26}$/ })
  t.equal(lines().length, 4, 'calls that are served have none')
})

t.test('the lines of one caller are bounded, and the others counted', async (t) => {
  const { call, lines, samples } = await reportedCalls(t, 1)
  for (let i = 0; i < 3; i++) await call('Payouts/Get', { tenant, payout_id: `pout_${i}` })
  t.match(await samples('grpc_calls_total'), [/code="NOT_FOUND"\} 3$/])
  t.equal(lines().length, 1)
  await eventually('the others are counted', () => lines().length > 1)
  t.match(lines()[1], {
    ...{ caller: 'till', omitted: 2 },
    message: 'calls not logged: rate limit of log lines reached',
  })
})
