-- Changes that one operator has requested and that a second one must approve. `arguments`: JSON, what the
-- change is made with; `currency` and `amount`: the money that it moves, where it moves some.
CREATE TABLE approval_requests (
  id TEXT PRIMARY KEY,
  operation TEXT NOT NULL,
  arguments TEXT NOT NULL,
  subject TEXT NOT NULL,
  currency TEXT,
  amount INTEGER,
  requested_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
  decided_by TEXT,
  decision_reason TEXT,
  decided_at INTEGER,
  CHECK ((currency IS NULL) = (amount IS NULL)),
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK ((decided_at IS NULL) = (decided_by IS NULL)),
  CHECK ((decided_at IS NULL) = (decision_reason IS NULL)),
  CHECK (status <> 'approved' OR (decided_by <> requested_by AND decided_at < expires_at))
) STRICT, WITHOUT ROWID;
