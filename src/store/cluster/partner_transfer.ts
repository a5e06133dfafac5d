/**
 * Moves a partner's rows from one shard to another: one transaction of PostgreSQL.
 *
 * Owns: which rows of each table go, their numbers in the other shard, what prevents a move. Does
 * not own: requests (cluster/partner_moves), when both owners have stopped (processor/cluster).
 *
 * - Both owners have stopped at a batch. Before its end the transaction locks both owner rows and
 *   finds each at this epoch and batch; else nothing is moved. Of a shard without an owner it
 *   raises the epoch at once. It moves the rows and the placement, or nothing. Owners read after
 *   it.
 * - Everything of a partner is of one of its tenants, also its accounts, so no balance changes.
 * - Postings, positions of events, sequences of keys and numbers of intents are a shard's own: rows
 *   get the next ones there, in their order. Ids, event numbers of a tenant and moments stay.
 * - An entry keeps the first posting that it had (`posted_as`), which its public id is made of. New
 *   postings are above all of both shards, so these numbers order the entries of a tenant too.
 * - Fingerprints are salted: both shards have the same salt. Nonces cannot be told apart by
 *   partner, so all of them are copied.
 * - Before the end the moved books are checked: each balance is the sum of its entries, each
 *   intent has its link and each payout its key. A failed check undoes the move.
 */
import { NONCE_WINDOW_MS } from '../../base/constants.js'
import { crashPoint } from '../../base/crash_point.js'
import type { Connection } from '../postgres/connection.js'
import {
  FINGERPRINT_BYTES,
  GivenUp,
  inTenants,
  moveKeys,
  moveLinks,
  tenantsOf,
} from './partner_fingerprints.js'
import type { HeldAt, MovedBy, PartnerMove } from './partner_moves.js'
import { pendingAt } from './partner_moves.js'

/** The time of a move grows with its rows, and partners wait for it. */
export const MOVED_PAYMENTS_MAX = 10_000
/** No candidate takes the shards over before its end, also when this process is gone. */
const BOUNDS = `SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '3s';
  SET LOCAL statement_timeout = '20s'; SET LOCAL jit = off`
/**
 * Nonces that are older cannot be used again. A table of nonces takes a step back of its clock by
 * more than NONCE_KEPT_MS for a new clock (auth/nonces), so older ones must not follow newer ones.
 */
const NONCES_WITHIN_MS = NONCE_WINDOW_MS + 15_000

export interface MovedKey {
  readonly sequence: number
  readonly key: string
}

export type Transfer =
  | {
      readonly kind: 'moved'
      readonly payments: number
      /** Those that are not in the shard any more. */
      readonly keys: readonly MovedKey[]
    }
  /** The move has ended, or an owner of the shards has not stopped. */
  | { readonly kind: 'not_now' }
  /** Nothing has changed. */
  | { readonly kind: 'given_up'; readonly cause: string }

export interface PartnerSize {
  readonly payments: number
  readonly entries: number
  readonly events: number
}

type Rows = Pick<Connection, 'all' | 'run'>

const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

const tenantIn = (account: string, partner: string): string =>
  `split_part(${account}, ':', 1) ${inTenants(partner)}`

export async function sizeOf(rows: Rows, { partner, from }: PartnerMove): Promise<PartnerSize> {
  const count = (table: string): string =>
    `(SELECT count(*) FROM ${from}.${table} WHERE tenant ${inTenants(partner)})`
  const [size] = await rows.all<PartnerSize>(
    `SELECT ${count('intents')} + ${count('payouts')} AS payments,
       ${count('ledger_entries')} AS entries, ${count('events')} AS events`,
  )
  return size!
}

