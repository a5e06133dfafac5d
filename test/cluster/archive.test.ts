/**
 * Payments of a year ago leave both shards of the trial cluster for an archive of each: what
 * operators and partners then see, also after a take-over, and the audit of shards and archives.
 *
 * The clocks of all processes, of their partners and of the PostgreSQL server are a year behind
 * while these payments are made.
 */
import { printed, refused, usageError } from '../support/operator_cli.js'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DAY, plus, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { run } from '../../src/supervisor/program.js'
import { auditOf } from '../support/audit.js'
import { clockSkew } from '../support/clock_skew.js'
import type { Partner } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { requirePostgres } from '../support/postgres_server.js'
import { untilStarted } from '../support/program.js'
import { tempFolder } from '../support/temp_folder.js'
import { alternating, aTrialCluster, SHARDS } from '../support/trial_cluster.js'

requirePostgres(t)

const YEAR_MS = 365 * DAY
const BECAUSE = ['--reason', 'a year is over']
const machine = Date.now.bind(Date)
t.teardown(() => (Date.now = machine))
let behindMs = YEAR_MS
const dataDir = tempFolder(t)
const cluster = await aTrialCluster({
  dataDir,
  clock: systemClock,
  settings: { RAIL_DELAY_MS: '5' },
  within: (_name, program) => ({
    ...program,
    environment: { ...program.environment, ...clockSkew(-behindMs) },
  }),
  onRefused: (why) => t.fail(why),
})
t.teardown(() => cluster.close())

const RENAMED = 'ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO machine_clock_timestamp'

/** The cluster is stopped. What the server says of the time is a function in its catalog. */
async function setServerBehind(first = ''): Promise<void> {
  const { postgres } = cluster.trial
  const server = run(postgres.program(postgres.primary()), join(dataDir, 'clock.log'))
  await untilStarted(server)
  const connection = await connectToPrimary(parseStoreUrl(postgres.url), 'public', 'test')
  // The standby does not run.
  await connection.exec(`SET synchronous_commit = local; SET allow_system_table_mods = on; ${first};
    CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS 'SELECT pg_catalog.machine_clock_timestamp() - interval ''${behindMs} milliseconds'''`)
  await connection.close()
  await server.stop()
}

interface Paid {
  readonly intent: string
  readonly payouts: readonly string[]
}

async function pay(partner: Partner): Promise<Paid> {
  const { id: intent } = await payByQr(partner, 'one')
  const payouts = await Promise.all(['pay 1', 'pay 2'].map((key) => payOut(partner, key)))
  await untilStatus(partner, `/v1/payment_intents/${intent}`, 'captured')
  for (const id of payouts) await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
  return { intent, payouts }
}

Date.now = () => machine() - behindMs
await setServerBehind(RENAMED)
await cluster.start()
const keys = { books_1: {}, books_2: await cluster.createPartner('second', 'books_2') }
const partnerIn = (shard: keyof typeof keys): Partner =>
  alternating(cluster.connectionsOf(keys[shard]))
const paid = {
  books_1: await pay(partnerIn('books_1')),
  books_2: await pay(partnerIn('books_2')),
}
await cluster.stop()

behindMs = 0
await setServerBehind()
await cluster.start()
const ops = cluster.operatorCli()
const folder = join(dataDir, 'archives')
mkdirSync(folder, { mode: 0o700 })
const fileOf = (shard: string): string => join(folder, `${shard}.db`)
const halfAYearAgo = toRfc3339(plus(systemClock.now(), -190 * DAY))

t.test('ended payments of each shard move to its archive, and no balance changes', async (t) => {
  const before = await ops.json('trial-balance')
  const words = ['--before', halfAYearAgo, ...BECAUSE]
  t.match(
    await ops('archive', fileOf('books_1'), ...words),
    usageError(/Each shard has an archive: name it with --shard, of books_1, books_2/),
  )
  for (const shard of SHARDS) {
    const archive = ['archive', fileOf(shard), ...words, '--shard', shard]
    const done = await ops(...archive)
    const out = `2 payments moved to ${fileOf(shard)}; 1 stay`
    t.match(done, printed(out), 'the keys of the QR payment have not ended')
    t.match(await ops(...archive), printed('0 payments moved'), 'a second run')
    const { data } = await ops.json('actions', '--shard', shard)
    t.match((data as object[])[0], { action: 'archive_payments', reason: 'a year is over' })
  }
  t.same(await ops.json('trial-balance'), before)
})

async function checkWhereTheyAre(): Promise<void> {
  for (const shard of SHARDS) {
    const { intent, payouts } = paid[shard]
    const partner = partnerIn(shard)
    for (const id of payouts) {
      t.match(await ops('find', id), printed(fileOf(shard)))
      t.match(
        await ops('payout show', id),
        refused(`${id} has left the books for the archive ${fileOf(shard)}.\n`),
      )
      const answer = await partner.request('GET', `/v1/payouts/${id}`)
      t.match(answer, { status: 404, body: { error: { code: 'payout_not_found' } } })
    }
    t.match(await ops('intent show', intent), printed('captured'))
    t.equal(await payOut(partner, 'pay 1'), payouts[0], 'the key of an archived payout answers')
  }
}

t.test('operators are told where a payment is, and partners have those that stay', async () =>
  checkWhereTheyAre(),
)

t.test(
  'a partner does not leave a shard that has an archive, and its operator reads why',
  async (t) => {
    const move = ['partner', 'move', 'second', '--to', 'books_1']
    const why = 'It stays in books_2: books_2 has an archive'
    t.match(await ops(...move, '--check'), { exitCode: 1, out: why })
    t.match(await ops(...move, ...BECAUSE), { exitCode: 1, out: why })
  },
)

t.test('the next owner of a shard knows what is in its archive', async (t) => {
  const { pid } = await cluster.ownerOf('books_2')
  process.kill(pid, 'SIGKILL')
  await cluster.ownerOf('books_2')
  const partner = partnerIn('books_2')
  const young = await payOut(partner, 'young')
  await untilStatus(partner, `/v1/payouts/${young}`, 'completed')
  await checkWhereTheyAre()
  const before = toRfc3339(plus(systemClock.now(), -190 * DAY))
  const other = ['archive', join(folder, 'other.db'), '--before', before, '--shard', 'books_2']
  t.match(await ops(...other, ...BECAUSE), refused(/have another archive, .*books_2/))
})

t.test('the audit reads shards and archives as one', async (t) => {
  const audited = await auditOf(dataDir, {})
  t.ok(audited.clean, audited.report)
  t.equal(audited.report.match(/^ok +archive_has_what_left +\(2 rows/gm)?.length, 2)
  t.match(audited.report, /\naudit clean: 2 shards and their union\n$/)
  const given = await auditOf(dataDir, {}, ['--archive', folder])
  t.ok(given.clean, given.report)
  const lost = await auditOf(dataDir, {}, ['--archive', dataDir])
  t.match(lost, { clean: false, report: 'archive_has_what_left' })
})
