/**
 * A real Prometheus scrapes a stack: the page is valid, every process is on it, the dashboard's
 * queries have values, and alerts fire for real faults.
 *
 * - The rules are a copy of the shipped ones with short windows and without waiting.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { FAMILIES } from '../../src/metrics/families.js'
import { promtool, skipsPrometheus, startPrometheus } from './prometheus.js'
import { alertRules, ALERTS_FILE, dashboardQueries } from './shipped_rules.js'
import { writeSeedData } from '../load/seed_data/seed_data.js'
import { eventually } from '../support/eventually.js'
import { payOut, untilStatus } from '../support/payments.js'
import { startStack, type RunningStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

const WINDOW = '10s'
const FAULT_WITHIN_MS = 60_000
const KILL_EVERY_MS = 100
/** The seed's payments without an answer of the rail are up to twenty minutes old. */
const SEED = { count: 40, open: 20, what: ['payouts'] } as const
/** A scrape of a busy machine can take too long, and a single PostgreSQL has no standby. */
const MAY_FIRE = ['CausewayNotScraped', 'CausewayTargetDown', 'CausewayStoreNotSynchronous']

t.setTimeout(0)
const folder = tempFolder(t)

/** Alerts fire at once, and what must be seen within minutes is seen within seconds. */
const quickRules = (): string =>
  readFileSync(ALERTS_FILE, 'utf8')
    .replaceAll(/for: \S+/g, 'for: 0s')
    .replaceAll(/\[\d+[smh]\]/g, `[${WINDOW}]`)
    // The least of the ages.
    .replaceAll('over_1h', 'over_5m')
    .replaceAll('oldest_age_seconds > 14400', 'oldest_age_seconds > 0')

t.test('Prometheus', { skip: skipsPrometheus }, async (t) => {
  const [dataDir, server] = ['data', 'server'].map((name) => join(folder, name)) as [string, string]
  for (const each of [dataDir, server]) mkdirSync(each, { mode: 0o700 })
  await writeSeedData({ ...SEED, folder: dataDir, now: systemClock.now() })
  const stack = await startStack({ t, dataDir, settings: { RAIL_DELAY_MS: '20' } })
  const target = new URL(stack.sandbox.ops_url).host
  const prometheus = await startPrometheus(server, [target], quickRules())
  t.teardown(() => prometheus.stop())
  const { partner } = stack
  const fires = (alert: string): Promise<boolean> =>
    eventually(alert, async () => (await prometheus.firing()).has(alert), FAULT_WITHIN_MS, 200)

  await t.test('the page of a stack is valid and has every process', async (t) => {
    const payout = await payOut(partner, 'measured')
    await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
    const page = await eventually('open work was read', async () => {
      const text = await stack.metrics()
      return text.includes('causeway_open_payments') && text
    })
    t.equal(promtool(['check', 'metrics'], page), '')
    for (const [, name = ''] of page.matchAll(/^# TYPE (\S+) /gm)) {
      t.ok(Object.hasOwn(FAMILIES, name), name)
    }
    const processes = ['rail', 'processor', 'webhooks', 'gateway', 'supervisor']
    for (const process of processes) {
      t.match(page, new RegExp(`^causeway_event_loop_lag_seconds_count.*="${process}"`, 'm'))
    }
    // A database can be on a disk of its own.
    for (const process of ['rail', 'processor', 'supervisor']) {
      t.match(page, new RegExp(`^causeway_disk_free_bytes\\{process="${process}"`, 'm'))
    }
    const only = await (await fetch(`${stack.sandbox.ops_url}/metrics?process=rail`)).text()
    t.match(only, 'causeway_process_heap_bytes{process="rail"}')
    t.notMatch(only, /process="(?!rail)/)
    const none = await fetch(`${stack.sandbox.ops_url}/metrics?process=x`)
    t.equal(none.status, 404)
  })

  await t.test('the dashboard shows values', async (t) => {
    const queries = dashboardQueries().filter(({ expr }) => !NEEDS_MORE.test(expr))
    t.ok(queries.length > 15)
    for (const { title, expr } of queries) {
      const query = expr.replaceAll('$__rate_interval', '1m').replaceAll('$environment', '.*')
      await eventually(
        `values: ${title}: ${query}`,
        async () => (await prometheus.query(query)).size > 0,
      )
      t.pass(title)
    }
  })

  const pages = alertRules().filter(({ severity }) => severity === 'page')
  const firing = await prometheus.firing()
  for (const { alert } of pages) {
    if (!MAY_FIRE.includes(alert)) t.notOk(firing.has(alert), `quiet without faults: ${alert}`)
  }

  await t.test('payments without an answer of the bank', async () => {
    await fires('CausewayOutcomesUnknown')
  })

  await t.test('held payouts and dead deliveries raise alerts', async () => {
    await stack.receiver(() => 404)
    await payOut(partner, 'held', { reference: 'sandbox:review' })
    await fires('CausewayDeadLetters')
    await fires('CausewayPayoutsHeld')
  })

  await t.test('a rail that ends again and again', async (t) => {
    const recover = keepKilling(t, stack, 'rail')
    await fires('CausewayProcessDown')
    await fires('CausewayRailDown')
    await eventually('/readyz names the link', async () => {
      const { degraded } = (await stack.readyz()).body as { degraded?: Record<string, string> }
      return degraded?.['processor']?.startsWith('the link to the rail sandbox is down')
    })
    recover()
    await eventually(
      'the alert ends',
      async () => !(await prometheus.firing()).has('CausewayRailDown'),
      FAULT_WITHIN_MS,
      200,
    )
  })

  await t.test('a bus that ends again and again', async (t) => {
    const recover = keepKilling(t, stack, 'nats')
    await fires('CausewayBusDown')
    const ofPool = 'causeway_bus_up{process="webhooks"} == 0'
    await eventually('the pool has lost it too', async () => {
      return (await prometheus.query(ofPool)).size > 0
    })
    await fires('CausewayProcessRestarts')
    recover()
  })

  await t.test('a webhook pool that ends again and again', async (t) => {
    const webhooks = 'causeway_process_up{process="webhooks"} == 0'
    const recover = keepKilling(t, stack, 'webhooks')
    await eventually('it is down', async () => (await prometheus.query(webhooks)).size > 0)
    await fires('CausewayProcessDown')
    recover()
    await eventually('it is back', async () => (await prometheus.query(webhooks)).size === 0)
  })
})

/** Needs a limit, a refusal, an unfinished payment, several shards or PostgreSQL. */
const NEEDS_MORE =
  /limited|refusal|rejected|failures|shard|standby|webhook|payment_amount|up == 0|_postgres_/

/** Kills a process whenever it runs. @returns ends it */
function keepKilling(t: Test, stack: RunningStack, name: string): () => void {
  const timer = setInterval(() => {
    if (!existsSync(join(stack.dataDir, 'run.json'))) return
    try {
      stack.kill(name)
    } catch {
      // It is not running now.
    }
  }, KILL_EVERY_MS)
  const end = (): void => clearInterval(timer)
  t.teardown(end)
  return end
}
