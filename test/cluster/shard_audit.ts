/** The audit of all shards of a cluster, and the entities of each shard. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditCluster } from '../../src/audit/cluster_audit.js'
import { exportCluster } from '../../src/audit/cluster_export.js'
import { conclusion } from '../../src/audit/report.js'
import { instant, systemClock } from '../../src/base/clock.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { SKIPPED_POSITIONS } from '../../src/processor/commands/operators/recovery_release.js'
import type { Database } from '../../src/store/database.js'

export interface ClusterData {
  readonly url: string
  /** Has the rail's log. */
  readonly dataDir: string
}

export interface ClusterAudit {
  readonly shards: readonly ShardAudit[]
  /** Faults of the union of the shards, one per line. */
  readonly union: readonly string[]
}

export interface ShardAudit {
  readonly shard: string
  readonly clean: boolean
  /** The last line of its audit, or the violation with its timeline. */
  readonly report: string
  /** Intents and payouts. */
  readonly entities: readonly string[]
  /** Tenants whose events have gaps. */
  readonly gaps: readonly string[]
  /** Why submissions were stopped. No pool is ahead of books that lose nothing. */
  readonly stops: readonly string[]
}

export async function auditShards({ url, dataDir }: ClusterData): Promise<ClusterAudit> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-shards-'))
  const given = {
    ...{ url, poolUrl: url, dataDir, railDir: dataDir, folder, poolSchema: 'pool' },
    ...{ shard: 'books_1', clock: systemClock },
  }
  try {
    const exported = await exportCluster(given)
    if (exported === undefined) throw new Error('the server has no cluster')
    const none = (): void => undefined
    const { shards, union } = await auditCluster(exported, {
      ...{ ...given, live: false, poolsReplacedAt: instant(0), stopwatch: () => 0 },
      ...{ onPart: none, onCheck: none, onShard: none, onUnion: none },
    })
    const audits: ShardAudit[] = []
    for (const { shard, report } of shards) {
      const source = exported.union.shards.find((each) => each.shard === shard)
      const held = await contentsOf(source?.books ?? '')
      audits.push({ shard, clean: report.clean, report: conclusion(report), ...held })
    }
    const faults = union.broken.map(
      ({ name, entity, found, expected }) => `${name}: ${entity} ${found}, expected ${expected}`,
    )
    return { shards: audits, union: faults }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Contents = Pick<ShardAudit, 'entities' | 'gaps' | 'stops'>

async function contentsOf(file: string): Promise<Contents> {
  const books = await openDatabase(file, { readOnly: true })
  const entities = await idsOf(books, 'SELECT id FROM intents UNION ALL SELECT id FROM payouts')
  const gaps = await idsOf(
    books,
    `SELECT DISTINCT tenant AS id FROM (
       SELECT tenant, sequence - lag(sequence, 1, 0) OVER (PARTITION BY tenant ORDER BY sequence)
         AS step FROM events) WHERE step <> 1 AND step <= ${SKIPPED_POSITIONS}`,
  )
  const stops = await idsOf(
    books,
    "SELECT cause AS id FROM recoveries WHERE stops = 'submissions' ORDER BY number",
  )
  await books.close()
  return { entities, gaps, stops }
}

const idsOf = async (database: Database, sql: string): Promise<readonly string[]> =>
  (await database.all<{ id: string }>(sql)).map(({ id }) => id)
