/**
 * Two rows of each table, in the order of their keys: one with a value in each column, the extremes
 * of numbers and text with everything that a statement or JSON could change; and a second one.
 */
import {
  TABLES,
  type ColumnType,
  type Row,
  type Table,
  type TableName,
} from '../../src/store/tables.js'

export const MOST = 9_223_372_036_854_775_807n
export const LEAST = -MOST - 1n
const LATEST = Number.MAX_SAFE_INTEGER

/** Line breaks, quotes, backslashes, placeholders, JSON, and characters of 1 to 4 bytes. */
export const SPECIAL = `\r\n\t\u0001 ' '' " \\ \\n \\u0041 $1 ? %s {"a":[null]} Zażółć \u2028 🙂 𝒳`
const text = (column: string): string => `${column} ${SPECIAL}`
const json = (column: string): unknown => ({ [text(column)]: [1.5, null, true, '', SPECIAL] })

/** By the type of a column; no two columns of a row have the same value. */
const VALUES: Readonly<Record<ColumnType, (column: string, index: number) => unknown>> = {
  text,
  integer: (_, index) => LATEST - index,
  int64: (_, index) => MOST - BigInt(index),
  json,
}

/** @param over what the schema or the order of keys demands */
function full<N extends TableName>(name: N, over: Partial<Row<N>> = {}): Row<N> {
  const { columns, key = [] }: Table = TABLES[name]
  const values = Object.entries(columns).map(([column, type], index) => [
    column,
    VALUES[type](column === key[0] ? 'a' : column, index),
  ])
  return { ...(Object.fromEntries(values) as Row<N>), ...over }
}

/** NULL where it may be, else short. @param over what the schema or the order of keys demands */
function brief<N extends TableName>(name: N, over: Partial<Row<N>> = {}): Row<N> {
  const { columns, nullable = [] }: Table = TABLES[name]
  const values = Object.entries(columns).map(([column, type], index) => [
    column,
    nullable.includes(column) ? null : BRIEF[type](column, index),
  ])
  return { ...(Object.fromEntries(values) as Row<N>), ...over }
}

const BRIEF: typeof VALUES = {
  text: (_, index) => 'bcdefghijklmnopq'.charAt(index),
  integer: (_, index) => 50 + index,
  int64: (_, index) => BigInt(50 + index),
  json: () => ({}),
}

