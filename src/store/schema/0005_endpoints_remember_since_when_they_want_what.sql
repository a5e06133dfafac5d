-- When an endpoint's filter was set: events before that were sent by another one.
ALTER TABLE webhook_endpoints ADD COLUMN enabled_events_since INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET enabled_events_since = created_at;
