-- Payments that these books had until their partner moved to another shard. The rail may still
-- report about them.
CREATE TABLE moved_payments (
  id TEXT PRIMARY KEY,
  partner TEXT NOT NULL
) STRICT, WITHOUT ROWID;
