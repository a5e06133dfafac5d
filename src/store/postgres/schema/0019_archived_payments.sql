-- The file that ended payments are moved to, and the digest of each of them in it. Their ledger
-- entries stay here.
CREATE TABLE archives (
  id text PRIMARY KEY,
  path text NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE archived_payments (
  id text PRIMARY KEY,
  digest text NOT NULL
);
