-- The file that ended payments are moved to, and the digest of each of them in it. Their ledger
-- entries stay here.
CREATE TABLE archives (
  id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE archived_payments (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
