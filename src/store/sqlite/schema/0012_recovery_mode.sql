-- Recovery mode, from start to release. While `released_at` is null the processor is read-only. A
-- release skips the event positions after `position_from` up to `position_to`, which lost commits
-- may have used, and as many sequence numbers of each tenant.
CREATE TABLE recoveries (
  number INTEGER PRIMARY KEY,
  entered_at INTEGER NOT NULL,
  cause TEXT NOT NULL,
  released_at INTEGER,
  -- The rail's statement that was reconciled: its name and digest; null: the rail was checked by
  -- other means, which the operators' log names.
  statement TEXT,
  -- JSON: what the books were behind of, a sentence for each mark.
  loss TEXT,
  position_from INTEGER,
  position_to INTEGER,
  CHECK ((released_at IS NULL) = (loss IS NULL)),
  CHECK ((released_at IS NULL) = (position_from IS NULL)),
  CHECK ((released_at IS NULL) = (position_to IS NULL)),
  CHECK (position_to >= position_from)
) STRICT;

-- Instructions that the rail's statement shows as executed and that the restored books lack.
-- `destination` is a keyed digest of the account number. Values missing in the statement are null.
CREATE TABLE orphan_executions (
  instruction TEXT PRIMARY KEY,
  recovery INTEGER NOT NULL REFERENCES recoveries (number),
  environment TEXT CHECK (environment IN ('sandbox', 'production')),
  purpose TEXT CHECK (purpose IN ('payout', 'qr_payment')),
  destination TEXT,
  account_last4 TEXT,
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL,
  reference TEXT,
  transaction_id TEXT NOT NULL,
  executed_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'matched', 'resolved')),
  -- The payment of these books that the execution pays for.
  matched_to TEXT,
  resolved_at INTEGER,
  CHECK ((status = 'matched') = (matched_to IS NOT NULL)),
  CHECK ((status = 'open') = (resolved_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX orphan_executions_matched ON orphan_executions (matched_to)
  WHERE matched_to IS NOT NULL;
CREATE INDEX orphan_executions_open ON orphan_executions (executed_at, instruction)
  WHERE resolved_at IS NULL;
CREATE INDEX orphan_executions_resolved ON orphan_executions (executed_at, instruction)
  WHERE resolved_at IS NOT NULL;
