/** Two shards on a PostgreSQL server: the first has seeded payments of `demo`, the second none. */
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Instant } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { openCluster } from '../../src/store/cluster/cluster.js'
import type { PartnerMove } from '../../src/store/cluster/partner_moves.js'
import { importSchemas } from '../../src/store/postgres/copy.js'
import { migrate } from '../../src/store/postgres/migrate.js'
import { BOOKS } from '../../src/store/postgres/store.js'
import { writeSeedData } from '../load/seed_data/seed_data.js'
import { connectedTo, startPostgres } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'

export const THERE: PartnerMove = { partner: 'demo', from: 'books_1', to: 'books_2' }
export const BACK: PartnerMove = { partner: 'demo', from: 'books_2', to: 'books_1' }
export const BY = { actor: 'ops', reason: 'a test' }

/** @param seeded payments of each kind, how many of all are open, and when they end */
export async function openTwoShards(
  t: Test,
  seeded: { readonly count: number; readonly open: number; readonly now: Instant },
) {
  const { url } = await startPostgres(t, { fsync: 'off' })
  const dataDir = join(tempFolder(t), 'data')
  await writeSeedData({ folder: dataDir, what: ['payouts', 'intents'], ...seeded })
  const cluster = await openCluster({
    ...{ url, name: 'test', onNameTaken: () => undefined },
    pause: () => new Promise(() => undefined),
  })
  t.teardown(() => cluster.close())
  const connectTo = (schema: string, by: Pick<Test, 'teardown'>) => connectedTo(by, url, schema)
  const sql = await connectTo('cluster', t)
  for (const shard of ['books_1', 'books_2']) await cluster.addShard(shard)
  const file = join(dataDir, FILES.processorDatabase)
  await importSchemas(url, [{ schema: 'books_1', file, holds: 'books' }])
  const shards = { books_1: await connectTo('books_1', t), books_2: await connectTo('books_2', t) }
  await migrate(shards.books_2, 'books_2', BOOKS)
  await sql.exec(`UPDATE books_2.owner SET epoch = 1;
    UPDATE books_2.meta SET value = (SELECT value FROM books_1.meta WHERE name = 'nonce_salt')
      WHERE name = 'nonce_salt';
    INSERT INTO books_2.master_keys SELECT * FROM books_1.master_keys;
    INSERT INTO books_2.lasting_keys SELECT * FROM books_1.lasting_keys;
    INSERT INTO cluster.placements (partner, shard, since)
      SELECT id, 'books_1', 0 FROM books_1.partners`)
  return { url, dataDir, cluster, connectTo, sql, shards }
}
