/**
 * Reads that find rows by any id that a support case brings.
 *
 * - Every statement reads by a key or an index, or is bounded by a range of time-ordered ids; only
 *   the operators' log, which is small, is read whole.
 * - Entities that a request created have no index by request: its id has the time, and `ofRequest`
 *   reads that range of ids. Changes without an event are in `request_actions`, whose key is the
 *   request.
 */
import type { Instant } from '../base/clock.js'
import { leastIdAt, type IdKind, type TenantId } from '../base/ids.js'
import type { Statement } from './database.js'
import type { ActorRow, Row } from './tables.js'

export interface FoundEventRow {
  readonly id: string
  readonly tenant: TenantId
  readonly type: string
  readonly entity: string
  readonly at: Instant
  readonly requestId: string | null
  readonly cause: string | null
}

/** A range of time, the end excluded. */
export interface Period {
  readonly from: Instant
  readonly to: Instant
}

export interface Search {
  actor(kind: 'intents' | 'payouts', id: string): Promise<ActorRow | undefined>
  beneficiary(id: string): Promise<FoundBeneficiary | undefined>
  /** The first ledger entry of an entity without a row of its own. */
  entry(entity: string): Promise<FoundEntry | undefined>
  eventById(id: string): Promise<FoundEventRow | undefined>
  eventsOf(entity: string): Promise<readonly FoundEventRow[]>
  payoutsByReference(tenants: readonly string[], reference: string): Promise<readonly string[]>
  /** Rows of idempotency keys, by their sequences or in the index of older keys. */
  keys(
    sequences: readonly number[],
    fingerprints: readonly bigint[],
  ): Promise<readonly Pick<Row<'idempotency'>, 'key' | 'entity'>[]>
  fxQuote(id: string): Promise<FoundQuote | undefined>
  /** Entities that a request created, or changed with an event, in this period. */
  ofRequest(requestId: string, period: Period): Promise<readonly string[]>
  /** Intents created in this period whose creation or scan was this request. */
  intentsOfRequest(requestId: string, period: Period): Promise<readonly string[]>
  /** The actions of a request of an operator or a partner. */
  actionsOf(requestId: string): Promise<readonly FoundActionRow[]>
}

export type FoundBeneficiary = Pick<Row<'beneficiaries'>, 'id' | 'tenant' | 'status'> & {
  readonly at: Instant
  readonly requestId: string | null
}

export type FoundQuote = Pick<Row<'fxQuotes'>, 'tenant' | 'conversion'> & {
  readonly requestId: string | null
}

export interface FoundEntry {
  readonly account: string
  readonly at: Instant
}

export type FoundActionRow = Pick<Row<'operatorLog'>, 'actor' | 'action' | 'subject'> & {
  readonly at: Instant
}

const ROWS_MAX = 100

export function createSearch(read: <R>(statement: Statement) => Promise<R[]>): Search {
  const entities = async (statement: Statement): Promise<readonly string[]> =>
    (await read<{ entity: string }>(statement)).map(({ entity }) => entity)

  return {
    actor: async (kind, id) => (await read<ActorRow>(actorStatement(kind, id)))[0],
    beneficiary: async (id) => (await read<FoundBeneficiary>(beneficiaryStatement(id)))[0],
    entry: async (entity) => (await read<FoundEntry>(entryStatement(entity)))[0],
    fxQuote: async (id) => (await read<FoundQuote>(quoteStatement(id)))[0],
    eventById: async (id) => (await read<FoundEventRow>(eventsWhere('id = ?', [id])))[0],
    eventsOf: (entity) =>
      read(eventsWhere("entity >= ? AND entity < CAST(? AS TEXT) || 'A'", [entity, entity])),
    payoutsByReference: (tenants, reference) =>
      entities(referenceStatement(JSON.stringify(tenants), reference)),
    keys: (sequences, fingerprints) => read(keysStatement(sequences, fingerprints)),
    ofRequest: async (requestId, period) => [
      ...(await entities(eventEntitiesOfRequest(requestId, period))),
      ...(await entities(actorsOfRequest('payouts', requestId, period))),
      ...(await entities(rowsOfRequest('beneficiaries', 'beneficiary', requestId, period))),
      ...(await entities(rowsOfRequest('fx_quotes', 'fxQuote', requestId, period))),
    ],
    intentsOfRequest: (requestId, period) =>
      entities(actorsOfRequest('intents', requestId, period)),
    actionsOf: async (requestId) => [
      ...(await read<FoundActionRow>(operatorActionsStatement(requestId))),
      ...(await read<FoundActionRow>(partnerActionsStatement(requestId))),
    ],
  }
}

