/**
 * The audit of the union of all shards of a cluster: rules across shards.
 *
 * Owns: a scratch database with the rows that the shards must not share. Does not own: the rules
 * (checks/union).
 *
 * - All checks run, also after a violation: they do not depend on each other.
 * - At most ten files are attached at a time (SQLite's limit): shards are read one by one.
 */
import { instant, type Instant } from '../base/clock.js'
import { openDatabase } from '../store/sqlite/database.js'
import type { Database } from '../store/database.js'
import { findingOf, type CheckResult } from './audit.js'
import type { Source } from './books.js'
import type { QueriedRows, Violation } from './check.js'
import { partsOfSum, UNION_CHECKS } from './checks/union.js'

/** As the schema `cluster` has it. */
export interface RegisteredShard {
  readonly shard: string
  /** The epoch of the last owner that served. 0 if none has. */
  readonly epoch: number
}

export interface PlacedPartner {
  readonly partner: string
  readonly shard: string
}

export interface UnionSources {
  readonly asOf: Instant
  readonly registered: readonly RegisteredShard[]
  readonly placements: readonly PlacedPartner[]
  /** Files of the shards that have books: the books, and the part of the rail's log. */
  readonly shards: readonly {
    readonly shard: string
    readonly books: string
    readonly rail: string | undefined
  }[]
  /** The files of archived payments by shard. */
  readonly archives?: ReadonlyMap<string, string>
  /** The whole databases of all pools. */
  readonly pools: readonly string[]
  /** The whole log. */
  readonly rail: string | undefined
}

export interface UnionReport {
  readonly clean: boolean
  readonly shards: number
  readonly checks: readonly CheckResult[]
  /** The first violation of each broken check. */
  readonly broken: readonly BrokenUnion[]
}

export interface BrokenUnion extends Violation {
  readonly name: string
  readonly sentence: string
}

export interface UnionOptions {
  /** A file that does not exist yet. */
  readonly scratch: string
  /** Leave out the rail and the pools. */
  readonly live: boolean
  /** Milliseconds of a monotonic clock. */
  readonly stopwatch: () => number
  /** Called after each check. */
  readonly onCheck: (result: CheckResult) => void
}

export async function auditUnion(
  sources: UnionSources,
  { scratch, live, stopwatch, onCheck }: UnionOptions,
): Promise<UnionReport> {
  const { database, rows } = await openUnion(scratch, sources)
  const has = { rail: sources.rail !== undefined, webhooks: sources.pools.length > 0 }
  const isMissing = (source: Source): boolean =>
    (source === 'rail' || source === 'webhooks') && (live || !has[source])
  const checks: CheckResult[] = []
  const broken: BrokenUnion[] = []
  for (const check of UNION_CHECKS) {
    const { name, sentence, reads } = check
    const startedAt = stopwatch()
    const finding = reads.some(isMissing) ? undefined : await findingOf(check, rows)
    const outcome = finding === undefined ? 'left out' : finding.broken === null ? 'ok' : 'broken'
    const ms = Math.round(stopwatch() - startedAt)
    const result: CheckResult = { name, outcome, rows: finding?.rows ?? 0, ms }
    checks.push(result)
    onCheck(result)
    if (finding?.broken) broken.push({ name, sentence, ...finding.broken })
  }
  await database.close()
  return { clean: broken.length === 0, shards: sources.shards.length, checks, broken }
}

const TABLES = `
  CREATE TABLE registered (shard TEXT PRIMARY KEY, epoch INTEGER NOT NULL);
  CREATE TABLE placements (partner TEXT PRIMARY KEY, shard TEXT NOT NULL);
  CREATE TABLE owners (shard TEXT PRIMARY KEY, epoch INTEGER NOT NULL);
  CREATE TABLE partners (shard TEXT NOT NULL, partner TEXT NOT NULL);
  CREATE TABLE ids (shard TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL);
  CREATE TABLE moved (shard TEXT NOT NULL, id TEXT NOT NULL);
  CREATE TABLE payments (shard TEXT NOT NULL, id TEXT NOT NULL, instruction TEXT NOT NULL,
    state TEXT NOT NULL, currency TEXT, amount INTEGER, rail TEXT NOT NULL);
  CREATE TABLE accounted (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE audited (shard TEXT NOT NULL, currency TEXT NOT NULL, executions INTEGER NOT NULL,
    wholes INTEGER NOT NULL, rests INTEGER NOT NULL);`

/** Tables with ids that are unique in the cluster. */
const WITH_IDS = [
  ...(['payouts', 'intents', 'beneficiaries', 'events', 'fx_quotes', 'discrepancies'] as const),
  ...(['signing_keys', 'webhook_endpoints', 'approval_requests'] as const),
] as const

