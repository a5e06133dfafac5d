/** The processor's metrics: its relay, its shards, its payments. */
import t, { type Test } from 'tap'
import { createMetrics, type Metrics } from '../../src/metrics/metrics.js'
import { registerShardMetrics } from '../../src/processor/cluster/metrics.js'
import type { Shard } from '../../src/store/cluster/cluster.js'
import type { WaitingProcessor } from '../../src/store/cluster/waiting.js'
import { DAY, HOUR, instant, MINUTE, SECOND } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { accountKey } from '../../src/ledger/accounts.js'
import { USD } from '../../src/money/currency.js'
import { createOpenWorkMonitor } from '../../src/processor/background/open_work_monitor.js'
import { createRefusalLog } from '../../src/processor/background/refusal_log.js'
import { createPaymentCounters, type PaymentCounters } from '../../src/processor/payment_metrics.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { createPipelineMeter } from '../../src/processor/metrics.js'
import { createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { changeContexts, inBooks } from '../support/books.js'
import { readableLog } from '../support/logs.js'
import { metricsOf } from './metrics_registry.js'
import { authorized, beginLifecycle, captured, failed, intentAt, THAI } from './intent_lifecycle.js'
import { dependenciesOf, executed, OPERATOR, pay } from './scenarios.js'
import { anEndpoint } from './webhook_endpoints.js'

t.test('relay metrics show the backlog and the catch-up state', async (t) => {
  const world = await createWorld(t)
  let backlog = { waiting: 0, catchingUp: true }
  const metrics = metricsOf(world, { backlog: () => backlog })
  const measured = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('causeway_relay_'))
  t.same(await measured(), ['causeway_relay_backlog 0', 'causeway_relay_catching_up 1'])
  backlog = { waiting: 7, catchingUp: false }
  t.same(await measured(), ['causeway_relay_backlog 7', 'causeway_relay_catching_up 0'])
})

const OWN = { name: 'p1', shard: 'books_1', epoch: 7 }
const FAULT = { version: 6, kind: 'rate', key: 'THB', cause: 'invalid_request' }
const aShard = (shard: string, isConnected: boolean, moves: number): Shard => ({
  ...{ shard, isConnected, moves, address: '', epoch: 1, holder: 'p1' },
  ...{ partners: 2, moveTo: null, settingsVersion: 5, settingsBehind: moves },
  settingsFault: moves === 0 ? null : FAULT,
})

const aCandidate = (cannotTake: WaitingProcessor['cannotTake']): WaitingProcessor => ({
  ...{ name: 'p2', address: '', prefers: null, gateways: 0, cannotTake },
})

type Registered = Parameters<typeof registerShardMetrics>

/** Reads all samples, in order. */
function samplesOf(cluster: Registered[2], own: Registered[3]): () => Promise<string[]> {
  const metrics = createMetrics()
  registerShardMetrics(metrics, OWN, cluster, own)
  return async () => {
    const lines = (await metrics.text()).split('\n')
    return lines.filter((line) => line !== '' && !line.startsWith('#')).sort()
  }
}

t.test('every shard is shown, also one without an owner', async (t) => {
  const samples = samplesOf(
    {
      shards: () => Promise.resolve([aShard('books_1', true, 0), aShard('books_2', false, 3)]),
      candidates: () => Promise.resolve([aCandidate({}), aCandidate({ books_2: 'a reason' })]),
      standbyLag: () => Promise.resolve(4_096),
    },
    { gateways: () => 3, isUnreached: () => false },
  )
  for (let scrape = 1; scrape <= 2; scrape++)
    t.same(await samples(), [
      'causeway_shard_candidates{shard="books_1"} 2',
      'causeway_shard_candidates{shard="books_2"} 1',
      'causeway_shard_epoch{shard="books_1",owner="p1"} 7',
      'causeway_shard_gateways{shard="books_1"} 3',
      'causeway_shard_moves_total{shard="books_1"} 0',
      'causeway_shard_moves_total{shard="books_2"} 3',
      'causeway_shard_owned{shard="books_1"} 1',
      'causeway_shard_owned{shard="books_2"} 0',
      'causeway_shard_settings_behind{shard="books_1"} 0',
      'causeway_shard_settings_behind{shard="books_2"} 3',
      'causeway_shard_settings_fault{shard="books_1"} 0',
      'causeway_shard_settings_fault{shard="books_2"} 1',
      'causeway_shard_unreached{shard="books_1"} 0',
      'causeway_standby_lag_bytes{shard="books_1"} 4096',
    ])
})

