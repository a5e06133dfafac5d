/**
 * The trial cluster: partners of both shards are served through both gateways, the spare takes over
 * a killed processor's shard, the standby a killed primary's, and a stop leaves no process.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { systemClock } from '../../src/base/clock.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { FILES } from '../../src/base/subjects.js'
import { CLUSTER_FILE, type ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { countsOf } from '../load/accounts.js'
import type { RunResult } from '../load/result.js'
import { promtool, skipsPrometheus, startPrometheus } from '../metrics/prometheus.js'
import { storedRows } from '../support/stored_rows.js'
import { auditOf } from '../support/audit.js'
import { isServing, readPage, signIn } from '../console/stack.js'
import { eventually } from '../support/eventually.js'
import { withKey, type Partner } from '../support/partner.js'
import { requestIntent } from '../support/payments.js'
import { requirePostgres } from '../support/postgres_server.js'
import { isAlive } from '../support/program.js'
import { aPayout } from '../support/requests.js'
import { tempFolder } from '../support/temp_folder.js'
import { aTrialCluster, SHARDS } from '../support/trial_cluster.js'

requirePostgres(t)

/** For the start of several processes on a busy machine. */
const RECOVERED_WITHIN_MS = 60_000
const dataDir = tempFolder(t)
const cluster = await aTrialCluster({
  dataDir,
  settings: { CONSOLE: 'on', CONSOLE_PORT: '0', SCREENING: 'sandbox' },
  clock: systemClock,
  onRefused: (why) => t.fail(why),
  timeoutMs: 5_000,
})
t.teardown(() => cluster.close())
await cluster.start()

const { sandbox, trial } = cluster
const members = (): readonly ClusterMember[] =>
  JSON.parse(readFileSync(join(dataDir, CLUSTER_FILE), 'utf8')) as ClusterMember[]
const ofRole = (role: string): ClusterMember[] => members().filter((each) => each.role === role)

/** Creates an intent through a gateway; repeats until it has an answer. @returns its id */
const create = (partner: Partner, number: number): Promise<string> =>
  eventually(
    `intent ${number} is created`,
    async () => {
      const answer = await requestIntent(partner, `intent ${number}`).catch(() => undefined)
      return answer?.status === 201 && String((answer.body as { intent_id: string }).intent_id)
    },
    RECOVERED_WITHIN_MS,
  )

/** One to each gateway. */
const demo = cluster.connectionsOf() as [Partner, Partner]
let second = demo

t.test('partners of both shards are served through both gateways', async (t) => {
  t.same(
    members().map(({ name, role }) => [name, role]),
    [
      ['postgres-1', 'postgres'],
      ['postgres-2', 'postgres'],
      ['nats-1', 'nats'],
      ['nats-2', 'nats'],
      ['nats-3', 'nats'],
      ['rail', 'rail'],
      ['screening', 'screening'],
      ['processor-1', 'processor'],
      ['processor-2', 'processor'],
      ['processor-3', 'processor'],
      ['webhooks-1', 'webhooks'],
      ['webhooks-2', 'webhooks'],
      ['gateway-1', 'gateway'],
      ['gateway-2', 'gateway'],
    ],
  )
  t.same(new Set(ofRole('processor').map(({ shard }) => shard)), new Set(['', ...SHARDS]))
  t.same(
    ofRole('webhooks').map(({ shard }) => shard),
    ['pool_1', 'pool_2'],
  )
  t.ok(members().every(({ pid }) => pid > 0))
  const key = await cluster.createPartner('second', 'books_2')
  second = cluster.connectionsOf(key) as [Partner, Partner]
  for (const [one, two] of [demo, second])
    t.equal(await create(one, 1), await create(two, 1), 'one intent under one key')
})

t.test('payouts are screened', async (t) => {
  const { amount, currency, beneficiary } = aPayout()
  const payout = { amount, currency, beneficiary, reference: 'sandbox:risk' }
  const { body } = await demo[0].request('POST', '/v1/payouts', payout, withKey('screened'))
  t.match(body, { error: { code: 'risk_rejected' } })
  const page = await (await fetch(`${sandbox.ops_url}/metrics`)).text()
  t.match(page, /causeway_screening_duration_seconds_count\{[^}]*"risk_rejected"[^}]*\} 1\n/)
})

t.test('the console is of both shards', async (t) => {
  const url = sandbox.console_url ?? ''
  await eventually('the console serves', () => isServing(url), RECOVERED_WITHIN_MS)
  const token = readFileSync(join(dataDir, FILES.operatorToken), 'utf8').trim()
  const cookie = await signIn({ url, token })
  const { text } = await readPage(`${url}/`, cookie)
  for (const shard of SHARDS) t.match(text, `<strong>${shard}</strong> take payments`)
  const spare = /<strong>processor-3<\/strong>[^]*data-title="Gateways">\s*<div>2<\/div>/
  await eventually('both gateways reach the spare', async () => {
    const shards = await readPage(`${url}/shards`, cookie)
    return spare.test(shards.text)
  })
})

/** In the order of the shards. */
const intentsByShard = async (): Promise<readonly number[]> => {
  const store = readSettings({ DATA_DIR: dataDir }, '')
  const count = 'SELECT count(*) AS n FROM intents'
  const rows = await storedRows<{ n: number }>(dataDir, store, 'processor', count)
  return rows.map(({ n }) => n)
}

