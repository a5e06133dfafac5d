-- Amounts are 64-bit integers in minor units of their currency. Instants are epoch milliseconds.
-- A tenant is `{partner}_{environment}`; no row of one tenant refers to another.

CREATE TABLE partners (
  id TEXT PRIMARY KEY,
  suspended INTEGER NOT NULL CHECK (suspended IN (0, 1)),
  allowed_ips TEXT NOT NULL,
  packages TEXT NOT NULL,
  corridors TEXT NOT NULL,
  rate_limit_per_second INTEGER NOT NULL CHECK (rate_limit_per_second >= 0),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  sealed_secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- One row an actor: the snapshot is `state` and `context`; the other columns are for queries.
CREATE TABLE intents (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('created', 'authorized', 'captured', 'failed', 'expired', 'refunded', 'cancelled')),
  due_at INTEGER,
  confirmed_at INTEGER,
  context TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX intents_due ON intents (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX intents_confirmed ON intents (confirmed_at) WHERE confirmed_at IS NOT NULL;

CREATE TABLE payouts (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('created', 'processing', 'completed', 'failed', 'reversed')),
  due_at INTEGER,
  reference TEXT NOT NULL,
  beneficiary TEXT NOT NULL,
  context TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX payouts_due ON payouts (due_at) WHERE due_at IS NOT NULL;
-- Ids grow with time, so each index is in list order.
CREATE INDEX payouts_of_tenant ON payouts (tenant, id);
CREATE INDEX payouts_by_state ON payouts (tenant, state, id);
CREATE INDEX payouts_by_reference ON payouts (tenant, reference, id);
CREATE INDEX payouts_by_beneficiary ON payouts (tenant, beneficiary, id);
-- Only a payout held for review stays in `created` after its commit.
CREATE INDEX payouts_held ON payouts (id) WHERE state = 'created';

CREATE TABLE beneficiaries (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  destination_country TEXT NOT NULL,
  currency TEXT NOT NULL,
  bank_code TEXT NOT NULL,
  account_last4 TEXT NOT NULL,
  sealed_account TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX beneficiaries_of_tenant ON beneficiaries (tenant, id);

-- `key` is a digest of (tenant, operation, the caller's key). Rows are appended and never deleted.
-- Lookups use an index in memory, loaded from `idempotency_prints`: an index here would write one
-- page per new key.
CREATE TABLE idempotency (
  sequence INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  entity TEXT NOT NULL,
  response TEXT
) STRICT;

-- The first 8 bytes of each key added by one commit; the rows have the sequences `first`,
-- `first` + 1, …
CREATE TABLE idempotency_prints (
  first INTEGER PRIMARY KEY,
  prints BLOB NOT NULL
) STRICT;

-- Double entry. A posting is the lines of one transition; they sum to zero in each currency.
-- `tenant` is set on entries of the partner's own accounts, which partners can list.
CREATE TABLE ledger_entries (
  posting INTEGER NOT NULL,
  line INTEGER NOT NULL,
  account TEXT NOT NULL,
  tenant TEXT,
  amount INTEGER NOT NULL CHECK (amount <> 0),
  balance INTEGER NOT NULL,
  plan TEXT NOT NULL,
  entity TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (posting, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entries_of_entity ON ledger_entries (entity);
CREATE INDEX ledger_entries_of_tenant ON ledger_entries (tenant, posting, line)
  WHERE tenant IS NOT NULL;

CREATE TABLE ledger_accounts (
  id TEXT PRIMARY KEY,
  balance INTEGER NOT NULL,
  CHECK (balance >= 0 OR (id NOT LIKE '%:prefund' AND id NOT LIKE '%:reserved'))
) STRICT, WITHOUT ROWID;

-- The outbox. `position` is the order of commits; `sequence` is gap-free within a tenant.
-- A row is open until the outcome of its deliveries is recorded in `settled_at`.
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  type TEXT NOT NULL,
  entity TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  body TEXT NOT NULL,
  UNIQUE (tenant, sequence),
  UNIQUE (entity, type)
) STRICT;
CREATE INDEX events_open ON events (position) WHERE settled_at IS NULL;

-- A user's usage of a limit in a period. `key` names tenant, user, corridor and
-- period.
CREATE TABLE limit_usage (
  key TEXT PRIMARY KEY,
  used INTEGER NOT NULL CHECK (used >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  enabled_events TEXT NOT NULL,
  api_version TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled', 'deleted')),
  disabled_reason TEXT NOT NULL,
  secrets TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rates (
  currency TEXT PRIMARY KEY,
  rate TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `conversion` is null until the quote is accepted. Expired quotes that were not accepted are
-- deleted.
CREATE TABLE fx_quotes (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  sold_currency TEXT NOT NULL,
  sold INTEGER NOT NULL CHECK (sold > 0),
  bought_currency TEXT NOT NULL,
  bought INTEGER NOT NULL CHECK (bought > 0),
  expires_at INTEGER NOT NULL,
  conversion TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX fx_quotes_open ON fx_quotes (expires_at) WHERE conversion IS NULL;

-- Payout routes that operators have set; `tenant` is empty on a route for all tenants.
CREATE TABLE routes (
  tenant TEXT NOT NULL,
  country TEXT NOT NULL,
  currency TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  platform_fixed INTEGER NOT NULL CHECK (platform_fixed >= 0),
  platform_bps INTEGER NOT NULL CHECK (platform_bps >= 0),
  rail_fixed INTEGER NOT NULL CHECK (rail_fixed >= 0),
  handling TEXT NOT NULL CHECK (handling IN ('on_top', 'deducted')),
  refund_fees_on_reversal INTEGER NOT NULL CHECK (refund_fees_on_reversal IN (0, 1)),
  amount_min INTEGER CHECK (amount_min > 0),
  amount_max INTEGER CHECK (amount_max > 0),
  review_from INTEGER CHECK (review_from > 0),
  PRIMARY KEY (tenant, country, currency)
) STRICT, WITHOUT ROWID;

-- `armed`: the balance was last seen at or above the threshold, so falling below it alerts.
CREATE TABLE balance_alerts (
  account TEXT PRIMARY KEY,
  threshold INTEGER NOT NULL CHECK (threshold >= 0),
  armed INTEGER NOT NULL CHECK (armed IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Rail reports that contradict our state; a discrepancy never causes a transition. `plan`,
-- `currency` and `amount` are the posting to suspense, under this row's id; null: none.
CREATE TABLE discrepancies (
  id TEXT PRIMARY KEY,
  tenant TEXT,
  entity TEXT NOT NULL,
  reason TEXT NOT NULL,
  report TEXT NOT NULL,
  plan TEXT CHECK (plan IN ('discrepancy_paid', 'discrepancy_returned')),
  currency TEXT,
  amount INTEGER CHECK (amount > 0),
  at INTEGER NOT NULL,
  resolved_at INTEGER,
  settlement TEXT CHECK (settlement IN ('undo', 'keep')),
  CHECK ((plan IS NULL) = (amount IS NULL) AND (plan IS NULL) = (currency IS NULL)),
  CHECK ((resolved_at IS NULL) = (settlement IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX discrepancies_open ON discrepancies (at, id) WHERE resolved_at IS NULL;
CREATE INDEX discrepancies_resolved ON discrepancies (at, id) WHERE resolved_at IS NOT NULL;
CREATE INDEX discrepancies_of_entity ON discrepancies (entity);

CREATE TABLE operator_log (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  evidence TEXT
) STRICT;
CREATE INDEX operator_log_of_subject ON operator_log (subject);

-- The fingerprints of one commit's nonces, 8 bytes each. Rows older than the window are deleted.
CREATE TABLE nonces (
  id INTEGER PRIMARY KEY,
  seen_at INTEGER NOT NULL,
  fingerprints BLOB NOT NULL
) STRICT;

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
