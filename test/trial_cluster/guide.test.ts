/**
 * The guide's pages about a cluster: their commands, as printed and in their order, in the trial
 * cluster. What a page does on machines (stop, start, copy files) is done to its processes.
 */
import { printed } from '../support/operator_cli.js'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { guidePage } from '../support/operators_guide.js'
import type { Partner } from '../support/partner.js'
import { payOut, requestIntent, untilStatus } from '../support/payments.js'
import { requirePostgres } from '../support/postgres_server.js'
import { startProgram, type CliResult } from '../support/program.js'
import { writeStatement } from '../support/rail_journal.js'
import { tempFolder } from '../support/temp_folder.js'
import { aTrialCluster } from '../support/trial_cluster.js'

requirePostgres(t)

/** For the start of several processes on a busy machine. */
const WITHIN_MS = 90_000
const dataDir = tempFolder(t)
const statement = join(tempFolder(t), 'statement.csv')
const cluster = await aTrialCluster({
  dataDir,
  settings: { RAIL_DELAY_MS: '50' },
  clock: systemClock,
  onRefused: (why) => t.fail(why),
  timeoutMs: 10_000,
})
t.teardown(() => cluster.close())
await cluster.start()

const { ownerOf } = cluster
const members = () => cluster.trial.members()
const partner = (): Partner => cluster.connectionsOf()[0]!
const waiting = (): Promise<ClusterMember> =>
  eventually(
    'a processor waits',
    () => cluster.ofRole('processor').find(({ shard, pid }) => shard === '' && pid > 0),
    WITHIN_MS,
  )

/** The commands of a page, in their order. */
const commandsOf = (title: string): readonly string[] =>
  [...guidePage(title).text.matchAll(/^ *(?:DATA_DIR=\S+ )?make ops ARGS="([^"]+)"$/gm)].map(
    ([, words = '']) => words,
  )

/** @param names what stands in the guide, and what it is here */
async function typed(
  command: string,
  names: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): Promise<CliResult> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain = '']) => quoted ?? names[plain] ?? plain,
  )
  return cluster.operatorCli()(...words, ...more)
}

async function done(t: Test, ...given: Parameters<typeof typed>): Promise<string> {
  const { exitCode, out, err } = await typed(...given)
  t.equal(exitCode, 0, `${given[0]}: ${err}`)
  return out
}

const createIntent = async (key: string): Promise<number> => {
  const answer = await requestIntent(partner(), key).catch(() => undefined)
  return answer?.status ?? 0
}

t.test('NATS has no quorum', async (t) => {
  const [status = '', ...others] = commandsOf('NATS has no quorum')
  t.same(others, [])
  const stopped = members().filter(({ name }) => name === 'nats-1' || name === 'nats-2')
  for (const { pid } of stopped) process.kill(pid, 'SIGSTOP')
  t.teardown(() => {
    for (const { pid } of stopped) process.kill(pid, 'SIGCONT')
  })
  const paid = await payOut(partner(), 'without a quorum')
  await untilStatus(partner(), `/v1/payouts/${paid}`, 'completed')
  t.equal(await createIntent('without a quorum'), 201, 'payments go on')
  for (const { pid } of stopped) process.kill(pid, 'SIGCONT')
  const { ops_url: opsUrl } = cluster.sandbox
  await eventually(
    'the outbox is empty',
    async () => {
      const page = await (await fetch(`${opsUrl}/metrics`)).text()
      const ages = [...page.matchAll(/^causeway_outbox_oldest_age_seconds\{.*\} (\S+)$/gm)]
      return ages.length === 2 && ages.every(([, age]) => age === '0')
    },
    WITHIN_MS,
  )
  t.match(await done(t, status), /pool/)
})

