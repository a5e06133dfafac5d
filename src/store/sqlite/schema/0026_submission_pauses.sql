-- What operators stopped to submit: `rail NAME`, `corridor CORRIDOR` or `environment ENVIRONMENT`.
-- `resumed_at`: null while it is paused.
CREATE TABLE submission_pauses (
  subject TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  paused_at INTEGER NOT NULL,
  resumed_at INTEGER
) STRICT, WITHOUT ROWID;
