/**
 * The tables that a commit writes, and the SQL that writes a batch of commands in one statement.
 *
 * Owns: row shapes, the trigger that fans one INSERT out to all tables. Does not own: the schema
 * (schema/*.sql), who writes what (processor).
 *
 * - A batch is one INSERT into the view `commit_batch`, with one parameter per table: a JSON array
 *   of rows. One statement is one driver call, one transaction and one fsync, whatever the batch
 *   size.
 * - The order of `columns` is the column order in JSON: `toJson` writes it and `fanOut` reads it;
 *   `asText` and `rowsOf` (store/json_page) use a list's columns likewise.
 * - A commit must be the next batch of its epoch, otherwise it is rejected: neither a second owner
 *   nor the owner of a replaced file can continue.
 * - Int64 amounts are decimal text in JSON and in results, because JSON numbers above 2^53 are
 *   rounded.
 */
import type { TenantId } from '../base/ids.js'
import { OLDEST_NONCES } from './stored_fingerprints.js'

export type ColumnType = 'text' | 'integer' | 'int64' | 'json'

export interface Table {
  readonly name: string
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Columns of the upsert key; a table without a key is append-only. */
  readonly key?: readonly string[]
  /** Immutable columns: an upsert leaves them and their indexes alone. */
  readonly fixed?: readonly string[]
}