const actorStatement = (kind: string, id: string): Statement => ({
  sql: () => `SELECT id, tenant, state, context FROM ${kind} WHERE id = ?`,
  values: [id],
})

const beneficiaryStatement = (id: string): Statement => ({
  sql: () => `SELECT id, tenant, status, created_at AS at, request_id AS "requestId"
    FROM beneficiaries WHERE id = ?`,
  values: [id],
})

const quoteStatement = (id: string): Statement => ({
  sql: () => `SELECT tenant, conversion, request_id AS "requestId" FROM fx_quotes WHERE id = ?`,
  values: [id],
})

const entryStatement = (entity: string): Statement => ({
  sql: () =>
    `SELECT account, at FROM ledger_entries WHERE entity = ? ORDER BY posting, line LIMIT 1`,
  values: [entity],
})

const eventsWhere = (condition: string, values: readonly string[]): Statement => ({
  sql: () => `SELECT id, tenant, type, entity, created_at AS at, request_id AS "requestId", cause
    FROM events WHERE ${condition} ORDER BY position LIMIT ${ROWS_MAX}`,
  values,
})

const referenceStatement = (tenants: string, reference: string): Statement => ({
  sql: (d) => `SELECT id AS entity FROM payouts
    WHERE ${d.isAmong('tenant', d.texts('?'))} AND reference = ?
    ORDER BY id DESC LIMIT ${ROWS_MAX}`,
  values: [tenants, reference],
})

const keysStatement = (
  sequences: readonly number[],
  fingerprints: readonly bigint[],
): Statement => ({
  sql: (d) => `SELECT key, entity FROM idempotency
    WHERE ${d.isAmong(
      'sequence',
      `${d.integers('?')} UNION ALL SELECT sequence FROM idempotency_index
      WHERE ${d.isAmong('fingerprint', d.integers('?'))}`,
    )}`,
  values: [`[${sequences.join(',')}]`, `[${fingerprints.join(',')}]`],
})

const idsIn = (kind: IdKind, { from, to }: Period): readonly [string, string] => [
  leastIdAt(kind, from),
  leastIdAt(kind, to),
]

const eventEntitiesOfRequest = (requestId: string, period: Period): Statement => ({
  sql: () => `SELECT DISTINCT entity FROM events
    WHERE id >= ? AND id < ? AND request_id = ? LIMIT ${ROWS_MAX}`,
  values: [...idsIn('event', period), requestId],
})

/** An id has no character that LIKE treats specially but `_`, which matches itself. */
const actorsOfRequest = (
  table: 'intents' | 'payouts',
  requestId: string,
  period: Period,
): Statement => ({
  sql: () => `SELECT id AS entity FROM ${table}
    WHERE id >= ? AND id < ? AND CAST(context AS TEXT) LIKE ? LIMIT ${ROWS_MAX}`,
  values: [...idsIn(table === 'intents' ? 'intent' : 'payout', period), `%${requestId}%`],
})

const rowsOfRequest = (
  table: 'beneficiaries' | 'fx_quotes',
  kind: IdKind,
  requestId: string,
  period: Period,
): Statement => ({
  sql: () => `SELECT id AS entity FROM ${table}
    WHERE id >= ? AND id < ? AND request_id = ? LIMIT ${ROWS_MAX}`,
  values: [...idsIn(kind, period), requestId],
})

const operatorActionsStatement = (requestId: string): Statement => ({
  sql: () => `SELECT at, actor, action, subject FROM operator_log
    WHERE request_id = ? ORDER BY id LIMIT ${ROWS_MAX}`,
  values: [requestId],
})

const partnerActionsStatement = (requestId: string): Statement => ({
  sql: () => `SELECT at, tenant AS actor, action, entity AS subject FROM request_actions
    WHERE request_id = ? ORDER BY at, action, entity LIMIT ${ROWS_MAX}`,
  values: [requestId],
})
