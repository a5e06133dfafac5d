-- What the sandbox rail was told and what it did. An amount is a 64-bit integer in minor units of its
-- currency; instants are epoch milliseconds.

-- One row an instruction, for ever. `executions` counts how often money moved out.
CREATE TABLE instructions (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('payout', 'qr_payment')),
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  account TEXT NOT NULL,
  -- Digest of all that was instructed: the same id must come with the same content.
  content TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'executed', 'refused', 'returned')),
  -- While pending: the reason it will be refused with.
  refusal TEXT,
  transaction_id TEXT,
  executions INTEGER NOT NULL CHECK (executions IN (0, 1)),
  -- What happens next by itself, and when.
  due_at INTEGER,
  due_step TEXT CHECK (due_step IN ('execute', 'refuse', 'return')),
  -- The report of the present state, while it waits for its acknowledgement.
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