t.test('Restore a cluster', async (t) => {
  const [restore = '', ...commands] = commandsOf('Restore a cluster')
  const backups = join(dataDir, 'backups')
  const server = { STORE: 'postgres', STORE_URL: cluster.trial.postgres.url, DATA_DIR: dataDir }
  await eventually('commits wait for the standby', () => cluster.trial.postgres.isSynchronous())
  const made = await startProgram('operations/main.js', ['backup', backups, '--json'], server).ended
  t.equal(made.exitCode, 0, made.err)
  const { folder } = JSON.parse(made.out) as { readonly folder: string }
  const lost = await payOut(partner(), 'lost', { reference: 'lost' })
  await untilStatus(partner(), `/v1/payouts/${lost}`, 'completed')
  const primary = cluster.trial.postgres.primary()
  await cluster.stop()

  const words = restore.replace('/backups/2026-…', folder).split(' ')
  const target = { DATA_DIR: join(dataDir, 'restored'), STORE_URL: server.STORE_URL }
  const verified = await startProgram('operations/main.js', words, target).ended
  t.match(verified, printed(/^Verified: a whole PostgreSQL server/), verified.err)
  const primaryFolder = join(dataDir, 'cluster', 'postgres', primary)
  rmSync(primaryFolder, { recursive: true })
  mkdirSync(primaryFolder, { mode: 0o700 })
  cpSync(join(folder, 'base'), primaryFolder, { recursive: true })
  await cluster.start({ RECOVERY: 'yes' })
  t.equal(await createIntent('in recovery mode'), 503)

  const [showOne = '', showTwo = '', releaseOne = '', releaseTwo = '', ...rest] = commands
  const shown = await eventually(
    'the bus and the rail tell what the books lack',
    async () => {
      const { out } = await typed(showOne)
      return ['The bus has event ', 'Rail sandbox has '].every((text) => out.includes(text)) && out
    },
    WITHIN_MS,
  )
  t.match(shown, /^Recovery mode since .*: RECOVERY=yes\.\n/)
  t.match(await done(t, showTwo), /^Recovery mode since /)
  await writeStatement(dataDir, statement)
  for (const [release, shard] of [
    [releaseOne, 'books_1'],
    [releaseTwo, 'books_2'],
  ] as const) {
    const before = await ownerOf(shard)
    await done(t, release, { 'statement.csv': statement }, ['--yes'])
    await eventually(
      `${shard} is released`,
      async () => {
        const shown = await typed(`recovery show --shard ${shard}`).catch(() => undefined)
        return shown?.exitCode === 0 && shown.out.includes('Not in recovery mode.')
      },
      WITHIN_MS,
    )
    t.ok(before.shard === shard)
  }
  const [orphans = '', list = '', ...others] = rest
  t.same(others, [])
  t.match(await done(t, orphans), /lost/)
  t.match(await done(t, list), /books_1 .* owned\nbooks_2 .* owned/)
  await eventually('payments go on', async () => (await createIntent('after')) === 201, WITHIN_MS)
  const again = await payOut(partner(), 'lost', { reference: 'lost' })
  t.match(await partner().request('GET', `/v1/payouts/${again}`), { body: { status: 'created' } })
  const { clean, report } = await auditOf(dataDir, {})
  t.ok(clean, report)
})

t.test('Take a machine out of service', async (t) => {
  const [list = '', move = '', after = '', ...others] = commandsOf('Take a machine out of service')
  t.same(others, [])
  t.match(await done(t, list), /books_2 .* owned[^]*waiting/)
  const [drained, next] = [await ownerOf('books_2'), await waiting()]
  const moved = await done(t, move, { p3: next.name })
  t.match(moved, `books_2 is served by ${next.name}`)
  await eventually(
    'it waits',
    async () => new RegExp(`^${drained.name} .* any shard`, 'm').test((await typed(after)).out),
    WITHIN_MS,
  )
  t.equal((await ownerOf('books_2')).name, next.name)
})

t.test('Add a shard', async (t) => {
  const [create = '', list = '', partnerCreate = '', rates = '', ...others] =
    commandsOf('Add a shard')
  t.same(others, [])
  t.equal((await typed(`rates set THB 36.50 --reason 'of all shards' --force`)).exitCode, 0)
  t.match(await done(t, create), /books_3 /)
  await ownerOf('books_3')
  t.match(await done(t, list), /books_1 .* owned\nbooks_2 .* owned\nbooks_3 .* owned\n/)
  t.match(await done(t, partnerCreate), /initech/)
  t.match(await done(t, rates), /THB .* 36\.50/)
  t.match((await typed('partner list')).out, /initech/)
})

t.test('Upgrade a cluster', async (t) => {
  const [system = '', list = '', again = '', ...others] = commandsOf('Upgrade a cluster')
  t.same(others, [])
  const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
  t.match(await done(t, system), version)
  t.match(await done(t, list), /books_3 .* owned/)
  const before = new Map(members().map(({ name, pid }) => [name, pid]))
  await cluster.trial.restart()
  await eventually(
    'every process is another one',
    () =>
      members().every(({ name, role, pid }) => {
        return role === 'postgres' || (pid > 0 && pid !== before.get(name))
      }),
    WITHIN_MS,
  )
  t.match(await done(t, again), version)
  await eventually('it pays', async () => (await createIntent('upgraded')) === 201, WITHIN_MS)
  const { clean, report } = await auditOf(dataDir, {})
  t.ok(clean, report)
})