async function openUnion(
  scratch: string,
  { asOf, registered, placements, shards, archives, pools, rail }: UnionSources,
): Promise<{ database: Database; rows: QueriedRows }> {
  const database = await openDatabase(scratch)
  await database.exec(`PRAGMA synchronous = OFF; ${TABLES}`)
  await database.run(
    `INSERT INTO registered SELECT value ->> 'shard', value ->> 'epoch' FROM json_each(?)`,
    [JSON.stringify(registered)],
  )
  await database.run(
    `INSERT INTO placements SELECT value ->> 'partner', value ->> 'shard' FROM json_each(?)`,
    [JSON.stringify(placements)],
  )
  for (const each of shards) {
    await addShard(database, { ...each, archive: archives?.get(each.shard) }, asOf)
  }
  await database.exec(`CREATE INDEX payments_id ON payments (id);
    CREATE INDEX payments_instruction ON payments (instruction)`)
  if (rail !== undefined) await database.run('ATTACH DATABASE ? AS rail', [rail])
  const names = pools.map((_, index) => `pool_${index + 1}`)
  for (const [index, file] of pools.entries()) {
    await database.run(`ATTACH DATABASE ? AS ${names[index]}`, [file])
  }
  const count = async (table: string): Promise<number> =>
    (await database.all<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n ?? 0
  const none = new Set<string>()
  const rows = { asOf, poolsReplacedAt: instant(0), pools: names, corrupt: none, count }
  return { database, rows: { ...rows, all: database.all } }
}

/** A corrupt context has no amount; its shard's audit reports it. */
const payments = (hasArchive: boolean): string => `
  SELECT ?1, id, coalesce(
           (SELECT o.instruction FROM shard.orphan_executions o WHERE o.matched_to = p.id), id),
         state, currency, amount, coalesce(rail, 'sandbox')
    FROM (
      SELECT id, state, iif(json_valid(context), context, '{}') ->> 'currency' AS currency,
             CAST(iif(json_valid(context), context, '{}') ->> 'recipientAmount' AS INTEGER)
               AS amount, iif(json_valid(context), context, '{}') ->> 'rail' AS rail
        FROM ${actors('payouts', hasArchive)}
      UNION ALL
      SELECT id, state, iif(json_valid(context), context, '{}') ->> '$.scanned.quote.currency',
             CAST(iif(json_valid(context), context, '{}') ->> '$.scanned.quote.localMinor'
               AS INTEGER), iif(json_valid(context), context, '{}') ->> '$.confirmation.rail'
        FROM ${actors('intents', hasArchive)}) p`
/** An archived payment is of the shard that it has left. */
const actors = (table: 'intents' | 'payouts', hasArchive: boolean): string =>
  hasArchive
    ? `(SELECT id, state, context FROM shard.${table} UNION ALL
        SELECT id, state, context FROM archive.${table} a
          WHERE EXISTS (SELECT 1 FROM shard.archived_payments x WHERE x.id = a.id))`
    : `shard.${table}`
/** A mismatch that an operator can see is no violation. */
const ACCOUNTED = `
  SELECT instruction FROM shard.orphan_executions
  UNION SELECT entity FROM shard.discrepancies
  UNION SELECT subject FROM shard.operator_log WHERE evidence IS NOT NULL
  UNION SELECT id FROM shard.payouts WHERE NOT json_valid(context)
  UNION SELECT id FROM shard.intents WHERE NOT json_valid(context)`
const AUDITED = `
  SELECT ?1, currency, sum(executions), ${partsOfSum('amount', 'executions')}
    FROM part.instructions WHERE received_at < ?2
      AND (coalesce(shard, ?1) = ?1 OR id IN (SELECT id FROM payments WHERE shard = ?1))
    GROUP BY currency`

async function addShard(
  database: Database,
  source: UnionSources['shards'][number] & { readonly archive: string | undefined },
  asOf: Instant,
): Promise<void> {
  const { shard, books, rail, archive } = source
  const hasArchive = archive !== undefined
  await database.run('ATTACH DATABASE ? AS shard', [books])
  if (hasArchive) await database.run('ATTACH DATABASE ? AS archive', [archive])
  const insert = (into: string, select: string): Promise<number> =>
    database.run(`INSERT OR IGNORE INTO ${into} ${select}`, [shard])
  await insert('owners', 'SELECT ?1, epoch FROM shard.owner')
  await insert('partners', 'SELECT ?1, id FROM shard.partners')
  for (const table of WITH_IDS) await insert('ids', `SELECT ?1, '${table}', id FROM shard.${table}`)
  await insert(
    'moved',
    `SELECT ?1, id FROM shard.moved_payments
    WHERE partner NOT IN (SELECT id FROM shard.partners)`,
  )
  await insert('payments', payments(hasArchive))
  await database.run(`INSERT OR IGNORE INTO accounted ${ACCOUNTED}`)
  if (hasArchive) {
    for (const table of ['intents', 'payouts']) {
      const left = 'SELECT id FROM shard.archived_payments'
      await insert('ids', `SELECT ?1, '${table}', id FROM archive.${table} WHERE id IN (${left})`)
    }
    await database.exec('DETACH DATABASE archive')
  }
  await database.exec('DETACH DATABASE shard')
  if (rail === undefined) return
  await database.run('ATTACH DATABASE ? AS part', [rail])
  await database.run(`INSERT INTO audited ${AUDITED}`, [shard, asOf])
  await database.exec('DETACH DATABASE part')
}
