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

const RATE: Row<'rates'> = {
  currency: 'b',
  rate: '36.5000',
  set_at: 1,
  opening_rate: null,
  opened_at: null,
  actor: null,
  before_rate: null,
  removed_at: null,
}

export const ROWS: { readonly [N in TableName]: readonly [Row<N>, Row<N>] } = {
  partners: [
    full('partners', { suspended: 1, corridors: [], rate_limit_per_second: 7 }),
    {
      id: 'b',
      suspended: 0,
      allowed_ips: ['10.0.0.1'],
      packages: ['qr'],
      corridors: json('corridors'),
      rate_limit_per_second: LATEST,
      created_at: 1,
    },
  ],
  signingKeys: [
    full('signingKeys', { created_at: 1, revoked: 0 }),
    { id: 'b', tenant: '', sealed_secret: 's', created_at: 2, revoked_at: null, revoked: 1 },
  ],
  intents: [
    full('intents', { state: 'captured', confirmed_at: 7 }),
    { id: 'b', tenant: '', state: 'created', due_at: null, confirmed_at: null, context: {} },
  ],
  payouts: [
    full('payouts', { state: 'created' }),
    {
      id: 'b',
      tenant: '',
      state: 'completed',
      due_at: null,
      reference: 'r',
      beneficiary: 'ben_1',
      context: {},
    },
  ],
  beneficiaries: [
    full('beneficiaries', { status: 'active' }),
    {
      id: 'b',
      tenant: '',
      type: 't',
      name: 'n',
      destination_country: 'VN',
      currency: 'VND',
      bank_code: 'c',
      account_last4: '0042',
      sealed_account: 's',
      status: 'disabled',
      created_at: 1,
      request_id: null,
    },
  ],
  idempotency: [
    full('idempotency', { sequence: 1 }),
    { sequence: LATEST, key: '', request_hash: 'h', entity: 'e', response: null },
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
    {
      id: 'x',
      tenant: 'x',
      user_id: '',
      last_intent: 1,
      payments: LATEST,
      waiting: null,
      requested_at: LATEST,
      ended_at: LATEST,
    },
  ],
  eventRetention: [
    full('eventRetention', { tenant: text('tenant'), position: 5, created_at: 6 }),
    { tenant: 'x', sequence: 1, position: LATEST, created_at: 7 },
  ],
  entries: [
    full('entries', { posting: 1, line: 2, balance: LEAST }),
    {
      posting: 41,
      line: LATEST,
      account: 'a',
      tenant: null,
      amount: LEAST,
      balance: MOST,
      plan: 'p',
      entity: 'e',
      at: 3,
    },
  ],
  accounts: [
    full('accounts', { balance: LEAST }),
    { id: 'demo_sandbox:VND:prefund', balance: MOST },
  ],
  events: [
    full('events', { position: 1, sequence: 2, created_at: 3 }),
    {
      position: 42,
      id: 'i',
      tenant: 'u',
      sequence: 43,
      type: 't',
      entity: 'e',
      created_at: LATEST,
      body: '',
      request_id: null,
      cause: 'rail',
      traceparent: null,
    },
  ],
  usage: [full('usage', { used: 0n }), { key: 'b', used: MOST }],
  endpoints: [
    full('endpoints', {
      status: 'enabled',
      created_at: 1,
      enabled_events_since: 2,
      times_disabled: 3,
      disabled_at: 4,
    }),
    {
      id: 'b',
      tenant: '',
      url: 'u',
      description: 'd',
      enabled_events: [],
      api_version: 'v',
      status: 'disabled',
      disabled_reason: 'r',
      secrets: {},
      created_at: LATEST,
      enabled_events_since: 6,
      times_disabled: 7,
      disabled_at: null,
      breaker_reset_at: 8,
      dead_announced_at: null,
    },
  ],
  rates: [full('rates'), RATE],
  sandboxRates: [full('sandboxRates'), RATE],
  fxQuotes: [
    full('fxQuotes', { bought: 1n }),
    {
      id: 'b',
      tenant: '',
      sold_currency: 'VND',
      sold: 2n,
      bought_currency: 'USD',
      bought: MOST,
      expires_at: 3,
      conversion: null,
      request_id: null,
    },
  ],
  routes: [
    full('routes', {
      enabled: 1,
      rail_fixed: 9223372036854775806n,
      handling: 'on_top',
      refund_fees_on_reversal: 0,
      amount_min: 9223372036854775805n,
      amount_max: 9223372036854775804n,
      review_from: 9223372036854775803n,
    }),
    {
      tenant: 'b',
      country: 'TH',
      currency: 'THB',
      enabled: 0,
      platform_fixed: 0n,
      platform_bps: 1,
      rail_fixed: MOST,
      handling: 'deducted',
      refund_fees_on_reversal: 1,
      amount_min: null,
      amount_max: null,
      review_from: null,
    },
  ],
  balanceAlerts: [full('balanceAlerts', { armed: 1 }), { account: 'b', threshold: 0n, armed: 0 }],
  discrepancies: [
    full('discrepancies', { plan: 'discrepancy_paid', at: 1, settlement: 'undo' }),
    {
      id: 'b',
      tenant: null,
      entity: 'e',
      reason: 'r',
      report: {},
      plan: null,
      currency: null,
      amount: null,
      at: LATEST,
      resolved_at: null,
      settlement: null,
    },
  ],
  masterKeys: [
    full('masterKeys', { emptied_at: null }),
    { kid: 'b', sealing_since: null, emptied_at: LATEST },
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
    {
      number: 44,
      entered_at: LATEST,
      cause: 'c',
      released_at: null,
      statement: null,
      loss: null,
      position_from: null,
      position_to: null,
      stops: 'submissions',
    },
  ],
  orphans: [
    full('orphans', {
      recovery: 1,
      environment: 'sandbox',
      purpose: 'payout',
      executed_at: 2,
      status: 'matched',
      state: 'returned',
    }),
    {
      instruction: 'b',
      recovery: 44,
      environment: null,
      purpose: null,
      destination: null,
      account_last4: null,
      amount: 1n,
      currency: 'VND',
      reference: null,
      transaction_id: 't',
      executed_at: LATEST,
      status: 'open',
      matched_to: null,
      resolved_at: null,
      state: 'accepted',
      rail: null,
    },
  ],
  callers: [
    full('callers', { kind: 'operator', created_at: 1 }),
    {
      name: 'b',
      kind: 'service',
      roles: [],
      partners: null,
      certificate: null,
      tokens: {},
      created_at: LATEST,
      revoked_at: null,
    },
  ],
  approvalRequests: [
    full('approvalRequests', { requested_at: 1, status: 'approved', decided_at: 2 }),
    {
      id: 'b',
      operation: 'o',
      arguments: '{}',
      subject: 's',
      currency: null,
      amount: null,
      requested_by: 'r',
      reason: '',
      requested_at: LATEST,
      expires_at: 3,
      status: 'pending',
      decided_by: null,
      decision_reason: null,
      decided_at: null,
    },
  ],
  requestActions: [
    full('requestActions'),
    { request_id: 'b', action: 'c', entity: 'e', tenant: 't', at: 1 },
  ],
  submissionPauses: [
    full('submissionPauses', { resumed_at: 1 }),
    { subject: 'b', reason: 'r', actor: 'x', paused_at: 2, resumed_at: null },
  ],
  railRoutes: [full('railRoutes'), { route: 'b', rail: 'r', set_at: 1, actor: 'x' }],
  appliedSettings: [
    full('appliedSettings', { version: 1, applied_at: 1 }),
    { version: 2, kind: 'k', key: '', value: '', set_at: 1, actor: 'a', applied_at: LATEST },
  ],
  operatorLog: [
    full('operatorLog', { at: 1 }),
    {
      at: LATEST,
      actor: '',
      reason: 'r',
      action: 'a',
      subject: 's',
      evidence: null,
      request_id: null,
      tenant: null,
      currency: null,
      amount: null,
      approval: null,
    },
  ],
}
