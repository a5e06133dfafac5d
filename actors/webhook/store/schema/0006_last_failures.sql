-- The last failure of the endpoint, to the hour; null: stored by an earlier version.
ALTER TABLE failing_endpoints ADD COLUMN failed_at INTEGER;
