-- When dead deliveries of the endpoint were last announced to the partner's other endpoints; null:
-- never.
ALTER TABLE webhook_endpoints ADD COLUMN dead_announced_at INTEGER;
