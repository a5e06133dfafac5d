/**
 * The shards of a PostgreSQL cluster as files: books and webhook pools as one snapshot shows them,
 * and beside each shard its part of the rail's log and of the pools.
 *
 * - The log is copied after the snapshot, so it contains everything that the books record of the
 *   rail.
 * - A shard that no processor has served has no books yet.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Instant } from '../base/clock.js'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX, webhookSchema } from '../base/subjects.js'
import { openDatabase } from '../store/sqlite/database.js'
import {
  exportSchemas,
  readSnapshot,
  type SchemaFile,
  type Snapshot,
} from '../store/postgres/copy.js'
import type { Exported } from './books.js'
import { writePoolPart, writeRailPart } from './shard_parts.js'
import type { PlacedPartner, RegisteredShard, UnionSources } from './union.js'

export interface ClusterExport {
  readonly asOf: Instant
  /** Those with books, sorted by name. */
  readonly shards: readonly { readonly shard: string; readonly exported: Exported }[]
  readonly union: UnionSources
}

export interface ClusterExportOptions {
  readonly url: string
  /** That of the webhook pools. */
  readonly poolUrl: string
  /** The folder with the rail's log. */
  readonly railDir: string
  /** An empty folder for the files. */
  readonly folder: string
  /** Prefix of the pools' schemas. */
  readonly poolSchema: string
  /** The setting SHARD: a schema that is no shard of the cluster is audited alone. */
  readonly shard: string
  readonly clock: Clock
}

/** @returns undefined when the server has no cluster, or `shard` is outside of it */
export async function exportCluster(
  options: ClusterExportOptions,
): Promise<ClusterExport | undefined> {
  const { url, poolUrl, railDir, folder, clock } = options
  const asOf = clock.now()
  const found = await readSnapshot(url, (snapshot) => exportSnapshot(snapshot, options))
  if (found === undefined) return undefined
  if (poolUrl !== url) await exportSchemas(poolUrl, poolSchemas(options))
  const { registered, placements, shards } = found
  const pools = poolFiles(folder).filter(existsSync)
  const rail = await copyRail(join(railDir, FILES.railDatabase), join(folder, FILES.railDatabase))
  for (const shard of shards) {
    const to = join(folder, shard)
    if (rail !== undefined) await writeRailPart(rail, to, shard)
    for (const pool of pools) await writePoolPart(pool, to)
  }
  const partOf = (shard: string, name: string): string => join(folder, shard, name)
  return {
    asOf,
    shards: shards.map((shard) => ({
      shard,
      exported: {
        folder: join(folder, shard),
        railFolder: join(folder, shard),
        asOf,
        again: async () => {
          const file = partOf(shard, 'later.db')
          await exportSchemas(url, [{ schema: shard, file, holds: 'books' }])
          return file
        },
      },
    })),
    union: {
      ...{ asOf, registered, placements, pools, rail },
      shards: shards.map((shard) => ({
        shard,
        books: partOf(shard, FILES.processorDatabase),
        rail: rail === undefined ? undefined : partOf(shard, FILES.railDatabase),
      })),
    },
  }
}

const poolFiles = (folder: string): string[] =>
  Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) => join(folder, webhookDatabase(index + 1)))

const poolSchemas = ({
  folder,
  poolSchema,
}: Pick<ClusterExportOptions, 'folder' | 'poolSchema'>): readonly SchemaFile[] =>
  poolFiles(folder).map((file, index) => ({
    schema: webhookSchema(poolSchema, index + 1),
    file,
    holds: 'pool',
  }))

interface SnapshotRows {
  readonly registered: readonly RegisteredShard[]
  readonly placements: readonly PlacedPartner[]
  readonly shards: readonly string[]
}

const SHARDS = `SELECT shard, epoch, to_regclass(shard || '.owner') IS NOT NULL AS "isThere"
  FROM cluster.shards ORDER BY shard`
const PLACEMENTS = 'SELECT partner, shard FROM cluster.placements'
const ARE_THERE = `SELECT to_regclass('cluster.placements') IS NOT NULL AS cluster,
  to_regclass(? || '.owner') IS NOT NULL AS shard`

async function exportSnapshot(
  snapshot: Snapshot,
  options: ClusterExportOptions,
): Promise<SnapshotRows | undefined> {
  const { folder, shard: given, url, poolUrl } = options
  const [are] = await snapshot.all<{ cluster: boolean; shard: boolean }>(ARE_THERE, [given])
  if (are?.cluster !== true) return undefined
  const registered = await snapshot.all<RegisteredShard & { isThere: boolean }>(SHARDS)
  const isAlone = are.shard && !registered.some(({ shard }) => shard === given)
  if (registered.length === 0 || isAlone) return undefined
  const shards: string[] = []
  for (const { shard, isThere } of registered) {
    const owners = isThere ? await snapshot.all<{ epoch: number }>(ownerOf(shard)) : []
    if (owners.some(({ epoch }) => epoch > 0)) shards.push(shard)
  }
  for (const shard of shards) {
    mkdirSync(join(folder, shard))
    const file = join(folder, shard, FILES.processorDatabase)
    await snapshot.export([{ schema: shard, file, holds: 'books' }])
  }
  if (poolUrl === url) await snapshot.export(poolSchemas(options))
  return { registered, placements: await snapshot.all<PlacedPartner>(PLACEMENTS), shards }
}

/** Names are checked (the column's CHECK), so they are safe inside SQL. */
const ownerOf = (shard: string): string => `SELECT epoch FROM ${shard}.owner`

/** @returns `to`; undefined when there is no log */
async function copyRail(from: string, to: string): Promise<string | undefined> {
  if (!existsSync(from)) return undefined
  const rail = await openDatabase(from, { readOnly: true })
  await rail.exec('PRAGMA query_only = OFF') // which also refuses to write another file
  await rail.run('VACUUM INTO ?', [to])
  await rail.close()
  return to
}
