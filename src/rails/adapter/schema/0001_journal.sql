-- What an adapter was told and what its bank did. Amounts are 64-bit integers in minor units of their
-- currency; times are epoch milliseconds.

-- One row an instruction, never deleted: a repeated id is recognized for ever.
CREATE TABLE instructions (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('payout', 'qr_payment')),
  -- As instructed; of an executed one as the bank executed it.
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  -- Always empty: the account is sealed.
  account TEXT NOT NULL CHECK (account = ''),
  sealed_account TEXT NOT NULL,
  account_last4 TEXT NOT NULL,
  bank_code TEXT,
  -- The whole instruction as it came, sealed: for calls to the bank after a restart. Null: it was refused at once.
  sealed_instruction TEXT,
  -- Digest of what was instructed: the same id must come with the same content.
  content TEXT NOT NULL,
  reference TEXT,
  environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
  shard TEXT,
  received_at INTEGER NOT NULL,
  executed_at INTEGER,
  returned_at INTEGER,
  state TEXT NOT NULL CHECK (state IN ('pending', 'executed', 'refused', 'returned')),
  refusal TEXT,
  transaction_id TEXT,
  executions INTEGER NOT NULL CHECK (executions IN (0, 1)),
  -- When the bank is asked next: what became of a pending payment, or of a recall.
  due_at INTEGER,
  due_step TEXT CHECK (due_step IN ('execute', 'refuse', 'return')),
  -- The report of the present state, until it is acknowledged.
  report_id TEXT,
  CHECK ((state IN ('executed', 'returned')) = (executions = 1)),
  CHECK ((transaction_id IS NULL) = (executions = 0)),
  CHECK (state <> 'refused' OR refusal IS NOT NULL),
  CHECK ((due_at IS NULL) = (due_step IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX instructions_due ON instructions (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX instructions_unacknowledged ON instructions (report_id)
  WHERE report_id IS NOT NULL;

-- An id that came again with other content. Only the first content counts.
CREATE TABLE discrepancies (
  instruction TEXT NOT NULL REFERENCES instructions (id),
  content TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (instruction, content)
) STRICT, WITHOUT ROWID;

-- Empty: no account was ever stored in the clear.
CREATE TABLE accounts_in_clear (since INTEGER PRIMARY KEY) STRICT;
