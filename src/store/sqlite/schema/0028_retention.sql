-- Rows that were deleted when their retention had ended, and how old the others are.
-- The last deleted event of a tenant: the ones up to `sequence` are deleted, the later ones are not.
CREATE TABLE event_retention (
  tenant TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL CHECK (sequence > 0),
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Idempotency keys of a kind up to `through` are deleted: of payouts, or of all others.
CREATE TABLE idempotency_retention (
  kind TEXT PRIMARY KEY CHECK (kind IN ('payouts', 'others')),
  through INTEGER NOT NULL CHECK (through > 0)
) STRICT, WITHOUT ROWID;

-- Keys up to `through` were bound by `at`: one row for each day with new ones.
CREATE TABLE idempotency_ages (
  through INTEGER PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT;
