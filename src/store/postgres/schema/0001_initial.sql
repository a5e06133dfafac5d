-- The tables of one processor on PostgreSQL, as src/store/schema has them for SQLite. What differs:
-- integers are bigint, JSON stays text (jsonb would change stored texts), the outbox has tables of
-- its own, and `owner` has a lease. The database collates by bytes.

-- Whether a text is valid JSON; PostgreSQL 15 has no such function.
CREATE FUNCTION is_json(candidate text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM candidate::json;
  RETURN true;
EXCEPTION WHEN data_exception THEN
  RETURN false;
END $$;

-- The owner's epoch and the number of commits: each commit moves `last_batch` from n - 1 to n under
-- the epoch of its owner. `holder` and `beat` are the lease: they decide when a processor takes
-- over, never whether two can commit. `session` is the process id of the holder's connection.
CREATE TABLE owner (
  only_row bigint PRIMARY KEY CHECK (only_row = 1),
  epoch bigint NOT NULL CHECK (epoch >= 0),
  last_batch bigint NOT NULL CHECK (last_batch >= 0),
  holder text NOT NULL,
  beat bigint NOT NULL,
  session bigint NOT NULL,
  schema_version bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO owner VALUES (1, 0, 0, '', 0, 0, 0);

CREATE TABLE partners (
  id text PRIMARY KEY,
  suspended bigint NOT NULL CHECK (suspended IN (0, 1)),
  allowed_ips text NOT NULL,
  packages text NOT NULL,
  corridors text NOT NULL,
  rate_limit_per_second bigint NOT NULL CHECK (rate_limit_per_second >= 0),
  created_at bigint NOT NULL
);
CREATE TABLE signing_keys (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  sealed_secret text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint,
  revoked bigint NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
);
CREATE TABLE intents (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  state text NOT NULL CHECK (state IN
    ('created', 'authorized', 'captured', 'failed', 'expired', 'refunded', 'cancelled')),
  due_at bigint,
  confirmed_at bigint,
  context text NOT NULL
);
CREATE INDEX intents_due ON intents (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX intents_confirmed ON intents (confirmed_at) WHERE confirmed_at IS NOT NULL;
CREATE TABLE payouts (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  state text NOT NULL CHECK (state IN ('created', 'processing', 'completed', 'failed', 'reversed')),
  due_at bigint,
  reference text NOT NULL,
  beneficiary text NOT NULL,
  context text NOT NULL
);
CREATE INDEX payouts_due ON payouts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX payouts_of_tenant ON payouts (tenant, id);
CREATE INDEX payouts_by_state ON payouts (tenant, state, id);
CREATE INDEX payouts_by_reference ON payouts (tenant, reference, id);
CREATE INDEX payouts_by_beneficiary ON payouts (tenant, beneficiary, id);
CREATE INDEX payouts_held ON payouts (id) WHERE state = 'created';
CREATE TABLE beneficiaries (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  type text NOT NULL,
  name text NOT NULL,
  destination_country text NOT NULL,
  currency text NOT NULL,
  bank_code text NOT NULL,
  account_last4 text NOT NULL,
  sealed_account text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'disabled')),
  created_at bigint NOT NULL,
  request_id text
);
CREATE INDEX beneficiaries_of_tenant ON beneficiaries (tenant, id);
CREATE TABLE idempotency (
  sequence bigint PRIMARY KEY,
  key text NOT NULL,
  request_hash text NOT NULL,
  entity text NOT NULL,
  response text
);
CREATE TABLE idempotency_prints (
  first bigint PRIMARY KEY,
  prints bytea NOT NULL
);
CREATE TABLE ledger_entries (
  posting bigint NOT NULL,
  line bigint NOT NULL,
  account text NOT NULL,
  tenant text,
  amount bigint NOT NULL CHECK (amount <> 0),
  balance bigint NOT NULL,
  plan text NOT NULL,
  entity text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (posting, line)
);
CREATE INDEX ledger_entries_of_entity ON ledger_entries (entity);
CREATE INDEX ledger_entries_of_tenant ON ledger_entries (tenant, posting, line)
  WHERE tenant IS NOT NULL;
CREATE TABLE ledger_accounts (
  id text PRIMARY KEY,
  balance bigint NOT NULL,
  CHECK (balance >= 0 OR (id NOT LIKE '%:prefund' AND id NOT LIKE '%:reserved'))
);
CREATE TABLE events (
  position bigint PRIMARY KEY,
  id text NOT NULL UNIQUE,
  tenant text NOT NULL,
  sequence bigint NOT NULL,
  type text NOT NULL,
  entity text NOT NULL,
  created_at bigint NOT NULL,
  body text NOT NULL,
  request_id text,
  cause text,
  UNIQUE (tenant, sequence),
  UNIQUE (entity, type)
);
-- The outbox: events whose deliveries have no recorded outcome. In tables of their own because an
-- update of `events` would write all of its indexes again.
CREATE TABLE outbox (
  position bigint PRIMARY KEY
);
CREATE TABLE event_outcomes (
  position bigint PRIMARY KEY,
  settled_at bigint NOT NULL
);
CREATE TABLE limit_usage (
  key text PRIMARY KEY,
  used bigint NOT NULL CHECK (used >= 0)
);
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  url text NOT NULL,
  description text NOT NULL,
  enabled_events text NOT NULL,
  api_version text NOT NULL,
  status text NOT NULL CHECK (status IN ('enabled', 'disabled', 'deleted')),
  disabled_reason text NOT NULL,
  secrets text NOT NULL,
  created_at bigint NOT NULL,
  enabled_events_since bigint NOT NULL DEFAULT 0,
  times_disabled bigint NOT NULL DEFAULT 0,
  disabled_at bigint,
  breaker_reset_at bigint NOT NULL DEFAULT 0
);
CREATE TABLE rates (
  currency text PRIMARY KEY,
  rate text NOT NULL,
  set_at bigint NOT NULL
);
CREATE TABLE fx_quotes (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  sold_currency text NOT NULL,
  sold bigint NOT NULL CHECK (sold > 0),
  bought_currency text NOT NULL,
  bought bigint NOT NULL CHECK (bought > 0),
  expires_at bigint NOT NULL,
  conversion text
);
CREATE INDEX fx_quotes_open ON fx_quotes (expires_at) WHERE conversion IS NULL;
CREATE TABLE routes (
  tenant text NOT NULL,
  country text NOT NULL,
  currency text NOT NULL,
  enabled bigint NOT NULL CHECK (enabled IN (0, 1)),
  platform_fixed bigint NOT NULL CHECK (platform_fixed >= 0),
  platform_bps bigint NOT NULL CHECK (platform_bps >= 0),
  rail_fixed bigint NOT NULL CHECK (rail_fixed >= 0),
  handling text NOT NULL CHECK (handling IN ('on_top', 'deducted')),
  refund_fees_on_reversal bigint NOT NULL CHECK (refund_fees_on_reversal IN (0, 1)),
  amount_min bigint CHECK (amount_min > 0),
  amount_max bigint CHECK (amount_max > 0),
  review_from bigint CHECK (review_from > 0),
  PRIMARY KEY (tenant, country, currency)
);
CREATE TABLE balance_alerts (
  account text PRIMARY KEY,
  threshold bigint NOT NULL CHECK (threshold >= 0),
  armed bigint NOT NULL CHECK (armed IN (0, 1))
);
CREATE TABLE operator_log (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  evidence text,
  request_id text
);
CREATE INDEX operator_log_of_subject ON operator_log (subject);
CREATE TABLE nonces (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  seen_at bigint NOT NULL,
  fingerprints bytea NOT NULL
);
CREATE TABLE meta (
  name text PRIMARY KEY,
  value text NOT NULL
);
CREATE TABLE master_keys (
  kid text PRIMARY KEY,
  sealing_since bigint,
  emptied_at bigint,
  CHECK (sealing_since IS NULL OR emptied_at IS NULL)
);
CREATE TABLE lasting_keys (
  id text PRIMARY KEY,
  sealed text NOT NULL
);
CREATE TABLE intent_users (
  first bigint PRIMARY KEY,
  prints bytea NOT NULL,
  links text NOT NULL
);
CREATE INDEX intents_under_way ON intents (id) WHERE state = 'authorized';
CREATE INDEX payouts_under_way ON payouts (id) WHERE state = 'processing';
CREATE TABLE discrepancies (
  id text PRIMARY KEY,
  tenant text,
  entity text NOT NULL,
  reason text NOT NULL,
  report text NOT NULL,
  plan text CHECK (plan IN ('discrepancy_paid', 'discrepancy_returned')),
  currency text,
  amount bigint CHECK (amount > 0),
  at bigint NOT NULL,
  resolved_at bigint,
  settlement text CHECK (settlement IN
    ('undo', 'keep', 'charge_partner', 'credit_partner', 'write_off')),
  CHECK ((plan IS NULL) = (amount IS NULL) AND (plan IS NULL) = (currency IS NULL)),
  CHECK ((resolved_at IS NULL) = (settlement IS NULL)),
  CHECK (plan IS NOT NULL OR settlement IS NULL OR settlement = 'keep')
);
CREATE INDEX discrepancies_open ON discrepancies (at, id) WHERE resolved_at IS NULL;
CREATE INDEX discrepancies_resolved ON discrepancies (at, id) WHERE resolved_at IS NOT NULL;
CREATE INDEX discrepancies_of_entity ON discrepancies (entity);
CREATE INDEX ledger_entries_of_rail ON ledger_entries (at, posting, line)
  WHERE account LIKE '%:rail\_clearing';