/** Why the partner cannot move. Null if it can. */
export async function obstacleTo(rows: Rows, move: PartnerMove): Promise<string | null> {
  const { partner, from, to } = move
  const isThere = async (sql: string): Promise<boolean> => (await rows.all(sql)).length > 0
  const metaOf = (shard: string, name: string): string =>
    `(SELECT value FROM ${shard}.meta WHERE name = '${name}')`
  const [books] = await rows.all<{ same_version: boolean; same_salt: boolean; linked: boolean }>(
    `SELECT (SELECT schema_version FROM ${from}.owner) = (SELECT schema_version FROM ${to}.owner)
         AS same_version,
       ${metaOf(from, 'nonce_salt')} = ${metaOf(to, 'nonce_salt')} AS same_salt,
       coalesce(${metaOf(from, 'unlinked_to')}, '') = '' AS linked`,
  )
  if (books?.same_version !== true) return `${from} and ${to} are of different versions`
  if (!books.same_salt) return `${from} and ${to} have different salts: one is older than 1.2`
  if (!books.linked) return `${from} has intents of before they were linked by user`
  if (
    await isThere(`SELECT 1 FROM ${from}.recoveries UNION ALL
      SELECT 1 FROM ${to}.recoveries WHERE released_at IS NULL LIMIT 1`)
  )
    return `${from} has been, or ${to} is, in recovery mode`
  if (
    await isThere(`SELECT 1 FROM ${from}.orphan_executions UNION ALL
      SELECT 1 FROM ${to}.orphan_executions WHERE resolved_at IS NULL LIMIT 1`)
  )
    return `${from} or ${to} has orphan executions`
  if (
    await isThere(`SELECT 1 FROM ${from}.approval_requests
      WHERE status = 'pending' AND expires_at > ${NOW} LIMIT 1`)
  )
    return `${from} has requests that wait for a second operator`
  if (
    await isThere(`SELECT 1 FROM ${from}.user_erasures
      WHERE tenant ${inTenants(partner)} AND ended_at IS NULL LIMIT 1`)
  )
    return `users of ${partner} are being erased`
  if (await isThere(`SELECT 1 FROM ${from}.idempotency_retention WHERE kind = 'payouts' LIMIT 1`))
    return `keys of payouts are deleted in ${from} by their age`
  if (await isThere(`SELECT 1 FROM ${from}.archives LIMIT 1`)) return `${from} has an archive`
  const { payments } = await sizeOf(rows, move)
  if (payments > MOVED_PAYMENTS_MAX)
    return `${partner} has ${payments} payments, and a move takes at most ${MOVED_PAYMENTS_MAX}`
  return null
}

/** Where the owners have stopped, by shard. */
export type HeldOwners = Readonly<Record<string, HeldAt>>

/** @throws Error when it is not known whether the partner has moved */
export async function transferPartner(
  connection: Connection,
  move: PartnerMove,
  held: HeldOwners = {},
): Promise<Transfer> {
  await connection.exec(`BEGIN; ${BOUNDS}`)
  try {
    const by = await lock(connection, move, held)
    if (by === undefined) {
      await connection.exec('ROLLBACK')
      return { kind: 'not_now' }
    }
    const obstacle = await obstacleTo(connection, move)
    if (obstacle !== null) throw new GivenUp(obstacle)
    const payments = await moveRows(connection, move, by)
    const keys = await connection.all<MovedKey>('SELECT sequence, key FROM keys')
    await checkOwners(connection, move, held)
    crashPoint('partner_move.ending')
    await connection.exec('COMMIT')
    return { kind: 'moved', payments, keys }
  } catch (error) {
    await connection.exec('ROLLBACK')
    const cause = error instanceof GivenUp ? error.message : `it failed: ${String(error)}`
    await giveUp(connection, move, cause)
    return { kind: 'given_up', cause }
  }
}

async function giveUp(connection: Rows, { partner }: PartnerMove, cause: string): Promise<void> {
  await connection.run(
    `UPDATE cluster.partner_moves SET ended_at = ${NOW}, cause = ?
     WHERE partner = ? AND ended_at IS NULL`,
    [cause, partner],
  )
}

