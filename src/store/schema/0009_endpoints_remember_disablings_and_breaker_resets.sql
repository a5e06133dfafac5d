-- How often an endpoint was disabled and when last: each time has its event, from this version on.
-- 0 stands for a moment before that. And when the pauses between tries were last ended on request.
ALTER TABLE webhook_endpoints ADD COLUMN times_disabled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook_endpoints ADD COLUMN disabled_at INTEGER;
ALTER TABLE webhook_endpoints ADD COLUMN breaker_reset_at INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET disabled_at = 0 WHERE status = 'disabled';
