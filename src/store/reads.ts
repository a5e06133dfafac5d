/**
 * The reads of the processor besides lists: rows that commands need, rows at startup, timers and
 * open events.
 *
 * Does not own: connections (store, store/postgres), lists (lists).
 */
import { DAY, instant, plus, type Instant } from '../base/clock.js'
import { instantOf, isId } from '../base/ids.js'
import type { Reader } from './database.js'
import { fingerprintRows } from './stored_fingerprints.js'
import { checkedNumber } from './stored_numbers.js'
import type {
  BootState,
  DepositEntry,
  DueTimer,
  Found,
  KeyRows,
  RecoveryStop,
  StoredEvent,
  TimerKind,
  Wanted,
} from './store.js'
import {
  columnsOf,
  fromStored,
  TABLES,
  type ActorRow,
  type Row,
  type StoredRow,
  type TableName,
} from './tables.js'

export async function load(reader: Reader, wanted: Wanted): Promise<Found> {
  const texts = reader.dialect.texts('?')
  const byKey = <R>(keys: readonly (string | number | bigint)[], sql: string): Promise<R[]> =>
    keys.length === 0 ? Promise.resolve([]) : reader.all<R>(sql, [listOf(keys)])
  const rowsOf = async <N extends TableName>(
    name: N,
    keys: readonly string[],
  ): Promise<Row<N>[]> => {
    const sql = `SELECT ${columnsOf(name)} FROM ${TABLES[name].name}
       WHERE id IN (${texts})`
    return (await byKey<StoredRow>(keys, sql)).map((row) => fromStored(name, row))
  }
  const [intents, payouts, beneficiaries, newer, older, usage, fxQuotes, discrepancies, deposits] =
    await Promise.all([
      byKey<ActorRow>(
        wanted.intents,
        `SELECT id, tenant, state, context FROM intents
       WHERE id IN (${texts})`,
      ),
      byKey<ActorRow>(
        wanted.payouts,
        `SELECT id, tenant, state, context FROM payouts
       WHERE id IN (${texts})`,
      ),
      rowsOf('beneficiaries', wanted.beneficiaries),
      byKey<Row<'idempotency'>>(
        wanted.idempotency,
        `SELECT ${columnsOf('idempotency')} FROM idempotency
       WHERE sequence IN (${reader.dialect.integers('?')})`,
      ),
      byKey<Row<'idempotency'>>(
        wanted.indexedKeys,
        `SELECT ${columnsOf('idempotency')} FROM idempotency
       WHERE sequence IN (SELECT sequence FROM idempotency_index
         WHERE fingerprint IN (${reader.dialect.integers('?')}))`,
      ),
      byKey<{ key: string; used: string }>(
        wanted.usage,
        `SELECT key, CAST(used AS TEXT) AS used FROM limit_usage
       WHERE key IN (${texts})`,
      ),
      rowsOf('fxQuotes', wanted.fxQuotes),
      rowsOf('discrepancies', wanted.discrepancies),
      byKey<DepositEntry>(
        wanted.deposits,
        `SELECT entity AS deposit, account, CAST(amount AS TEXT) AS amount FROM ledger_entries
       WHERE entity IN (${texts}) AND plan IN ('deposit', 'deposit_corrected')
         AND tenant IS NOT NULL ORDER BY posting`,
      ),
    ])
  const idempotency = [...newer, ...older]
  const found = { intents, payouts, beneficiaries, idempotency, usage, fxQuotes }
  return { ...found, discrepancies, deposits }
}

/** A JSON array; a bigint is a number without loss. */
const listOf = (keys: readonly (string | number | bigint)[]): string =>
  typeof keys[0] === 'bigint' ? `[${keys.join(',')}]` : JSON.stringify(keys)

async function everyRow<N extends TableName>(reader: Reader, name: N): Promise<Row<N>[]> {
  const rows = await reader.all<StoredRow>(`SELECT ${columnsOf(name)} FROM ${TABLES[name].name}`)
  return rows.map((row) => fromStored(name, row))
}

