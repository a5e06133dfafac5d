-- How often an endpoint was disabled, and when last; each has its event from this version on, and 0
-- stands for an earlier time. `breaker_reset_at`: when the circuit breaker was last reset.
ALTER TABLE webhook_endpoints ADD COLUMN times_disabled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook_endpoints ADD COLUMN disabled_at INTEGER;
ALTER TABLE webhook_endpoints ADD COLUMN breaker_reset_at INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET disabled_at = 0 WHERE status = 'disabled';