/** @returns undefined when it has ended, or a shard without an owner has one */
async function lock(
  connection: Rows,
  move: PartnerMove,
  held: HeldOwners,
): Promise<MovedBy | undefined> {
  const [by] = await connection.all<MovedBy>(
    `SELECT actor, reason FROM cluster.partner_moves JOIN cluster.placements USING (partner)
     WHERE partner = ? AND from_shard = ? AND to_shard = ? AND shard = ? AND ${pendingAt(NOW)}
     FOR UPDATE OF partner_moves SKIP LOCKED`,
    [move.partner, move.from, move.to, move.from],
  )
  if (by === undefined) return undefined
  for (const shard of shardsOf(move)) {
    if (held[shard] !== undefined) continue
    const locked = await connection.run(
      `UPDATE ${shard}.owner SET epoch = epoch + 1 WHERE holder = ''`,
    )
    if (locked === 0) return undefined
  }
  return by
}

/** Both owner rows stay locked until the end of the transaction. */
async function checkOwners(connection: Rows, move: PartnerMove, held: HeldOwners): Promise<void> {
  for (const shard of shardsOf(move)) {
    const at = held[shard]
    if (at === undefined) continue
    const found = await connection.all(
      `SELECT 1 FROM ${shard}.owner WHERE epoch = ? AND last_batch = ? FOR UPDATE`,
      [at.epoch, at.batch],
    )
    if (found.length === 0) throw new GivenUp(`the owner of ${shard} has not waited`)
  }
}

/** In the order in which every process locks them. */
const shardsOf = ({ from, to }: PartnerMove): readonly string[] => [from, to].sort()

const lastMomentsIn = (shard: string): readonly string[] => [
  `(SELECT created_at FROM ${shard}.events ORDER BY position DESC LIMIT 1)`,
  `(SELECT at FROM ${shard}.ledger_entries ORDER BY posting DESC LIMIT 1)`,
  `(SELECT at FROM ${shard}.operator_log ORDER BY id DESC LIMIT 1)`,
]

/** SQL for the columns that change. */
type Changed = Readonly<Record<string, string>>

