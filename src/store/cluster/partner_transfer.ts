/**
 * Moves a partner's rows from one shard to another: one transaction of PostgreSQL.
 *
 * Owns: which rows of each table go, their numbers in the other shard. Does not own: what prevents
 * a move (cluster/partner_obstacles), requests (cluster/partner_moves), what is set apart before
 * (cluster/partner_copy), when both owners have stopped (processor/cluster).
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
import { copyOf, LAST_LINKS, NOW, type PartnerCopy } from './partner_copy.js'
import {
  attached,
  isCounterOf,
  lockedForChange,
  lockedForMove,
  renumbered,
  setApart,
} from './partner_copy_tables.js'
import {
  GivenUp,
  inTenants,
  leftBy,
  moveKeys,
  moveLinks,
  tenantsOf,
  type SetApart,
} from './partner_fingerprints.js'
import type { HeldAt, MovedBy, PartnerMove } from './partner_moves.js'
import { MOVE_WITHIN_MS, pendingAt } from './partner_moves.js'
import { belowOf, lastNumbers, linkShift, misfitOf, type Numbers } from './partner_numbers.js'
import { obstacleTo, sizeOf } from './partner_obstacles.js'

/** The time of a move grows with the rows that are not set apart, and partners wait for it. */
export const MOVED_PAYMENTS_MAX = 10_000
/** A snapshot that reads what is set apart ends before, or the move is requested again. */
const READERS_WITHIN = '300ms'
const LOCKS_WITHIN = '3s'
/** An automatic vacuum ends a second after another session waits for it. */
const VACUUM_WITHIN = '5s'
/** Until the other owner has stopped, whatever the server has for rests in a transaction. */
const HELD_WITHIN_MS = MOVE_WITHIN_MS + 3_000
/** No candidate takes the shards over before its end, also when this process is gone. */
const BOUNDS = `SET LOCAL idle_in_transaction_session_timeout = '5s';
  SET LOCAL lock_timeout = '${LOCKS_WITHIN}'; SET LOCAL statement_timeout = '20s';
  SET LOCAL jit = off`
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
      /** Those that were not set apart. */
      readonly rest: readonly string[]
      /** Those that are not in the shard any more. */
      readonly keys: readonly MovedKey[]
    }
  /** The move has ended, or an owner of the shards has not stopped. */
  | { readonly kind: 'not_now' }
  /** Nothing has changed. */
  | { readonly kind: 'given_up'; readonly cause: string }

type Rows = Pick<Connection, 'all' | 'run'>

const tenantIn = (account: string, partner: string): string =>
  `split_part(${account}, ':', 1) ${inTenants(partner)}`

/** Where the owners have stopped, by shard. */
export type HeldOwners = Readonly<Record<string, HeldAt>>

/**
 * Begins the transaction while both owners work.
 *
 * @returns why it cannot be. Null if it has begun
 */
export async function beginTransfer(
  connection: Connection,
  move: PartnerMove,
): Promise<string | null> {
  await connection.exec(`BEGIN; SET LOCAL lock_timeout = '${VACUUM_WITHIN}';
    SET LOCAL idle_in_transaction_session_timeout = ${HELD_WITHIN_MS}`)
  try {
    const copy = await copyOf(connection, move.partner)
    if (copy?.phase === 'ready') await connection.exec(lockedForChange(copy))
    return null
  } catch (error) {
    await connection.exec('ROLLBACK')
    return `it failed: ${String(error)}`
  }
}

/**
 * Ends the transaction.
 *
 * @throws Error when it is not known whether the partner has moved
 */
