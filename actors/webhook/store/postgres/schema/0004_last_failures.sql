ALTER TABLE failing_endpoints ADD COLUMN failed_at bigint;
