/**
 * The audit of each shard of a cluster, and of their union.
 *
 * A shard is audited as the only books: beside the part of the rail's journal and of the webhook
 * pools that belongs to it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FILES, webhookDatabase, webhookSchema } from '../../src/base/subjects.js'
import { openDatabase, type Database } from '../../src/store/database.js'
import { exportSchemas } from '../../src/store/postgres/copy.js'
import { auditOf } from '../support/audit.js'

export interface ClusterData {
  readonly url: string
  readonly shards: readonly string[]
  readonly pools: number
  readonly railFile: string
}

export interface ShardAudit {
  readonly shard: string
  readonly clean: boolean
  readonly report: string
  readonly partners: readonly string[]
  /** Intents and payouts. */
  readonly entities: readonly string[]
  /** Those that endpoints get by default. */
  readonly events: readonly { readonly id: string; readonly what: string }[]
  /** Tenants whose events have gaps. */
  readonly gaps: readonly string[]
  /** At the rail, under this shard. */
  readonly executions: number
}

export async function auditShards(data: ClusterData): Promise<readonly ShardAudit[]> {
  const audits: ShardAudit[] = []
  for (const shard of data.shards) audits.push(await auditShard(data, shard))
  return audits
}

/** What is wrong with the shards together, one per line. */
export async function unionFaults(
  { railFile }: ClusterData,
  audits: readonly ShardAudit[],
): Promise<readonly string[]> {
  const faults = [
    ...repeated(audits.flatMap(({ partners }) => partners)).map((id) => `partner ${id} twice`),
    ...repeated(audits.flatMap(({ entities }) => entities)).map((id) => `${id} in two shards`),
    ...repeated(audits.flatMap(({ events }) => events.map(({ id }) => id))).map(
      (id) => `event ${id} in two shards`,
    ),
  ]
  const rail = await openDatabase(railFile, { readOnly: true })
  const [row] = await rail.all<{ count: number }>(
    'SELECT coalesce(sum(executions), 0) AS count FROM instructions',
  )
  await rail.close()
  const ofShards = audits.reduce((sum, { executions }) => sum + executions, 0)
  if (row?.count !== ofShards) faults.push(`the rail paid ${row?.count}, the shards ${ofShards}`)
  return faults
}

async function auditShard(data: ClusterData, shard: string): Promise<ShardAudit> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-shard-'))
  try {
    const pools = Array.from({ length: data.pools }, (_, index) => index + 1)
    await exportSchemas(data.url, [
      { schema: shard, file: join(folder, FILES.processorDatabase), holds: 'books' },
      ...pools.map((pool) => ({
        schema: webhookSchema('pool', pool),
        file: join(folder, webhookDatabase(pool)),
        holds: 'pool' as const,
      })),
    ])
    const books = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
    const partners = await idsOf(books, 'SELECT id FROM partners')
    const entities = await idsOf(books, 'SELECT id FROM intents UNION ALL SELECT id FROM payouts')
    const events = await books.all<{ id: string; what: string }>(
      `SELECT id, entity || ' ' || type AS what FROM events
       WHERE type <> 'payment_intent.authorized'`,
    )
    const gaps = await idsOf(
      books,
      'SELECT tenant AS id FROM events GROUP BY tenant HAVING count(*) <> max(sequence)',
    )
    await books.close()
    const executions = await keepRail(data.railFile, join(folder, FILES.railDatabase), shard)
    for (const pool of pools) await keepPool(join(folder, webhookDatabase(pool)), partners)
    const { clean, report } = await auditOf(folder, {})
    return { shard, clean, report, partners, entities, events, gaps, executions }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const idsOf = async (database: Database, sql: string): Promise<readonly string[]> =>
  (await database.all<{ id: string }>(sql)).map(({ id }) => id)

/** @returns the executions of the shard */
async function keepRail(from: string, to: string, shard: string): Promise<number> {
  const rail = await openDatabase(from)
  await rail.run('VACUUM INTO ?', [to])
  await rail.close()
  const copy = await openDatabase(to)
  await copy.run(
    `DELETE FROM discrepancies
     WHERE instruction IN (SELECT id FROM instructions WHERE shard IS NOT ?)`,
    [shard],
  )
  await copy.run('DELETE FROM instructions WHERE shard IS NOT ?', [shard])
  const [row] = await copy.all<{ count: number }>(
    'SELECT coalesce(sum(executions), 0) AS count FROM instructions',
  )
  await copy.close()
  return row?.count ?? 0
}

async function keepPool(file: string, partners: readonly string[]): Promise<void> {
  const tenants = partners.flatMap((partner) => [`${partner}_sandbox`, `${partner}_production`])
  const foreign = 'SELECT id FROM events WHERE tenant NOT IN (SELECT value FROM json_each(?))'
  const pool = await openDatabase(file)
  const given = [JSON.stringify(tenants)]
  await pool.run(
    `DELETE FROM attempts WHERE delivery_id IN (
       SELECT id FROM deliveries WHERE event_id IN (${foreign}))`,
    given,
  )
  await pool.run(`DELETE FROM deliveries WHERE event_id IN (${foreign})`, given)
  await pool.run(`DELETE FROM events WHERE id IN (${foreign})`, given)
  await pool.close()
}

function repeated(ids: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.has(id) || !seen.add(id))
}
