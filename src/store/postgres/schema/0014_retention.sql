-- Rows that were deleted when their retention had ended, and how old the others are.
-- The last deleted event of a tenant: the ones up to `sequence` are deleted, the later ones are not.
CREATE TABLE event_retention (
  tenant text PRIMARY KEY,
  sequence bigint NOT NULL CHECK (sequence > 0),
  position bigint NOT NULL,
  created_at bigint NOT NULL
);

-- Idempotency keys of a kind up to `through` are deleted: of payouts, or of all others.
CREATE TABLE idempotency_retention (
  kind text PRIMARY KEY CHECK (kind IN ('payouts', 'others')),
  through bigint NOT NULL CHECK (through > 0)
);

-- Keys up to `through` were bound by `at`: one row for each day with new ones.
CREATE TABLE idempotency_ages (
  through bigint PRIMARY KEY,
  at bigint NOT NULL
);
