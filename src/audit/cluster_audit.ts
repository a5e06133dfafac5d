/** The audit of a cluster: each shard as the only books, then their union. */
import { join } from 'node:path'
import type { Clock, Instant } from '../base/clock.js'
import { audit, type AuditReport, type CheckResult } from './audit.js'
import { openBooks } from './books.js'
import type { ClusterExport } from './cluster_export.js'
import { auditUnion, type UnionReport } from './union.js'

export interface ClusterReport {
  readonly clean: boolean
  readonly shards: readonly { readonly shard: string; readonly report: AuditReport }[]
  readonly union: UnionReport
}

export interface ClusterAuditOptions {
  readonly dataDir: string
  /** The folder with the rail's key. */
  readonly railDir: string
  /** The folder of the shards' archives now. Default: where they were written. */
  readonly archive?: string | undefined
  /** The folder of the export. */
  readonly folder: string
  readonly clock: Clock
  readonly live: boolean
  readonly poolsReplacedAt: Instant
  /** Milliseconds of a monotonic clock. */
  readonly stopwatch: () => number
  /** Called before the checks of a shard, and of the union. */
  readonly onPart: (title: string) => void
  /** Called after each check. */
  readonly onCheck: (result: CheckResult) => void
  /** Called after the checks of a shard. */
  readonly onShard: (report: AuditReport) => void
  /** Called after the checks of the union. */
  readonly onUnion: (report: UnionReport) => void
}

export async function auditCluster(
  exported: ClusterExport,
  options: ClusterAuditOptions,
): Promise<ClusterReport> {
  const { dataDir, railDir, archive, folder, clock, poolsReplacedAt } = options
  const { onPart, onShard, onUnion } = options
  const shards: { shard: string; report: AuditReport }[] = []
  const archives = new Map<string, string>()
  for (const { shard, exported: books } of exported.shards) {
    onPart(`shard ${shard}`)
    const how = { poolsReplacedAt, railDir, archive, exported: books }
    const opened = await openBooks(dataDir, clock, how)
    if (opened.archive?.isRead === true) archives.set(shard, opened.archive.path)
    const report = await audit(opened, options)
    await opened.close()
    onShard(report)
    shards.push({ shard, report })
  }
  onPart(shards.length === 1 ? 'union of 1 shard' : `union of ${shards.length} shards`)
  const scratch = join(folder, 'union.db')
  const union = await auditUnion({ ...exported.union, archives }, { ...options, scratch })
  onUnion(union)
  return { clean: union.clean && shards.every(({ report }) => report.clean), shards, union }
}
