ALTER TABLE operator_log ADD COLUMN tenant text;
ALTER TABLE operator_log ADD COLUMN currency text;
ALTER TABLE operator_log ADD COLUMN amount bigint;
ALTER TABLE operator_log ADD COLUMN approval text;
CREATE INDEX operator_log_single_handed ON operator_log (at)
  WHERE amount IS NOT NULL AND approval IS NULL;
ALTER TABLE rates ADD COLUMN opening_rate text;
ALTER TABLE rates ADD COLUMN opened_at bigint;