t.test('values that the cluster does not report are absent', async (t) => {
  const samples = samplesOf(
    {
      shards: () => Promise.reject(new Error('gone')),
      candidates: () => Promise.reject(new Error('gone')),
      standbyLag: () => Promise.resolve(null),
    },
    { gateways: () => 0, isUnreached: () => true },
  )
  t.same(await samples(), [
    'causeway_shard_epoch{shard="books_1",owner="p1"} 7',
    'causeway_shard_gateways{shard="books_1"} 0',
    'causeway_shard_unreached{shard="books_1"} 1',
  ])
})

/** Samples of a family, without its name's prefix. */
const samplesIn = async (metrics: Metrics, family: string): Promise<string[]> =>
  (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith(`causeway_${family}`))
    .map((line) => line.slice('causeway_'.length + family.length))

/** What is open in the books of a world. */
const openWorkOf = (world: World, ...rails: string[]) =>
  createOpenWorkMonitor({ ...dependenciesOf(world), rails })

async function countedWorld(t: Test) {
  const metrics = createMetrics()
  const counters: PaymentCounters = createPaymentCounters(metrics, () => 'sandbox')
  let now = 0
  const { lines, log } = readableLog('info')
  const clock = { now: () => instant(now) }
  const world = await createWorld(t, {
    onTransitions: counters.committed,
    meter: createPipelineMeter(
      metrics,
      () => (now += 1),
      createRefusalLog({ clock, log, perSecond: 2 }),
    ),
  })
  return { metrics, world, lines }
}

t.test('transitions, failures, amounts and outcomes of the rail are counted', async (t) => {
  const { metrics, world } = await countedWorld(t)
  await captured(await beginLifecycle(world))
  await failed(await beginLifecycle(world))
  const { id } = await pay(world)
  world.clock.pass(3 * SECOND)
  await world.railReports(executed(id))
  const of = (family: string) => samplesIn(metrics, family)
  const thai = 'corridor="th_promptpay",environment="sandbox"'
  t.same(await of('payment_transitions_total'), [
    `{entity="payment_intent",state="created",${thai}} 2`,
    `{entity="payment_intent",state="authorized",${thai}} 2`,
    `{entity="payment_intent",state="captured",${thai}} 1`,
    `{entity="payment_intent",state="failed",${thai}} 1`,
    '{entity="payout",state="created",corridor="vn_vnd",environment="sandbox"} 1',
    '{entity="payout",state="processing",corridor="vn_vnd",environment="sandbox"} 1',
    '{entity="payout",state="completed",corridor="vn_vnd",environment="sandbox"} 1',
  ])
  t.match(await of('payment_failures_total'), [
    /^\{entity="payment_intent",failure_code="[a-z_]+",corridor="th_promptpay",.*\} 1$/,
  ])
  const amounts = (await of('payment_amount_total')).join('\n')
  for (const line of [
    '{entity="payment_intent",state="captured",currency="USD",environment="sandbox"} 10',
    '{entity="payout",state="completed",currency="VND",environment="sandbox"} 12500000',
  ]) {
    t.match(amounts, line)
  }
  const outcomes = (await of('rail_outcome_duration_seconds')).join('\n')
  t.match(outcomes, '_bucket{rail="sandbox",outcome="executed",le="2.5"} 1')
  t.match(outcomes, '_bucket{rail="sandbox",outcome="executed",le="5"} 2')
  t.match(outcomes, '_count{rail="sandbox",outcome="refused"} 1')
})

t.test('commands and commits are measured, refusals by command and code', async (t) => {
  const { metrics, world } = await countedWorld(t)
  const lifecycle = await beginLifecycle(world)
  await lifecycle.confirm()
  t.same(await samplesIn(metrics, 'command_refusals_total'), [
    '{command="confirm_intent",code="quote_required"} 1',
  ])
  const text = await metrics.text()
  const count = (name: string) =>
    Number(new RegExp(`^causeway_${name}_count (\\d+)$`, 'm').exec(text)?.[1])
  t.ok(count('command_queue_wait_seconds') >= 2)
  t.equal(count('commit_duration_seconds'), count('commit_batch_commands'))
  t.ok(count('commit_duration_seconds') > 0)
})

