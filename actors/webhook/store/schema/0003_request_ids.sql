-- The request that caused the event; null: none, or received by an earlier version.
ALTER TABLE events ADD COLUMN request_id TEXT;