export const TABLES = {
  partners: {
    name: 'partners',
    key: ['id'],
    columns: {
      id: 'text',
      suspended: 'integer',
      allowed_ips: 'json',
      packages: 'json',
      corridors: 'json',
      rate_limit_per_second: 'integer',
      created_at: 'integer',
    },
  },
  signingKeys: {
    name: 'signing_keys',
    key: ['id'],
    columns: {
      id: 'text',
      tenant: 'text',
      sealed_secret: 'text',
      created_at: 'integer',
      revoked_at: 'integer',
      revoked: 'integer',
    },
  },
  intents: {
    name: 'intents',
    key: ['id'],
    fixed: ['tenant'],
    columns: {
      id: 'text',
      tenant: 'text',
      state: 'text',
      due_at: 'integer',
      confirmed_at: 'integer',
      context: 'json',
    },
  },
  payouts: {
    name: 'payouts',
    key: ['id'],
    fixed: ['tenant', 'reference', 'beneficiary'],
    columns: {
      id: 'text',
      tenant: 'text',
      state: 'text',
      due_at: 'integer',
      reference: 'text',
      beneficiary: 'text',
      context: 'json',
    },
  },
  beneficiaries: {
    name: 'beneficiaries',
    key: ['id'],
    fixed: ['tenant', 'request_id'],
    columns: {
      id: 'text',
      tenant: 'text',
      type: 'text',
      name: 'text',
      destination_country: 'text',
      currency: 'text',
      bank_code: 'text',
      account_last4: 'text',
      sealed_account: 'text',
      status: 'text',
      created_at: 'integer',
      request_id: 'text',
    },
  },
  idempotency: {
    name: 'idempotency',
    columns: {
      sequence: 'integer',
      key: 'text',
      request_hash: 'text',
      entity: 'text',
      response: 'text',
    },
  },
  entries: {
    name: 'ledger_entries',
    columns: {
      posting: 'integer',
      line: 'integer',
      account: 'text',
      tenant: 'text',
      amount: 'int64',
      balance: 'int64',
      plan: 'text',
      entity: 'text',
      at: 'integer',
    },
  },
  accounts: {
    name: 'ledger_accounts',
    key: ['id'],
    columns: { id: 'text', balance: 'int64' },
  },
  events: {
    name: 'events',
    columns: {
      position: 'integer',
      id: 'text',
      tenant: 'text',
      sequence: 'integer',
      type: 'text',
      entity: 'text',
      created_at: 'integer',
      body: 'text',
      request_id: 'text',
      cause: 'text',
    },
  },
  usage: {
    name: 'limit_usage',
    key: ['key'],
    columns: { key: 'text', used: 'int64' },
  },
  endpoints: {
    name: 'webhook_endpoints',
    key: ['id'],
    columns: {
      id: 'text',
      tenant: 'text',
      url: 'text',
      description: 'text',
      enabled_events: 'json',
      api_version: 'text',
      status: 'text',
      disabled_reason: 'text',
      secrets: 'json',
      created_at: 'integer',
      enabled_events_since: 'integer',
      times_disabled: 'integer',
      disabled_at: 'integer',
      breaker_reset_at: 'integer',
    },
  },
  rates: {
    name: 'rates',
    key: ['currency'],
    columns: { currency: 'text', rate: 'text', set_at: 'integer' },
  },
  fxQuotes: {
    name: 'fx_quotes',
    key: ['id'],
    columns: {
      id: 'text',
      tenant: 'text',
      sold_currency: 'text',
      sold: 'int64',
      bought_currency: 'text',
      bought: 'int64',
      expires_at: 'integer',
      conversion: 'text',
    },
  },
  routes: {
    name: 'routes',
    key: ['tenant', 'country', 'currency'],
    columns: {
      tenant: 'text',
      country: 'text',
      currency: 'text',
      enabled: 'integer',
      platform_fixed: 'int64',
      platform_bps: 'integer',
      rail_fixed: 'int64',
      handling: 'text',
      refund_fees_on_reversal: 'integer',
      amount_min: 'int64',
      amount_max: 'int64',
      review_from: 'int64',
    },
  },
  balanceAlerts: {
    name: 'balance_alerts',
    key: ['account'],
    columns: { account: 'text', threshold: 'int64', armed: 'integer' },
  },
  discrepancies: {
    name: 'discrepancies',
    key: ['id'],
    columns: {
      id: 'text',
      tenant: 'text',
      entity: 'text',
      reason: 'text',
      report: 'json',
      plan: 'text',
      currency: 'text',
      amount: 'int64',
      at: 'integer',
      resolved_at: 'integer',
      settlement: 'text',
    },
  },
  masterKeys: {
    name: 'master_keys',
    key: ['kid'],
    columns: { kid: 'text', sealing_since: 'integer', emptied_at: 'integer' },
  },
  lastingKeys: {
    name: 'lasting_keys',
    key: ['id'],
    columns: { id: 'text', sealed: 'text' },
  },
  acceptedLosses: {
    name: 'accepted_losses',
    key: ['kind', 'id'],
    columns: { kind: 'text', id: 'text', at: 'integer' },
  },
  recoveries: {
    name: 'recoveries',
    key: ['number'],
    columns: {
      number: 'integer',
      entered_at: 'integer',
      cause: 'text',
      released_at: 'integer',
      statement: 'text',
      loss: 'json',
      position_from: 'integer',
      position_to: 'integer',
    },
  },
  orphans: {
    name: 'orphan_executions',
    key: ['instruction'],
    columns: {
      instruction: 'text',
      recovery: 'integer',
      environment: 'text',
      purpose: 'text',
      destination: 'text',
      account_last4: 'text',
      amount: 'int64',
      currency: 'text',
      reference: 'text',
      transaction_id: 'text',
      executed_at: 'integer',
      status: 'text',
      matched_to: 'text',
      resolved_at: 'integer',
    },
  },
  callers: {
    name: 'callers',
    key: ['name'],
    columns: {
      name: 'text',
      kind: 'text',
      roles: 'json',
      partners: 'json',
      certificate: 'text',
      tokens: 'json',
      created_at: 'integer',
      revoked_at: 'integer',
    },
  },
  approvalRequests: {
    name: 'approval_requests',
    key: ['id'],
    columns: {
      id: 'text',
      operation: 'text',
      arguments: 'text',
      subject: 'text',
      currency: 'text',
      amount: 'int64',
      requested_by: 'text',
      reason: 'text',
      requested_at: 'integer',
      expires_at: 'integer',
      status: 'text',
      decided_by: 'text',
      decision_reason: 'text',
      decided_at: 'integer',
    },
  },
  operatorLog: {
    name: 'operator_log',
    columns: {
      at: 'integer',
      actor: 'text',
      reason: 'text',
      action: 'text',
      subject: 'text',
      evidence: 'text',
      request_id: 'text',
    },
  },
} as const satisfies Record<string, Table>

