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

-- One row an actor: the snapshot is `state` and `context`; the rest is there to be found by.
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
  context TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX payouts_due ON payouts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX payouts_of_tenant ON payouts (tenant, id);

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

-- `key` is a digest of (tenant, operation, the caller's key). The row is never deleted.
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  request_hash TEXT NOT NULL,
  entity TEXT NOT NULL,
  response TEXT
) STRICT, WITHOUT ROWID;

-- Double entry. A posting is the lines of one transition; they sum to zero in each currency.
CREATE TABLE ledger_entries (
  posting INTEGER NOT NULL,
  line INTEGER NOT NULL,
  account TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount <> 0),
  balance INTEGER NOT NULL,
  plan TEXT NOT NULL,
  entity TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (posting, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entries_of_entity ON ledger_entries (entity);

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

-- What a partner's user has used of a limit, by period. `key` names tenant, user, corridor and period.
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

-- News from a rail that did not fit what we know. Never a transition by itself.
CREATE TABLE discrepancies (
  id TEXT PRIMARY KEY,
  entity TEXT NOT NULL,
  reason TEXT NOT NULL,
  report TEXT NOT NULL,
  at INTEGER NOT NULL,
  resolved_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_log (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL
) STRICT;

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