/** One index lookup per tenant: GROUP BY would scan every event. */
const LAST_SEQUENCES = `
  WITH RECURSIVE tenants (tenant) AS (
    SELECT min(tenant) FROM events
    UNION ALL
    SELECT (SELECT min(tenant) FROM events WHERE tenant > tenants.tenant)
    FROM tenants WHERE tenant IS NOT NULL)
  SELECT last.tenant, last.sequence, last.position
  FROM tenants JOIN events last ON last.tenant = tenants.tenant
    AND last.sequence = (SELECT max(sequence) FROM events WHERE events.tenant = tenants.tenant)
  WHERE tenants.tenant IS NOT NULL`

const SINGLE_HANDED = `
  SELECT actor, at, tenant, currency, CAST(amount AS TEXT) AS amount FROM operator_log
  WHERE at >= ? AND amount IS NOT NULL AND approval IS NULL ORDER BY at`

const OPEN_ERASURES = `
  SELECT ${columnsOf('userErasures')} FROM user_erasures WHERE ended_at IS NULL ORDER BY id`

/** 32 bytes: with another salt a nonce that was used would be accepted again. */
const SALT = /^[0-9a-f]{64}$/i

/** Epoch and last batch are known since the start of the epoch. */
export async function readBootState(
  reader: Reader,
  recentSince: Instant,
): Promise<Omit<BootState, 'epoch' | 'lastBatch'>> {
  const [last] = await reader.all<{
    posting: number
    position: number
    event: number | null
    posted: number | null
    settings: number
    indexed: number
    key: number
  }>(
    `SELECT (SELECT coalesce(max(posting), 0) FROM ledger_entries) AS posting,
            (SELECT coalesce(max(position), 0) FROM events) AS position,
            (SELECT created_at FROM events ORDER BY position DESC LIMIT 1) AS event,
            (SELECT at FROM ledger_entries ORDER BY posting DESC LIMIT 1) AS posted,
            (SELECT coalesce(max(version), 0) FROM applied_settings) AS settings,
            (SELECT coalesce(max(through), 0) FROM idempotency_index_moves) AS indexed,
            (SELECT coalesce(max(sequence), 0) FROM idempotency) AS key`,
  )
  const [salt] = await reader.all<{ value: string }>(
    "SELECT value FROM meta WHERE name = 'nonce_salt'",
  )
  if (!SALT.test(salt?.value ?? '')) throw new Error('nonce_salt in meta is damaged: restore it')
  return {
    masterKeys: await everyRow(reader, 'masterKeys'),
    partners: await everyRow(reader, 'partners'),
    endpoints: await everyRow(reader, 'endpoints'),
    signingKeys: await everyRow(reader, 'signingKeys'),
    nonceSalt: Buffer.from(salt!.value, 'hex'),
    rates: await everyRow(reader, 'rates'),
    sandboxRates: await everyRow(reader, 'sandboxRates'),
    routes: await everyRow(reader, 'routes'),
    submissionPauses: await everyRow(reader, 'submissionPauses'),
    railRoutes: await everyRow(reader, 'railRoutes'),
    callers: await everyRow(reader, 'callers'),
    approvalRequests: await everyRow(reader, 'approvalRequests'),
    singleHanded: await reader.all(SINGLE_HANDED, [plus(recentSince, -DAY)]),
    balanceAlerts: await everyRow(reader, 'balanceAlerts'),
    userErasures: await reader.all(OPEN_ERASURES),
    archive: (await everyRow(reader, 'archives'))[0] ?? null,
    discrepancies: await reader.all('SELECT id FROM discrepancies'),
    accounts: await reader.all('SELECT id, CAST(balance AS TEXT) AS balance FROM ledger_accounts'),
    sequences: await readSequences(reader),
    recoveries: await readRecoveries(reader),
    orphans: await everyRow(reader, 'orphans'),
    settingsVersion: last?.settings ?? 0,
    indexedKeysThrough: last?.indexed ?? 0,
    newestMoment: await readNewestMoment(reader),
    lastPosting: checkedNumber('the newest row of ledger_entries', last?.posting ?? 0),
    newestPostingAt: last?.posted ?? null,
    lastPosition: checkedNumber('the newest row of events', last?.position ?? 0),
    newestEventAt: last?.event ?? null,
    lastKey: checkedNumber('the newest row of idempotency', last?.key ?? 0),
    ...fingerprintRows(reader),
    recentlyConfirmed: await reader.all(
      `SELECT id, tenant, state, context FROM intents
       WHERE confirmed_at >= ? AND state IN ('authorized', 'captured')`,
      [recentSince],
    ),
  }
}

