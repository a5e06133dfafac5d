/**
 * How long callers wait for the move of a large partner, in the trial cluster, while it and another
 * one pay: `node .build/test/cluster/partner_move_figures.js PAYMENTS`.
 *
 * - The partner's payments are seed data: their books take the place of those of its shard.
 * - Repeated payouts have no keys any more, which prevents a move. Here the other shard allows it,
 *   which has no payouts of its own.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { importSchemas } from '../../src/store/postgres/copy.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { writeSeedData } from '../load/seed_data/seed_data.js'
import { eventually } from '../support/eventually.js'
import { aTrialCluster } from '../support/trial_cluster.js'
import { auditShards } from './shard_audit.js'
import { startHistory } from './histories.js'

const WITHIN_MS = 3_600_000
const say = (text: string): void => console.log(`${new Date().toISOString()} ${text}`)

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string' }, audit: { type: 'boolean' } },
})
const payments = Number(positionals[0] ?? 2_000)
const folder = values.folder ?? `/tmp/move-figures-${payments}`
const [seed, dataDir] = [join(folder, 'seed'), join(folder, 'data')]
mkdirSync(dataDir, { recursive: true, mode: 0o700 })
const TIMES = payments > 100_000 ? 20 : 1
await writeSeedData({
  ...{ folder: seed, count: payments / 2 / TIMES, what: ['payouts', 'intents'] },
  ...{ open: TIMES > 1 ? 0 : 40, times: TIMES, now: systemClock.now() },
})
say(`${payments} payments are written`)
// The audit reads the instructions of its payouts at the rail.
for (const name of [FILES.masterKey, FILES.railDatabase, FILES.railKey])
  copyFileSync(join(seed, name), join(dataDir, name))
const cluster = await aTrialCluster({
  dataDir,
  onRefused: (why) => say(`refused: ${why}`),
})
await cluster.start()
const { url } = cluster.trial.postgres
const file = join(seed, FILES.processorDatabase)
await importSchemas(url, [{ schema: 'books_seed', file, holds: 'books' }])
const server = await connectToPrimary(parseStoreUrl(url), 'cluster', 'test')
say('they are imported')
await server.exec(`BEGIN;
  DELETE FROM books_seed.signing_keys;
  INSERT INTO books_seed.signing_keys SELECT * FROM books_1.signing_keys;
  UPDATE books_seed.meta SET value = (SELECT value FROM books_1.meta WHERE name = 'books_id')
    WHERE name = 'books_id';
  UPDATE books_seed.owner SET epoch = 1000, last_batch = 1000000000;
  DROP SCHEMA books_1 CASCADE;
  ALTER SCHEMA books_seed RENAME TO books_1;
  UPDATE books_2.meta SET value = (SELECT value FROM books_1.meta WHERE name = 'nonce_salt')
    WHERE name = 'nonce_salt';
  INSERT INTO books_2.idempotency_ages SELECT * FROM books_1.idempotency_ages
    ON CONFLICT DO NOTHING;
  INSERT INTO books_2.idempotency_retention
    SELECT * FROM books_1.idempotency_retention WHERE kind = 'payouts';
  DELETE FROM books_1.idempotency_retention WHERE kind = 'payouts';
  UPDATE cluster.fingerprint_salt SET salt = (SELECT value FROM books_1.meta
    WHERE name = 'nonce_salt');
  UPDATE books_2.owner SET epoch = epoch + 1;
  COMMIT`)
await server.exec('VACUUM ANALYZE')
const second = await eventually(
  'both shards are served again',
  () => cluster.createPartner('second', 'books_2').catch(() => undefined),
  WITHIN_MS,
)
const histories = [
  startHistory('demo', cluster.connectionsOf({}), createSeededRandom(1, 1)),
  startHistory('second', cluster.connectionsOf(second), createSeededRandom(1, 2)),
]
const served = async (): Promise<void> => {
  const since = performance.now()
  await eventually(
    'clients are served',
    () => histories.every((history) => history.lastSuccess() > since),
    WITHIN_MS,
  )
}
await served()
const pausesBefore = histories.map(({ pauses }) => pauses.length)
say('both partners are served')
const ops = cluster.operatorCli()
const startedAt = performance.now()
const moved = await ops('partner move demo --to books_2 --reason figures')
await served()
say(`${moved.out}${moved.err} in ${Math.round((performance.now() - startedAt) / 1000)} s`)
for (const [index, { pauses }] of histories.entries()) {
  const longest = pauses.slice(pausesBefore[index]).sort((one, other) => other - one)
  const name = ['demo', 'second'][index]
  say(`longest pauses of ${name}, ms: ${longest.slice(0, 5).map(Math.round).join(' ')}`)
}
const settledAt = performance.now()
await eventually(
  'it is settled',
  async () => (await server.all('SELECT 1 FROM partner_copies')).length === 0,
  WITHIN_MS,
)
say(`in place after ${Math.round((performance.now() - settledAt) / 1000)} s more`)
for (const history of histories) await history.stop()
if (values.audit === true) {
  const { shards, union } = await auditShards({ url, dataDir })
  say(
    JSON.stringify({
      union,
      shards: shards.map(({ shard, clean, report }) => ({ shard, clean, report })),
    }),
  )
}
await server.close()
await cluster.close()
process.exit()
