-- The console can be a caller: it calls as the operator whose certificate it shows.
CREATE TABLE callers_with_consoles (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (
    kind IN ('operator', 'service', 'gateway', 'webhooks', 'supervisor', 'processor', 'console')
  ),
  roles TEXT NOT NULL,
  -- JSON: the partners that an internal service may act for; null: all.
  partners TEXT,
  -- The common name of a client certificate.
  certificate TEXT,
  tokens TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO callers_with_consoles SELECT * FROM callers;
DROP TABLE callers;
ALTER TABLE callers_with_consoles RENAME TO callers;