export type TableName = keyof typeof TABLES
type TypeOfColumn<C> = C extends 'text'
  ? string
  : C extends 'integer'
    ? number
    : C extends 'int64'
      ? bigint
      : unknown
type ColumnsOf<N extends TableName> = (typeof TABLES)[N]['columns']
type Nullable = {
  intents: 'due_at' | 'confirmed_at'
  payouts: 'due_at'
  signingKeys: 'revoked_at'
  callers: 'partners' | 'certificate' | 'revoked_at'
  endpoints: 'disabled_at'
  idempotency: 'response'
  entries: 'tenant'
  fxQuotes: 'conversion'
  routes: 'amount_min' | 'amount_max' | 'review_from'
  discrepancies: 'tenant' | 'plan' | 'currency' | 'amount' | 'resolved_at' | 'settlement'
  masterKeys: 'sealing_since' | 'emptied_at'
  approvalRequests: 'currency' | 'amount' | 'decided_by' | 'decision_reason' | 'decided_at'
  operatorLog: 'evidence' | 'request_id'
  events: 'request_id'
  beneficiaries: 'request_id'
  recoveries: 'released_at' | 'statement' | 'loss' | 'position_from' | 'position_to'
  orphans:
    | 'environment'
    | 'purpose'
    | 'destination'
    | 'account_last4'
    | 'reference'
    | 'matched_to'
    | 'resolved_at'
}
type NullableOf<N extends TableName> = N extends keyof Nullable ? Nullable[N] : never

/** A row in memory. */
export type Row<N extends TableName> = {
  readonly [C in keyof ColumnsOf<N>]: C extends NullableOf<N>
    ? TypeOfColumn<ColumnsOf<N>[C]> | null
    : TypeOfColumn<ColumnsOf<N>[C]>
}

export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** The rows of one table as the JSON parameter of `commit_batch`. */
export function toJson<N extends TableName>(name: N, rows: Iterable<Row<N>>): string | null {
  const columns = Object.keys(TABLES[name].columns) as (keyof Row<N>)[]
  const values = Array.from(rows, (row) =>
    columns.map((column): unknown => {
      const value: unknown = row[column]
      return typeof value === 'bigint' ? value.toString() : value
    }),
  )
  return values.length === 0 ? null : JSON.stringify(values)
}

/** The column list of a SELECT for `fromStored`. */
export function columnsOf(name: TableName): string {
  return Object.entries<ColumnType>(TABLES[name].columns)
    .map(([column, type]) => (type === 'int64' ? `CAST(${column} AS TEXT) AS ${column}` : column))
    .join(', ')
}

/** A stored actor. */
export interface ActorRow {
  readonly id: string
  readonly tenant: TenantId
  readonly state: string
  /** JSON. */
  readonly context: string
}

/** A row of `columnsOf` as the driver returns it. */
export type StoredRow = Readonly<Record<string, string | number | null>>

export function fromStored<N extends TableName>(name: N, stored: StoredRow): Row<N> {
  const values = Object.entries<ColumnType>(TABLES[name].columns).map(([column, type]) => {
    const value = stored[column] ?? null
    if (typeof value !== 'string') return [column, value]
    if (type === 'int64') return [column, BigInt(value)]
    return [column, type === 'json' ? (JSON.parse(value) as unknown) : value]
  })
  return Object.fromEntries(values) as Row<N>
}

