/**
 * The tables that a commit writes, and their rows in memory. Those of operators are in
 * operator_tables.
 *
 * Does not own: the schema (schema/*.sql), the SQL of a commit (commit_view, postgres/commit), the
 * rows' contents (processor).
 *
 * - Int64 amounts are decimal text in JSON and in results, because JSON numbers above 2^53 are
 *   rounded.
 */
import type { TenantId } from '../base/ids.js'
import { OPERATOR_TABLES } from './operator_tables.js'

export type ColumnType = 'text' | 'integer' | 'int64' | 'json'

export interface Table {
  readonly name: string
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Columns of the upsert key; a table without a key is append-only. */
  readonly key?: readonly string[]
  /** Immutable columns: an upsert leaves them and their indexes alone. */
  readonly fixed?: readonly string[]
  /** Columns that can be null. */
  readonly nullable?: readonly string[]
  /** Columns of large JSON texts, which a commit to SQLite keeps out of its JSON (commit_view). */
  readonly large?: readonly string[]
}

const RATE_COLUMNS = {
  currency: 'text',
  rate: 'text',
  set_at: 'integer',
  opening_rate: 'text',
  opened_at: 'integer',
  actor: 'text',
  before_rate: 'text',
  removed_at: 'integer',
} as const

const RATE_NULLABLE = ['opening_rate', 'opened_at', 'actor', 'before_rate', 'removed_at'] as const

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
    nullable: ['revoked_at'],
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
    nullable: ['due_at', 'confirmed_at'],
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
    nullable: ['due_at'],
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
    nullable: ['request_id'],
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
    large: ['response'],
    nullable: ['response'],
    columns: {
      sequence: 'integer',
      key: 'text',
      request_hash: 'text',
      entity: 'text',
      response: 'text',
    },
  },
  keyIndex: {
    name: 'idempotency_index',
    key: ['fingerprint', 'sequence'],
    columns: { fingerprint: 'int64', sequence: 'integer' },
  },
  keyIndexMoves: {
    name: 'idempotency_index_moves',
    columns: { through: 'integer', at: 'integer' },
  },
  keyAges: {
    name: 'idempotency_ages',
    key: ['through'],
    columns: { through: 'integer', at: 'integer' },
  },
  keyRetention: {
    name: 'idempotency_retention',
    key: ['kind'],
    columns: { kind: 'text', through: 'integer' },
  },
  eventRetention: {
    name: 'event_retention',
    key: ['tenant'],
    columns: {
      tenant: 'text',
      sequence: 'integer',
      position: 'integer',
      created_at: 'integer',
    },
  },
  entries: {
    name: 'ledger_entries',
    nullable: ['tenant'],
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
    large: ['body'],
    nullable: ['request_id', 'traceparent'],
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
      traceparent: 'text',
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
    nullable: ['disabled_at', 'dead_announced_at'],
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
      dead_announced_at: 'integer',
    },
  },
  /** Production's. */
  rates: {
    name: 'rates',
    key: ['currency'],
    nullable: RATE_NULLABLE,
    columns: RATE_COLUMNS,
  },
  sandboxRates: {
    name: 'sandbox_rates',
    key: ['currency'],
    nullable: RATE_NULLABLE,
    columns: RATE_COLUMNS,
  },
  fxQuotes: {
    name: 'fx_quotes',
    key: ['id'],
    fixed: ['request_id'],
    nullable: ['conversion', 'request_id'],
    columns: {
      id: 'text',
      tenant: 'text',
      sold_currency: 'text',
      sold: 'int64',
      bought_currency: 'text',
      bought: 'int64',
      expires_at: 'integer',
      conversion: 'text',
      request_id: 'text',
    },
  },
  routes: {
    name: 'routes',
    key: ['tenant', 'country', 'currency'],
    nullable: ['amount_min', 'amount_max', 'review_from'],
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
  railRoutes: {
    name: 'rail_routes',
    key: ['route'],
    columns: { route: 'text', rail: 'text', set_at: 'integer', actor: 'text' },
  },
  submissionPauses: {
    name: 'submission_pauses',
    key: ['subject'],
    nullable: ['resumed_at'],
    columns: {
      subject: 'text',
      reason: 'text',
      actor: 'text',
      paused_at: 'integer',
      resumed_at: 'integer',
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
    nullable: ['tenant', 'plan', 'currency', 'amount', 'resolved_at', 'settlement'],
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
  ...OPERATOR_TABLES,
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
type NullableOf<N extends TableName> = (typeof TABLES)[N] extends {
  readonly nullable: readonly (infer C)[]
}
  ? C
  : never

/** A row in memory. */
export type Row<N extends TableName> = {
  readonly [C in keyof ColumnsOf<N>]: C extends NullableOf<N>
    ? TypeOfColumn<ColumnsOf<N>[C]> | null
    : TypeOfColumn<ColumnsOf<N>[C]>
}

export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** The tables that payments write, so most commits have rows of no other one. */
export const BUSY_TABLES = [
  ...(['intents', 'payouts', 'beneficiaries', 'idempotency'] as const),
  ...(['entries', 'accounts', 'events', 'usage'] as const),
]

/** The column list of a SELECT for `fromStored`. */
export function columnsOf(name: TableName): string {
  return Object.entries<ColumnType>(TABLES[name].columns)
    .map(([column, type]) => (type === 'int64' ? `CAST(${column} AS TEXT) AS ${column}` : column))
    .join(', ')
}

/**
 * The end of an upsert; '' for an append-only table. A table whose columns are all of its key keeps
 * the row that it has.
 */
export function onConflict({ key, fixed = [], columns }: Table): string {
  if (key === undefined) return ''
  const kept = [...key, ...fixed]
  const updates = Object.keys(columns).filter((name) => !kept.includes(name))
  const change = updates.map((name) => `${name} = excluded.${name}`).join(', ')
  const target = ` ON CONFLICT (${key.join(', ')}) DO`
  return change === '' ? `${target} NOTHING` : `${target} UPDATE SET ${change}`
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

/** JSON that cannot be read is undefined: one damaged row must not stop what reads many. */
export function fromStored<N extends TableName>(name: N, stored: StoredRow): Row<N> {
  const values = Object.entries<ColumnType>(TABLES[name].columns).map(([column, type]) => {
    const value = stored[column] ?? null
    if (typeof value !== 'string') return [column, value]
    if (type === 'int64') return [column, BigInt(value)]
    return [column, type === 'json' ? jsonIn(value) : value]
  })
  return Object.fromEntries(values) as Row<N>
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