async function readRecoveries(reader: Reader): Promise<BootState['recoveries']> {
  const rows = await everyRow(reader, 'recoveries')
  for (const { number, position_from: from, position_to: to } of rows)
    for (const position of [from, to]) checkedNumber(`recovery ${number}`, position ?? 0)
  return rows
}

async function readSequences(reader: Reader): Promise<BootState['sequences']> {
  const last = await reader.all<BootState['sequences'][number]>(LAST_SEQUENCES)
  for (const { tenant, sequence } of last) checkedNumber(`the newest event of ${tenant}`, sequence)
  return last
}

/** Each is the last row of an index. Ids begin with the moment of their creation. */
const LAST_MOMENTS = `
  SELECT (SELECT created_at FROM events ORDER BY position DESC LIMIT 1) AS event,
         (SELECT at FROM ledger_entries ORDER BY posting DESC LIMIT 1) AS posting,
         (SELECT at FROM operator_log ORDER BY id DESC LIMIT 1) AS action,
         (SELECT seen_at FROM nonces ORDER BY id DESC LIMIT 1) AS call`
const LAST_IDS = `
  SELECT (SELECT max(id) FROM intents) AS intent, (SELECT max(id) FROM payouts) AS payout,
         (SELECT max(id) FROM beneficiaries) AS beneficiary`

async function readNewestMoment(reader: Reader): Promise<Instant> {
  const [moments] = await reader.all<Record<string, number | null>>(LAST_MOMENTS)
  const [ids] = await reader.all<Record<string, string | null>>(LAST_IDS)
  const created = Object.values(ids ?? {}).map((id) => (id && isId(id) ? instantOf(id) : 0))
  return instant(Math.max(0, ...created, ...Object.values(moments ?? {}).map((at) => at ?? 0)))
}

export const readKeyRows = async (reader: Reader): Promise<KeyRows> => ({
  masterKeys: await everyRow(reader, 'masterKeys'),
  lastingKeys: await everyRow(reader, 'lastingKeys'),
})

export const readDue = (
  reader: Reader,
  kind: TimerKind,
  now: Instant,
  limit: number,
  after: DueTimer = BEFORE_ALL,
): Promise<readonly DueTimer[]> =>
  reader.all<DueTimer>(
    `SELECT id, due_at AS "dueAt" FROM ${kind}
     WHERE due_at <= ? AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?`,
    [now, after.dueAt, after.id, limit],
  )

const BEFORE_ALL: DueTimer = { dueAt: instant(0), id: '' }

const EVENT_COLUMNS =
  'id, tenant, type, sequence, created_at AS "createdAt", body, request_id AS "requestId", ' +
  'traceparent'

export const readOpenEvents = (
  reader: Reader,
  afterPosition: number,
  limit: number,
): Promise<readonly StoredEvent[]> =>
  reader.all<StoredEvent>(
    `SELECT position, ${EVENT_COLUMNS} FROM ${reader.dialect.openEvents}
     WHERE position > ? ORDER BY position LIMIT ?`,
    [afterPosition, limit],
  )

export async function readStoppedByRecovery(reader: Reader): Promise<RecoveryStop | null> {
  const [row] = await reader.all<{ stops: RecoveryStop }>(
    'SELECT stops FROM recoveries WHERE released_at IS NULL',
  )
  return row?.stops ?? null
}