t.test('Prometheus sees every process and shard', { skip: skipsPrometheus }, async (t) => {
  const page = await (await fetch(`${sandbox.ops_url}/metrics`)).text()
  t.equal(promtool(['check', 'metrics'], page), '')
  const folder = join(dataDir, 'prometheus')
  mkdirSync(folder)
  const prometheus = await startPrometheus(folder, [new URL(sandbox.ops_url).host], '{}')
  t.teardown(() => prometheus.stop())
  const owned = 'max by (shard) (causeway_shard_owned)'
  const routed = 'min by (shard) (causeway_gateway_shard_routed)'
  for (const query of [owned, routed]) {
    const shards = await eventually(`an answer to ${query}`, async () => {
      const values = await prometheus.query(query)
      return values.size > 0 && values
    })
    t.same(
      [...shards].sort(),
      SHARDS.map((shard) => [JSON.stringify({ shard }), 1]),
      query,
    )
  }
  const seen = [...(await prometheus.query('causeway_build_info')).keys()]
  const processes = seen.map((labels) => (JSON.parse(labels) as { process: string }).process)
  const measured = ['gateway', 'processor', 'webhooks', 'rail']
  const ours = members().filter(({ role }) => measured.includes(role))
  const others = ['console', 'supervisor']
  t.same(processes.sort(), [...ours.map(({ name }) => name), ...others].sort())
})

const IN_BOTH_SHARDS = /^books_1 on processor-\d: load-\w+; books_2 on processor-\d: load-\w+$/

t.test('a load on it pays in both shards', async (t) => {
  const before = await intentsByShard()
  const out = mkdtempSync(join(dataDir, 'load-'))
  const main = join(projectRoot(), '.build/test/load/main.js')
  const flags = ['load', '--running', '--quick', '--scenario', 'creates', '--rate', '20']
  const env = { ...process.env, DATA_DIR: dataDir }
  await promisify(execFile)(process.execPath, [main, ...flags, '--out', out], { env })
  const [file = ''] = readdirSync(out)
  const { settings, sections } = JSON.parse(readFileSync(join(out, file), 'utf8')) as RunResult
  t.match(settings, {
    ...{ gateways: '2', store: 'postgres, synchronous standby', shards: IN_BOTH_SHARDS },
  })
  const after = await intentsByShard()
  t.equal(after.length, SHARDS.length)
  for (const [index, count] of after.entries()) {
    // Besides what exists to be read: a hundred intents of each partner.
    t.ok(count - (before[index] ?? 0) > 100, `${SHARDS[index]} has new payments`)
  }
  t.equal(sections[0]?.accounts?.lines[0]?.right, sections[0]?.accounts?.lines[0]?.left)
  t.ok(Object.keys(sections[0]?.windows[0]?.cpuMicros ?? {}).includes('postgres-1'))
})

t.test('the spare takes over the shard of a killed processor', async (t) => {
  const before = await create(second[0], 2)
  const { pid, name } = await cluster.ownerOf('books_2')
  process.kill(pid, 'SIGKILL')
  t.equal(await create(second[1], 2), before, 'the books are complete')
  await eventually(
    'the file names the new owner',
    () => ofRole('processor').some((each) => each.shard === 'books_2' && each.pid !== pid),
    RECOVERED_WITHIN_MS,
  )
  await eventually(
    'the killed processor runs again',
    () => members().some((each) => each.name === name && each.pid > 0 && each.pid !== pid),
    RECOVERED_WITHIN_MS,
  )
})

t.test('the standby has every commit that the killed primary acknowledged', async (t) => {
  await eventually('commits wait for the standby', () => trial.postgres.isSynchronous())
  const before = await create(demo[0], 3)
  const former = trial.postgres.primary()
  const [killed] = members().filter(({ name }) => name === former)
  process.kill(killed?.pid ?? 0, 'SIGKILL')
  t.equal(await create(demo[1], 3), before)
  await eventually(
    'the former primary is the standby',
    () => trial.postgres.standby() === former && trial.postgres.isSynchronous(),
    RECOVERED_WITHIN_MS,
  )
  t.equal(await create(demo[0], 3), before)
})

t.test('the running cluster is audited, every shard and their union', async (t) => {
  const audited = await auditOf(dataDir, {})
  t.ok(audited.clean, audited.report)
  for (const part of ['shard books_1', 'shard books_2', 'union of 2 shards']) {
    t.match(audited.report, new RegExp(`^${part}$`, 'm'))
  }
  t.equal(audited.report.match(/^ok +paid_exactly_once /gm)?.length, 2, 'the rail is compared')
  t.match(audited.report, /^ok +pool_events_have_a_partner /m)
  t.match(audited.report, /\naudit clean: 2 shards and their union\n$/)
  const { intents } = await countsOf(dataDir)
  const [one = 0, two = 0] = await intentsByShard()
  t.same(intents, { created: one + two }, 'the load tool counts those of both shards')

  const books = await connectToPrimary(parseStoreUrl(trial.postgres.url), 'cluster', 'test')
  const moveTo = (shard: string): Promise<number> =>
    books.run("UPDATE placements SET shard = ? WHERE partner = 'second'", [shard])
  await moveTo('books_1')
  const broken = await auditOf(dataDir, {})
  await moveTo('books_2')
  await books.close()
  t.notOk(broken.clean)
  t.match(broken.report, /^BROKEN +partners_are_where_placed /m)
  t.match(broken.report, /\naudit broken: union\n$/)
})

t.test('a stop leaves no process', async (t) => {
  await eventually(
    'all processes run',
    () => members().every(({ pid }) => pid > 0),
    RECOVERED_WITHIN_MS,
  )
  const pids = members().map(({ pid }) => pid)
  await cluster.stop()
  t.same(pids.filter(isAlive), [])
})