export async function transferPartner(
  connection: Connection,
  move: PartnerMove,
  held: HeldOwners = {},
): Promise<Transfer> {
  try {
    await connection.exec(BOUNDS)
    const by = await lock(connection, move, held)
    if (by === undefined) {
      await connection.exec('ROLLBACK')
      return { kind: 'not_now' }
    }
    const obstacle = await obstacleTo(connection, move)
    if (obstacle !== null) throw new GivenUp(obstacle)
    const found = await copyOf(connection, move.partner)
    const copy = found?.phase === 'ready' ? found : undefined
    if (copy !== undefined) await attach(connection, copy)
    const rest = await sizeOf(connection, move)
    if (rest.payments > MOVED_PAYMENTS_MAX)
      throw new GivenUp(`${rest.payments} payments are not set apart`)
    const payments = await moveRows(connection, move, by, copy)
    const keys = await connection.all<MovedKey>('SELECT sequence, key FROM keys')
    const ids = await connection.all<{ id: string }>('SELECT id FROM payments')
    await checkOwners(connection, move, held)
    crashPoint('partner_move.ending')
    await connection.exec('COMMIT')
    return { kind: 'moved', payments, rest: ids.map(({ id }) => id), keys }
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

/** What is set apart is of the other shard from here on. The tables of this one have the rest. */
async function attach(connection: Connection, copy: PartnerCopy): Promise<void> {
  const { partner, from, to, shifts, begunAt } = copy
  const [source, target] = [
    await lastNumbersOf(connection, from),
    await lastNumbersOf(connection, to),
  ]
  const misfit = misfitOf(shifts, source, target)
  if (misfit !== null) throw new GivenUp(misfit)
  const erased = await connection.all(
    `SELECT 1 FROM ${from}.user_erasures
     WHERE tenant ${inTenants(partner)} AND ended_at > ? LIMIT 1`,
    [(begunAt ?? 0) - CLOCKS_WITHIN_MS],
  )
  if (erased.length > 0) throw new GivenUp('a user was erased meanwhile')
  await connection.exec(`SET LOCAL lock_timeout = '${READERS_WITHIN}'; ${lockedForMove(copy)};
    SET LOCAL lock_timeout = '${LOCKS_WITHIN}'; ${attached(copy)}`)
  await connection.run(`INSERT INTO ${from}.meta (name, value) VALUES (?, '')`, [leftBy(partner)])
  await connection.run(
    `UPDATE cluster.partner_copies SET phase = 'settling', cursors = ? WHERE partner = ?`,
    [JSON.stringify({ [LAST_LINKS]: copy.cursors['intent_users'] ?? '0' }), partner],
  )
}
/** Erasures are dated by the clock of a processor. */
const CLOCKS_WITHIN_MS = 60_000

/**
 * A request that took too long may have been followed by an equal one, for which the other owner
 * has not stopped: it goes on.
 *
 * @returns undefined when it has ended, or a shard without an owner has one
 */
async function lock(
  connection: Rows,
  move: PartnerMove,
  held: HeldOwners,
): Promise<MovedBy | undefined> {
  const at = held[move.to]
  const isHeld = at === undefined ? '' : 'AND held_epoch = ? AND held_batch = ?'
  const [by] = await connection.all<MovedBy>(
    `SELECT actor, reason FROM cluster.partner_moves JOIN cluster.placements USING (partner)
     WHERE partner = ? AND from_shard = ? AND to_shard = ? AND shard = ? AND ${pendingAt(NOW)}
       ${isHeld} FOR UPDATE OF partner_moves SKIP LOCKED`,
    [
      ...[move.partner, move.from, move.to, move.from],
      ...(at === undefined ? [] : [at.epoch, at.batch]),
    ],
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
  copy: PartnerCopy | undefined,
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

  // The next owners take the last moment in a log for the newest one of all.
  const at = await one(`SELECT greatest(${[NOW, ...[from, to].flatMap(lastMomentsIn)].join(', ')})
    AS value`)
  const [own, last] = [await lastNumbersOf(connection, from), await lastNumbersOf(connection, to)]
  const lastPosting = Math.max(own.posting, last.posting)
  const before = copy && setApartBy(copy)
  /** The number in the other shard: that of what is set apart is shifted, so the order stays. */
  const numbered = (column: string, after: number, shift: number | undefined): string =>
    shift === undefined
      ? `${after} + dense_rank() OVER (ORDER BY ${column})`
      : `${column} + ${shift}`

  // What the rows of other tables refer to.
  await run(`CREATE TEMP TABLE payments ON COMMIT DROP AS
    SELECT id FROM ${from}.intents WHERE ${isOwn}
    UNION ALL SELECT id FROM ${from}.payouts WHERE ${isOwn}`)
  await run(`CREATE TEMP TABLE postings ON COMMIT DROP AS
    SELECT posting, ${numbered('posting', lastPosting, copy?.shifts.posting)} AS moved_to FROM (
      SELECT posting FROM ${from}.ledger_entries WHERE ${isOwn}
      UNION SELECT posting FROM ${from}.ledger_entries WHERE entity IN (
        SELECT id FROM ${from}.discrepancies WHERE ${isOwn})) AS own`)
  await run(`CREATE TEMP TABLE entities ON COMMIT DROP AS
    SELECT id FROM payments
    UNION SELECT entity FROM ${from}.ledger_entries WHERE ${isOwn}
    ${['webhook_endpoints', 'discrepancies', 'signing_keys', 'beneficiaries', 'fx_quotes']
      .map((table) => `UNION SELECT id FROM ${from}.${table} WHERE ${isOwn}`)
      .join(' ')}
    ${before === undefined ? '' : actedOn(from, before)}
    UNION SELECT unnest(ARRAY['${[partner, ...tenantsOf(partner)].join("', '")}'])`)
  await run(`CREATE TEMP TABLE positions ON COMMIT DROP AS
    SELECT position, ${numbered('position', last.position, copy?.shifts.position)} AS moved_to
    FROM ${from}.events WHERE ${isOwn}`)
  await connection.exec(`
    CREATE INDEX ON payments (id); CREATE INDEX ON postings (posting);
    CREATE INDEX ON entities (id); CREATE INDEX ON positions (position);
    ANALYZE payments; ANALYZE postings; ANALYZE entities; ANALYZE positions`)

  const payments = await one('SELECT count(*) AS value FROM payments')
  await moveLinks(connection, move, last.intent, before)
  await moveKeys(connection, move, last.key, before)
  for (const table of ['master_keys', 'lasting_keys'] as const) await run(KEY_ROWS[table](from, to))

  await moveTable('partners', `id = '${partner}'`)
  for (const table of BY_TENANT) await moveTable(table, isOwn)
  await moveTable('ledger_accounts', tenantIn('id', partner))
  await moveTable('balance_alerts', tenantIn('account', partner))
  const retained =
    copy === undefined
      ? `${last.position}`
      : `greatest(position, ${belowOf(copy.shifts, 'position')}) + ${copy.shifts.position}`
  await moveTable('event_retention', isOwn, { position: retained })
  await moveTable('limit_usage', isCounterOf('key', partner))
  await moveTable('ledger_entries', 'posting IN (SELECT posting FROM postings)', {
    posting: '(SELECT moved_to FROM postings WHERE postings.posting = gone.posting)',
    posted_as: 'coalesce(posted_as, posting)',
  })
  // Each side by itself: the ends of millions of twins are found by index.
  const twins =
    copy && `UNION ALL SELECT min(posting), max(posting) FROM ${renumbered(copy, 'ledger_entries')}`
  await run(`INSERT INTO ${to}.moved_postings (first, below)
    SELECT min(first), max(last) + 1
    FROM (SELECT min(moved_to) AS first, max(moved_to) AS last FROM postings ${twins ?? ''}) AS came
    HAVING min(first) IS NOT NULL`)
  await run(`DELETE FROM ${from}.moved_postings AS m WHERE NOT EXISTS (
    SELECT 1 FROM ${from}.ledger_entries WHERE posting >= m.first AND posting < m.below)`)
  for (const table of ['outbox', 'event_outcomes', 'events'])
    await moveTable(table, 'position IN (SELECT position FROM positions)', {
      position: '(SELECT moved_to FROM positions WHERE positions.position = gone.position)',
    })
  await copyNonces(connection, move)
  await moveActions(connection, move, moveTable)

  const came = `SELECT account, sum(amount) AS sum FROM ONLY ${to}.ledger_entries
    WHERE posting IN (SELECT moved_to FROM postings) GROUP BY account
    UNION ALL SELECT key, value::numeric FROM json_each_text('${JSON.stringify(copy?.sums ?? {})}')`
  await check(
    'a balance is not the sum of its entries',
    `SELECT a.id AS subject FROM ${to}.ledger_accounts AS a LEFT JOIN (
       SELECT account, sum(sum) AS sum FROM (${came}) AS c GROUP BY account) AS e
       ON e.account = a.id
     WHERE ${tenantIn('a.id', partner)} AND a.balance <> coalesce(e.sum, 0)`,
  )
  await check(
    'an entry is of another account',
    `SELECT account AS subject FROM (${came}) AS c WHERE NOT (${tenantIn('account', partner)})`,
  )

  await run(`INSERT INTO ${from}.moved_payments (id, partner)
    SELECT id, '${partner}' FROM payments ON CONFLICT DO NOTHING`)
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
  return payments + (copy?.payments ?? 0)
}

/**
 * They do not tell their partner, so all go. Those that an earlier move brought are there already:
 * without a look, partners that move one after another would multiply them.
 */
async function copyNonces(connection: Connection, { from, to }: PartnerMove): Promise<void> {
  const [last] = await connection.all<{ at: number }>(`SELECT greatest(${NOW},
    (SELECT max(seen_at) FROM ${from}.nonces), (SELECT max(seen_at) FROM ${to}.nonces)) AS at`)
  const usable = (shard: string): string => `SELECT seen_at, fingerprints FROM ${shard}.nonces
    WHERE seen_at >= ${last!.at - NONCES_WITHIN_MS}`
  await connection.run(`INSERT INTO ${to}.nonces (seen_at, fingerprints)
    SELECT seen_at, fingerprints FROM (${usable(from)} EXCEPT ${usable(to)}) AS missing
    ORDER BY seen_at`)
}

const lastNumbersOf = async (rows: Rows, shard: string): Promise<Numbers> =>
  (await rows.all<Numbers>(lastNumbers(shard)))[0]!

const setApartBy = (copy: PartnerCopy): SetApart => ({
  lastKey: Number(copy.cursors['idempotency'] ?? 0),
  lastLinks: Number(copy.cursors['intent_users'] ?? 0),
  ...linkShift(copy.shifts),
  has: (id) => `((SELECT true FROM ${setApart(copy, 'intents')} AS apart WHERE apart.id = ${id})
    OR (SELECT true FROM ${setApart(copy, 'payouts')} AS apart WHERE apart.id = ${id}))`,
})

/** SQL: subjects of the operators' actions on payments that are set apart. */
const actedOn = (from: string, before: SetApart): string =>
  ['operator_log', 'approval_requests']
    .map(
      (table) => `UNION SELECT split_part(subject, ' ', 1) FROM ${from}.${table} AS acted
        WHERE ${before.has("split_part(acted.subject, ' ', 1)")}`,
    )
    .join(' ')

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