/** SQL that reads one column from the JSON row `value`. */
function fromJson(type: ColumnType, place: number): string {
  const path = `value ->> '$[${place}]'`
  return type === 'int64' ? `CAST(${path} AS INTEGER)` : path
}

/** `jsonb_each` returns parsed rows; `json_each` would serialize each row to be parsed again. */
function fanOut(table: Table, parameter: string): string {
  const columns = Object.entries(table.columns)
  const names = columns.map(([name]) => name)
  const values = columns.map(([, type], place) => fromJson(type, place))
  const insert = `INSERT INTO ${table.name} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM jsonb_each(NEW.${parameter}) WHERE true`
  if (table.key === undefined) return `${insert};`
  const kept = [...table.key, ...(table.fixed ?? [])]
  const updates = names.filter((name) => !kept.includes(name)).map((n) => `${n} = excluded.${n}`)
  return `${insert} ON CONFLICT (${table.key.join(', ')}) DO UPDATE SET ${updates.join(', ')};`
}

const PARAMETERS = [
  ...TABLE_NAMES,
  'epoch',
  'batch',
  'settledEvents',
  'settledAt',
  'nonces',
  'noncesSeenAt',
  'forgetBefore',
  'forgetAfter',
  'keyFingerprints',
  'keyFingerprintsFirst',
  'userFingerprints',
  'userLinks',
  'userFirst',
] as const
export type CommitParameter = (typeof PARAMETERS)[number]

/** Expired FX quotes deleted per commit. */
export const EXPIRED_QUOTES_PER_COMMIT = 1_000

/** Run once on the writer's connection: the view and its trigger are temporary. */
export const COMMIT_VIEW = `
  CREATE TEMP VIEW commit_batch AS
    SELECT ${PARAMETERS.map((name) => `NULL AS ${name}`).join(', ')};
  CREATE TEMP TRIGGER commit_batch_fan_out INSTEAD OF INSERT ON commit_batch BEGIN
    UPDATE owner SET last_batch = NEW.batch
      WHERE epoch = NEW.epoch AND last_batch = NEW.batch - 1;
    SELECT RAISE(ABORT, 'these books are at another batch or epoch') WHERE changes() = 0;
    ${TABLE_NAMES.map((name) => fanOut(TABLES[name], name)).join('\n    ')}
    UPDATE events SET settled_at = NEW.settledAt
      WHERE id IN (SELECT value FROM json_each(NEW.settledEvents)) AND settled_at IS NULL;
    INSERT INTO nonces (seen_at, fingerprints)
      SELECT NEW.noncesSeenAt, NEW.nonces WHERE NEW.nonces IS NOT NULL;
    INSERT INTO idempotency_prints (first, prints)
      SELECT NEW.keyFingerprintsFirst, NEW.keyFingerprints WHERE NEW.keyFingerprints IS NOT NULL;
    INSERT INTO intent_users (first, prints, links)
      SELECT NEW.userFirst, NEW.userFingerprints, NEW.userLinks
        WHERE NEW.userFingerprints IS NOT NULL;
    DELETE FROM nonces WHERE NEW.forgetBefore IS NOT NULL
      AND id IN (SELECT id FROM (${OLDEST_NONCES})
        WHERE seen_at < NEW.forgetBefore OR seen_at > NEW.forgetAfter);
    DELETE FROM fx_quotes WHERE NEW.forgetBefore IS NOT NULL
      AND id IN (SELECT id FROM fx_quotes
        WHERE conversion IS NULL AND expires_at < NEW.forgetBefore
        LIMIT ${EXPIRED_QUOTES_PER_COMMIT});
  END;
`
export const COMMIT_STATEMENT = `INSERT INTO commit_batch (${PARAMETERS.join(', ')})
  VALUES (${PARAMETERS.map(() => '?').join(', ')})`
export const COMMIT_PARAMETERS: readonly CommitParameter[] = PARAMETERS
