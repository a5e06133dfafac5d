-- When the endpoint's event filter was set: earlier events were selected by the previous filter.
ALTER TABLE webhook_endpoints ADD COLUMN enabled_events_since INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET enabled_events_since = created_at;