export const ROWS: { readonly [N in TableName]: readonly [Row<N>, Row<N>] } = {
  partners: [
    full('partners', { suspended: 1, corridors: [], rate_limit_per_second: 7 }),
    brief('partners', { suspended: 0, packages: ['qr'], rate_limit_per_second: LATEST }),
  ],
  signingKeys: [
    full('signingKeys', { created_at: 1, revoked: 0 }),
    brief('signingKeys', { tenant: '', revoked: 1 }),
  ],
  intents: [
    full('intents', { state: 'captured', confirmed_at: 7 }),
    brief('intents', { tenant: '', state: 'created' }),
  ],
  payouts: [
    full('payouts', { state: 'created' }),
    brief('payouts', { tenant: '', state: 'completed', beneficiary: 'ben_1' }),
  ],
  beneficiaries: [
    full('beneficiaries', { status: 'active' }),
    brief('beneficiaries', { tenant: '', status: 'disabled', created_at: 1 }),
  ],
  idempotency: [
    full('idempotency', { sequence: 1 }),
    brief('idempotency', { sequence: LATEST, key: '' }),
  ],
  keyIndex: [
    full('keyIndex', { fingerprint: LEAST, sequence: 5 }),
    { fingerprint: MOST, sequence: LATEST },
  ],
  keyIndexMoves: [full('keyIndexMoves', { through: 4 }), { through: 5, at: 6 }],
  keyAges: [full('keyAges', { through: 4 }), { through: 5, at: 6 }],
  keyRetention: [full('keyRetention', { kind: 'others' }), { kind: 'payouts', through: 5 }],
  archives: [full('archives', { id: text('id') }), { id: 'x', path: 'x', created_at: 1 }],
  archivedPayments: [full('archivedPayments', { id: text('id') }), { id: 'x', digest: 'x' }],
  userErasures: [
    full('userErasures', {
      id: text('id'),
      payments: 4,
      waiting: 5,
      requested_at: 6,
      ended_at: null,
    }),
    brief('userErasures', {
      ...{ id: 'x', tenant: 'x', user_id: '', payments: LATEST },
      ...{ requested_at: LATEST, ended_at: LATEST },
    }),
  ],
  eventRetention: [
    full('eventRetention', { tenant: text('tenant'), position: 5, created_at: 6 }),
    { tenant: 'x', sequence: 1, position: LATEST, created_at: 7 },
  ],
  entries: [
    full('entries', { posting: 1, line: 2, balance: LEAST }),
    brief('entries', { posting: 41, line: LATEST, amount: LEAST, balance: MOST }),
  ],
  accounts: [
    full('accounts', { balance: LEAST }),
    { id: 'demo_sandbox:VND:prefund', balance: MOST },
  ],
  events: [
    full('events', { position: 1, sequence: 2, created_at: 3 }),
    brief('events', { position: 42, sequence: 43, created_at: LATEST, body: '', cause: 'rail' }),
  ],
  usage: [full('usage', { used: 0n }), { key: 'b', used: MOST }],
  endpoints: [
    full('endpoints', {
      ...{ status: 'enabled', created_at: 1, enabled_events_since: 2, times_disabled: 3 },
      disabled_at: 4,
    }),
    brief('endpoints', { tenant: '', enabled_events: [], status: 'disabled', created_at: LATEST }),
  ],
  rates: [full('rates'), brief('rates')],
  sandboxRates: [full('sandboxRates'), brief('sandboxRates')],
  fxQuotes: [full('fxQuotes', { bought: 1n }), brief('fxQuotes', { tenant: '', bought: MOST })],
  routes: [
    full('routes', {
      ...{ enabled: 1, handling: 'on_top', refund_fees_on_reversal: 0 },
      ...{ rail_fixed: MOST - 1n, amount_min: MOST - 2n, amount_max: MOST - 3n },
      review_from: MOST - 4n,
    }),
    brief('routes', {
      ...{ enabled: 0, platform_fixed: 0n, platform_bps: 1, rail_fixed: MOST },
      ...{ handling: 'deducted', refund_fees_on_reversal: 1 },
    }),
  ],
  balanceAlerts: [full('balanceAlerts', { armed: 1 }), { account: 'b', threshold: 0n, armed: 0 }],
  discrepancies: [
    full('discrepancies', { plan: 'discrepancy_paid', at: 1, settlement: 'undo' }),
    brief('discrepancies', { at: LATEST }),
  ],
  masterKeys: [
    full('masterKeys', { emptied_at: null }),
    brief('masterKeys', { emptied_at: LATEST }),
  ],
  lastingKeys: [full('lastingKeys'), { id: 'b', sealed: '' }],
  acceptedLosses: [
    full('acceptedLosses', { kind: 'event', id: text('a') }),
    { kind: 'instruction', id: 'b', at: 1 },
  ],
  recoveries: [
    full('recoveries', {
      number: 1,
      entered_at: 2,
      released_at: 3,
      position_from: 4,
      stops: 'writes',
    }),
    brief('recoveries', { number: 44, entered_at: LATEST, stops: 'submissions' }),
  ],
  orphans: [
    full('orphans', {
      ...{ recovery: 1, environment: 'sandbox', purpose: 'payout', executed_at: 2 },
      ...{ status: 'matched', state: 'returned' },
    }),
    brief('orphans', { recovery: 44, executed_at: LATEST, status: 'open', state: 'accepted' }),
  ],
  callers: [
    full('callers', { kind: 'operator', created_at: 1 }),
    brief('callers', { kind: 'service', roles: [], created_at: LATEST }),
  ],
  approvalRequests: [
    full('approvalRequests', { requested_at: 1, status: 'approved', decided_at: 2 }),
    brief('approvalRequests', { reason: '', requested_at: LATEST, status: 'pending' }),
  ],
  requestActions: [full('requestActions'), brief('requestActions', { at: 1 })],
  submissionPauses: [
    full('submissionPauses', { resumed_at: 1 }),
    brief('submissionPauses', { paused_at: 2 }),
  ],
  railRoutes: [full('railRoutes'), brief('railRoutes', { set_at: 1 })],
  appliedSettings: [
    full('appliedSettings', { version: 1, applied_at: 1 }),
    brief('appliedSettings', { version: 2, key: '', value: '', applied_at: LATEST }),
  ],
  operatorLog: [full('operatorLog', { at: 1 }), brief('operatorLog', { at: LATEST, actor: '' })],
}