t.test('the rule that refuses a scanned code is counted and logged, not answered', async (t) => {
  const { metrics, world, lines } = await countedWorld(t)
  const lifecycle = await beginLifecycle(world)
  const wrong = THAI.payload.replace(/.{4}$/, '0000')
  for (const payload of [`${THAI.payload} `, wrong, wrong, '0002']) {
    const answer = await lifecycle.scan(null, { qr_payload: payload })
    t.match(answer, { ok: false, code: /^qr_(malformed|checksum_invalid)$/ })
  }
  t.match(await lifecycle.scan(null), { ok: false, code: 'local_amount_required' })
  t.same(await samplesIn(metrics, 'qr_refusals_total'), [
    '{reason="payload_whitespace"} 1',
    '{reason="checksum_mismatch"} 2',
    '{reason="checksum_missing"} 1',
    '{reason="amount_required"} 1',
  ])
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  t.match(
    logged.slice(0, 2),
    ['payload_whitespace', 'checksum_mismatch'].map((reason) => ({
      ...{ tenant: DEMO, reason, message: 'scanned code refused' },
    })),
  )
  t.equal(logged.length, 2, 'at most two a second')
})

t.test('what is open is read from the books, also after a restart', async (t) => {
  const world = await createWorld(t)
  const { clock } = world
  const openWork = openWorkOf(world, 'sandbox')
  const metrics = metricsOf(world, { openWork })
  const of = (family: string) => samplesIn(metrics, family)
  t.same(await of('open_payments'), [], 'no figures before the first reading')
  t.same(await of('held_payouts'), [])

  await anEndpoint(world)
  await beginLifecycle(world)
  await authorized(await beginLifecycle(world))
  const { id } = await pay(world)
  await pay(world, { reference: 'sandbox:review' })
  clock.pass(5 * MINUTE)
  await world.rebuild()
  await openWork.scan()
  t.same(await of('open_payments'), [
    '{entity="payment_intent",state="created"} 1',
    '{entity="payment_intent",state="authorized"} 1',
    '{entity="payout",state="created"} 1',
    '{entity="payout",state="processing"} 1',
  ])
  t.same(await of('held_payouts'), [' 1'])
  t.same(await of('held_payout_oldest_age_seconds'), [' 300'])
  t.same(await of('outbox_oldest_age_seconds'), [' 300'])
  const unknown = async () =>
    (await of('unknown_outcomes')).filter((line) => !line.includes('over_24h'))
  const counted = (age: string, count: number) => [
    `{entity="payment_intent",age="${age}"} ${count}`,
    `{entity="payout",age="${age}"} ${count}`,
    `{entity="recall",age="${age}"} 0`,
  ]
  t.same((await unknown()).sort(), [...counted('over_1h', 0), ...counted('over_5m', 1)].sort())
  clock.pass(HOUR)
  await openWork.scan()
  t.same((await unknown()).sort(), [...counted('over_1h', 1), ...counted('over_5m', 1)].sort())

  await world.railReports({ status: 'refused', id, reportId: 'r', refusal: 'rejected' })
  await world.railReports(executed(id))
  await openWork.scan()
  t.same(await of('discrepancies_open'), [' 1'])
  t.match(await of('open_payments'), { 3: '{entity="payout",state="processing"} 0' })
})