CREATE TABLE accepted_losses (
  kind text NOT NULL CHECK (kind IN ('event', 'instruction')),
  id text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX intents_captured_due ON intents (id) WHERE state = 'captured' AND due_at IS NOT NULL;
CREATE TABLE recoveries (
  number bigint PRIMARY KEY,
  entered_at bigint NOT NULL,
  cause text NOT NULL,
  released_at bigint,
  -- The rail's statement that was reconciled: its name and digest; null: the rail was checked by
  -- other means, which the operators' log names.
  statement text,
  -- JSON: what the books were behind of, a sentence for each mark.
  loss text,
  position_from bigint,
  position_to bigint,
  CHECK ((released_at IS NULL) = (loss IS NULL)),
  CHECK ((released_at IS NULL) = (position_from IS NULL)),
  CHECK ((released_at IS NULL) = (position_to IS NULL)),
  CHECK (position_to >= position_from)
);
CREATE TABLE orphan_executions (
  instruction text PRIMARY KEY,
  recovery bigint NOT NULL REFERENCES recoveries (number),
  environment text CHECK (environment IN ('sandbox', 'production')),
  purpose text CHECK (purpose IN ('payout', 'qr_payment')),
  destination text,
  account_last4 text,
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  reference text,
  transaction_id text NOT NULL,
  executed_at bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'matched', 'resolved')),
  -- The payment of these books that the execution pays for.
  matched_to text,
  resolved_at bigint,
  CHECK ((status = 'matched') = (matched_to IS NOT NULL)),
  CHECK ((status = 'open') = (resolved_at IS NULL))
);
CREATE INDEX orphan_executions_matched ON orphan_executions (matched_to)
  WHERE matched_to IS NOT NULL;
