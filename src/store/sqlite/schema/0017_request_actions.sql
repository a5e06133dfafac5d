-- The request that asked for a quote; null: unknown, in rows of earlier versions.
ALTER TABLE fx_quotes ADD COLUMN request_id TEXT;

-- What a partner's request did, where neither a new row nor an event has the request. `action` is the
-- operation, `entity` what it changed. Payments and their events are not among them.
CREATE TABLE request_actions (
  request_id TEXT NOT NULL,
  action TEXT NOT NULL,
  entity TEXT NOT NULL,
  tenant TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (request_id, action, entity)
) STRICT, WITHOUT ROWID;