t.test('a start reports once what is open, and which timers are overdue', async (t) => {
  const world = await createWorld(t)
  await intentAt(world, authorized)
  await captured(await beginLifecycle(world))
  for (const reference of ['first', 'sandbox:review']) await pay(world, { reference })
  const { lines, log } = readableLog('info')
  const openWork = createOpenWorkMonitor({ ...dependenciesOf(world), log, rails: ['sandbox'] })
  world.clock.pass(10 * DAY)
  await openWork.scan()
  await openWork.scan()
  t.equal(lines.length, 1)
  t.match(lines[0], /"intents":1,"payouts":2,"overdue_timers":3,"message":"open payments are rest/)
})

t.test('open payments on rails that the file does not name are counted', async (t) => {
  const world = await createWorld(t)
  let changes = 0
  const intent = await intentAt(world, authorized)
  await beginLifecycle(world)
  const { id } = await pay(world)
  await pay(world, { reference: 'sandbox:review' })
  const former = await pay(world)
  const live = world.memory().payouts.get(former.id)!
  const { rail, ...context } = live.context
  t.equal(rail, 'sandbox')
  live.context = context
  await world.fireTimers(MINUTE)
  await world.store.barrier()

  const openWork = createOpenWorkMonitor({
    ...dependenciesOf(world),
    ...{ rails: ['bank'], onUnnamedRails: () => (changes += 1) },
  })
  const metrics = metricsOf(world, { openWork })
  t.same(await samplesIn(metrics, 'rail_unnamed_payments'), [])
  await openWork.scan()
  await openWork.scan()
  t.same(await samplesIn(metrics, 'rail_unnamed_payments'), ['{rail="sandbox"} 4'])
  t.equal(changes, 1)
  await world.railReports(executed(id))
  await intent.executed()
  await intent.refund()
  await openWork.scan()
  t.same([...openWork.unnamedRails()], [['sandbox', 3]], 'a recall waits too')
  const named = openWorkOf(world, 'sandbox')
  await named.scan()
  t.same([...named.unnamedRails()], [])

  await inBooks(world.folder, (books) => changeContexts(books, 'payouts', () => '{', former.id))
  await openWork.scan()
  t.same([...openWork.unnamedRails()], [['sandbox', 2]], 'a corrupt row names none')
})

t.test('a failed reading leaves no figures', async (t) => {
  const world = await createWorld(t)
  const lists = { openWork: () => Promise.reject(new Error('gone')) }
  const openWork = openWorkOf({ ...world, store: { ...world.store, lists: lists as never } })
  const metrics = metricsOf(world, { openWork })
  await openWork.scan()
  t.same(await samplesIn(metrics, 'held_payouts'), [])
  t.same(await samplesIn(metrics, 'metric_read_failures_total'), [])
})

t.test('balances have a bound on their series', async (t) => {
  const world: World = await createWorld(t)
  const { balances } = world.memory()
  const metrics = metricsOf(world, {})
  const funds = (await samplesIn(metrics, 'prefund_balance{')).sort()
  const ofDemo = 'partner="demo",environment="sandbox",currency='
  const all = ['THB', 'USD', 'VND'].map((currency) => new RegExp(`^${ofDemo}"${currency}"} \\d+$`))
  t.match(funds, all)
  for (let i = 0; i < 1_000; i++) {
    balances.set(accountKey(tenantOf(`p${i}` as PartnerId, 'production'), USD, 'prefund'), 12_345n)
  }
  const series = await samplesIn(metrics, 'prefund_balance{')
  t.equal(series.length, 1_000)
  t.match(series.join('\n'), 'partner="p0",environment="production",currency="USD"} 123.45')
  t.notMatch(series.join('\n'), 'sandbox', 'those of production first')
  t.same(await samplesIn(metrics, 'prefund_balances_omitted'), [' 3'])
})

t.test('the age of the oldest request for a second operator ends with it', async (t) => {
  const { secondOperator } = rulesOf(readSettings({ SECOND_OPERATOR_FROM: 'USD:1' }, ''))
  const world = await createWorld(t, { rules: { secondOperator } })
  const metrics = metricsOf(world, {})
  const age = () => samplesIn(metrics, 'approval_oldest_age_seconds')
  const request = (idempotencyKey: string) =>
    world.run(deposit(OPERATOR, DEMO, { currency: USD, amount: '100', idempotencyKey }))
  t.same(await age(), [' 0'])
  await request('wire-1')
  world.clock.pass(HOUR)
  await request('wire-2')
  t.same(await age(), [' 3600'])
  world.clock.pass(23 * HOUR + SECOND)
  t.same(await age(), [' 82801'], 'the first one has expired')
  world.clock.pass(DAY)
  t.same(await age(), [' 0'])
})

t.test('the age of a rate is the time since an operator set it', async (t) => {
  const world = await createWorld(t)
  const metrics = metricsOf(world, {})
  viewOf(await world.run(setRate(OPERATOR, 'THB', '36.00')))
  world.clock.pass(DAY)
  t.same(await samplesIn(metrics, 'rate_age_seconds'), [
    '{environment="sandbox",currency="THB"} 86400',
    '{environment="production",currency="THB"} 86400',
  ])
})