async function moveRows(
  connection: Connection,
  move: PartnerMove,
  { actor, reason }: MovedBy,
): Promise<number> {
  const { partner, from, to } = move
  const run = (sql: string): Promise<number> => connection.run(sql)
  const columnsOf = async (table: string): Promise<readonly string[]> => {
    const found = await connection.all<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position`,
      [from, table],
    )
    return found.map(({ name }) => name)
  }
  /** Moves the rows of `x` under a condition. `changed` has SQL for the columns that change. */
  const moveTable = async (
    table: string,
    condition: string,
    changed: Changed = {},
    left: readonly string[] = [],
  ): Promise<number> => {
    const columns = (await columnsOf(table)).filter((name) => !left.includes(name))
    const order = left.length === 0 ? '' : `ORDER BY ${left.join(', ')}`
    return run(`
      WITH gone AS (DELETE FROM ${from}.${table} AS x WHERE ${condition} RETURNING x.*)
      INSERT INTO ${to}.${table} (${columns.join(', ')})
      SELECT ${columns.map((name) => changed[name] ?? name).join(', ')} FROM gone ${order}`)
  }
  const check = async (fault: string, sql: string): Promise<void> => {
    const [found] = await connection.all<{ subject: string }>(`${sql} LIMIT 1`)
    if (found !== undefined) throw new GivenUp(`${fault}: ${found.subject}`)
  }
  const one = async (sql: string): Promise<number> =>
    (await connection.all<{ value: number }>(sql))[0]?.value ?? 0
  const isOwn = `tenant ${inTenants(partner)}`

  const lastPosting = await one(`SELECT greatest(
      (SELECT coalesce(max(posting), 0) FROM ${from}.ledger_entries),
      (SELECT coalesce(max(posting), 0) FROM ${to}.ledger_entries),
      (SELECT coalesce(max(below) - 1, 0) FROM ${to}.moved_postings)) AS value`)
  // The next owners take the last moment in a log for the newest one of all.
  const at = await one(`SELECT greatest(${[NOW, ...[from, to].flatMap(lastMomentsIn)].join(', ')})
    AS value`)
  const lastPosition = await one(`SELECT greatest(
      (SELECT coalesce(max(position), 0) FROM ${to}.events),
      (SELECT coalesce(max(position_to), 0) FROM ${to}.recoveries)) AS value`)
  const lastKey = await one(
    `SELECT coalesce(max(first + length(prints) / ${FINGERPRINT_BYTES}) - 1, 0) AS value
     FROM ${to}.idempotency_prints`,
  )
  const lastLink = await one(
    `SELECT coalesce(max(first + json_array_length(links::json)) - 1, 0) AS value
     FROM ${to}.intent_users`,
  )

  // What the rows of other tables refer to.
  await run(`CREATE TEMP TABLE payments ON COMMIT DROP AS
    SELECT id FROM ${from}.intents WHERE ${isOwn}
    UNION ALL SELECT id FROM ${from}.payouts WHERE ${isOwn}`)
  await run(`CREATE TEMP TABLE postings ON COMMIT DROP AS
    SELECT posting, dense_rank() OVER (ORDER BY posting) AS ordinal FROM (
      SELECT posting FROM ${from}.ledger_entries WHERE ${isOwn}
      UNION SELECT posting FROM ${from}.ledger_entries WHERE entity IN (
        SELECT id FROM ${from}.discrepancies WHERE ${isOwn})) AS own`)
  await run(`CREATE TEMP TABLE entities ON COMMIT DROP AS
    SELECT id FROM payments
    UNION SELECT entity FROM ${from}.ledger_entries WHERE ${isOwn}
    ${['webhook_endpoints', 'discrepancies', 'signing_keys', 'beneficiaries', 'fx_quotes']
      .map((table) => `UNION SELECT id FROM ${from}.${table} WHERE ${isOwn}`)
      .join(' ')}
    UNION SELECT unnest(ARRAY['${[partner, ...tenantsOf(partner)].join("', '")}'])`)
  await run(`CREATE TEMP TABLE positions ON COMMIT DROP AS
    SELECT position, row_number() OVER (ORDER BY position) AS ordinal
    FROM ${from}.events WHERE ${isOwn}`)
  await connection.exec(`
    CREATE INDEX ON payments (id); CREATE INDEX ON postings (posting);
    CREATE INDEX ON entities (id); CREATE INDEX ON positions (position);
    ANALYZE payments; ANALYZE postings; ANALYZE entities; ANALYZE positions`)

  const payments = await one('SELECT count(*) AS value FROM payments')
  await moveLinks(connection, move, lastLink)
  await moveKeys(connection, move, lastKey)
  for (const table of ['master_keys', 'lasting_keys'] as const) await run(KEY_ROWS[table](from, to))

  await moveTable('partners', `id = '${partner}'`)
  for (const table of BY_TENANT) await moveTable(table, isOwn)
  await moveTable('ledger_accounts', tenantIn('id', partner))
  await moveTable('balance_alerts', tenantIn('account', partner))
  const users = tenantsOf(partner).map((tenant) => `starts_with(key, '["${tenant}",')`)
  await moveTable('event_retention', isOwn, { position: `${lastPosition}` })
  await moveTable('limit_usage', users.join(' OR '))
  await moveTable('ledger_entries', 'posting IN (SELECT posting FROM postings)', {
    posting: `${lastPosting} + (SELECT ordinal FROM postings
      WHERE postings.posting = gone.posting)`,
    posted_as: 'coalesce(posted_as, posting)',
  })
  await run(`INSERT INTO ${to}.moved_postings (first, below)
    SELECT ${lastPosting} + 1, ${lastPosting} + 1 + max(ordinal) FROM postings HAVING count(*) > 0`)
  await run(`DELETE FROM ${from}.moved_postings AS m WHERE NOT EXISTS (
    SELECT 1 FROM ${from}.ledger_entries WHERE posting >= m.first AND posting < m.below)`)
  const newPosition = (of: string): string =>
    `${lastPosition} + (SELECT ordinal FROM positions WHERE positions.position = ${of}.position)`
  for (const table of ['outbox', 'event_outcomes', 'events'])
    await moveTable(table, 'position IN (SELECT position FROM positions)', {
      position: newPosition('gone'),
    })
  await run(`INSERT INTO ${to}.nonces (seen_at, fingerprints)
    SELECT seen_at, fingerprints FROM ${from}.nonces
    WHERE seen_at >= greatest(${NOW}, (SELECT max(seen_at) FROM ${from}.nonces),
      (SELECT max(seen_at) FROM ${to}.nonces)) - ${NONCES_WITHIN_MS}
    ORDER BY id`)
  await moveActions(connection, move, moveTable)

  await check(
    'a balance is not the sum of its entries',
    `SELECT a.id AS subject FROM ${to}.ledger_accounts AS a LEFT JOIN (
       SELECT account, sum(amount) AS sum FROM ${to}.ledger_entries
       WHERE posting > ${lastPosting} GROUP BY account) AS e ON e.account = a.id
     WHERE ${tenantIn('a.id', partner)} AND a.balance <> coalesce(e.sum, 0)`,
  )
  await check(
    'an entry is of another account',
    `SELECT account AS subject FROM ${to}.ledger_entries
     WHERE posting > ${lastPosting} AND NOT (${tenantIn('account', partner)})`,
  )

  await run(`INSERT INTO ${from}.moved_payments (id, partner)
    SELECT id, '${partner}' FROM payments`)
  await run(`DELETE FROM ${to}.moved_payments AS m USING payments WHERE m.id = payments.id`)
  for (const shard of [from, to])
    await connection.run(
      `INSERT INTO ${shard}.operator_log (at, actor, reason, action, subject)
       VALUES (?, ?, ?, 'move_partner', ?)`,
      [at, actor, reason, `${partner} ${from} ${to}`],
    )
  await connection.run(
    `UPDATE cluster.placements SET shard = ?, since = ${NOW} WHERE partner = ? AND shard = ?`,
    [to, partner, from],
  )
  await connection.run(
    `UPDATE cluster.partner_moves SET ended_at = ${NOW}, cause = NULL WHERE partner = ?`,
    [partner],
  )
  return payments
}

const BY_TENANT = [
  ...(['signing_keys', 'intents', 'payouts', 'beneficiaries', 'webhook_endpoints'] as const),
  ...(['fx_quotes', 'routes', 'discrepancies', 'request_actions', 'user_erasures'] as const),
] as const

/** The other shard opens what was sealed here: it may need a key that it has emptied. */
const KEY_ROWS = {
  master_keys: (from: string, to: string) => `
    INSERT INTO ${to}.master_keys (kid, sealing_since, emptied_at)
      SELECT kid, NULL, emptied_at FROM ${from}.master_keys
    ON CONFLICT (kid) DO UPDATE SET emptied_at =
      CASE WHEN excluded.emptied_at IS NOT NULL THEN master_keys.emptied_at END`,
  lasting_keys: (from: string, to: string) => `
    INSERT INTO ${to}.lasting_keys (id, sealed)
      SELECT id, sealed FROM ${from}.lasting_keys WHERE starts_with(id, 'tokens.')
    ON CONFLICT DO NOTHING`,
} as const

/** The operators' actions on what moves, and the approvals that they name. */
async function moveActions(
  connection: Rows,
  { partner, from }: PartnerMove,
  moveTable: (
    table: string,
    condition: string,
    changed: Changed,
    left?: readonly string[],
  ) => Promise<number>,
): Promise<void> {
  const subject = "split_part(subject, ' ', 1)"
  await connection.run(`CREATE TEMP TABLE requests ON COMMIT DROP AS
    SELECT id FROM ${from}.approval_requests WHERE ${subject} IN (SELECT id FROM entities)
    UNION SELECT approval FROM ${from}.operator_log WHERE approval IS NOT NULL
      AND (${subject} IN (SELECT id FROM entities) OR tenant ${inTenants(partner)})`)
  await moveTable('approval_requests', 'id IN (SELECT id FROM requests)', {})
  await moveTable(
    'operator_log',
    `action <> 'move_partner' AND (${subject} IN (SELECT id FROM entities)
      OR ${subject} IN (SELECT id FROM requests) OR approval IN (SELECT id FROM requests)
      OR tenant ${inTenants(partner)})`,
    {},
    ['id'],
  )
}
