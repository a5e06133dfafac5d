-- Callers of gRPC that operators manage, besides the ones of the setting CALLERS; a row with the name
-- of a configured caller replaces it. `tokens`: JSON, the digest of each token that the caller ever
-- had, its creation and its end, so that a retired token is never accepted again.
CREATE TABLE callers (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL
    CHECK (kind IN ('operator', 'service', 'gateway', 'webhooks', 'supervisor', 'processor')),
  roles TEXT NOT NULL,
  -- JSON: the partners that an internal service may act for; null: all.
  partners TEXT,
  -- The common name of a client certificate.
  certificate TEXT,
  tokens TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
