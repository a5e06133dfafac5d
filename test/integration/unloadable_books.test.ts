/** Processors as processes: one that cannot load the books of a shard leaves it to another one. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { EXIT_DEPOSED } from '../../src/process/child.js'
import { startClusterProcesses, untilCandidate } from '../support/cluster_processes.js'
import { eventually } from '../support/eventually.js'
import { requirePostgres } from '../support/postgres_server.js'

requirePostgres(t)

const { folder, postgres, dataDirOf, start } = await startClusterProcesses(t, [])
const connection = new Client({ connectionString: postgres.url })
await connection.connect()
t.teardown(() => connection.end())

/** Why a waiting processor cannot take the shard. Undefined if it can, or does not wait. */
const cannotTake = async (name: string): Promise<string | undefined> => {
  const { rows } = await connection.query<{ found: string | null }>(
    `SELECT cannot_take::json ->> 'books_1' AS found FROM cluster.candidates WHERE name = $1`,
    [name],
  )
  return rows[0]?.found ?? undefined
}
const waits = (name: string) => async (): Promise<boolean> =>
  (await connection.query(`SELECT 1 FROM cluster.candidates WHERE name = $1`, [name])).rows.length >
  0

const failedLoads = join(dataDirOf('p2'), FILES.failedLoads)
/** A failure long ago, after several others: the next one counts for minutes. */
const failedLongAgo = (): void =>
  writeFileSync(failedLoads, '{"books_1":{"failures":9,"at":1}}', { mode: 0o600 })

t.test('a spare with other bytes of the master key', async (t) => {
  const first = await start('p1', { CLUSTER: 'member', SHARD: 'books_1' })
  await first.run.untilReady()
  const key = readFileSync(join(folder, FILES.masterKey), 'utf8')
  const MASTER_KEY_FILE = join(folder, 'other.key')
  const hex = /[0-9a-f]{64}/
  t.match(key, hex)
  writeFileSync(MASTER_KEY_FILE, key.replace(hex, '07'.repeat(32)), { mode: 0o600 })
  failedLongAgo()
  const spare = await start('p2', { CLUSTER: 'spare', MASTER_KEY_FILE })
  await eventually('it waits', waits('p2'))
  await first.run.end()
  t.equal(await spare.run.ended, EXIT_DEPOSED)
  t.match(spare.run.output(), 'the books cannot be loaded: the shard is given up')
  t.match(spare.run.output(), 'differs from the one that encrypted: restore its line')

  const again = await start('p2', { CLUSTER: 'spare', MASTER_KEY_FILE })
  const reason = await eventually('it says why it leaves the shard', () => cannotTake('p2'))
  t.match(reason, /^its books could not be loaded at 20/)
  const next = await start('p1', { CLUSTER: 'member', SHARD: 'books_1' })
  await next.run.untilReady()
  t.match(await next.run.readyz(), { processor: 'p1', shard: 'books_1', epoch: 3 })
  await untilCandidate(again)

  await again.run.end()
  failedLongAgo()
  const repaired = await start('p2', { CLUSTER: 'spare' })
  await eventually('it waits', waits('p2'))
  await next.run.end()
  await repaired.run.untilReady()
  t.match(await repaired.run.readyz(), { processor: 'p2', shard: 'books_1', epoch: 4 })
  t.equal(readFileSync(failedLoads, 'utf8'), '{}\n')
})