CREATE INDEX orphan_executions_open ON orphan_executions (executed_at, instruction)
  WHERE resolved_at IS NULL;
CREATE INDEX orphan_executions_resolved ON orphan_executions (executed_at, instruction)
  WHERE resolved_at IS NOT NULL;
CREATE INDEX intents_of_tenant ON intents (tenant, id);
CREATE TABLE callers (
  name text PRIMARY KEY,
  kind text NOT NULL
    CHECK (kind IN ('operator', 'service', 'gateway', 'webhooks', 'supervisor', 'processor')),
  roles text NOT NULL,
  -- JSON: the partners that an internal service may act for; null: all.
  partners text,
  -- The common name of a client certificate.
  certificate text,
  tokens text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint
);

ALTER TABLE intents SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
  toast_tuple_target = 8160);
ALTER TABLE payouts SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
  toast_tuple_target = 8160);
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02, toast_tuple_target = 8160);
ALTER TABLE ledger_entries SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE ledger_accounts SET (fillfactor = 20);
ALTER TABLE intents ALTER context SET STORAGE MAIN;
ALTER TABLE payouts ALTER context SET STORAGE MAIN;
ALTER TABLE events ALTER body SET STORAGE MAIN;

INSERT INTO meta (name, value) VALUES
  ('books_id', replace(gen_random_uuid()::text, '-', '')),
  ('unlinked_to', ''),
  ('nonce_salt', upper(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')));
