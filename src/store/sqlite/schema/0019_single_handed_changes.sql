-- The money that an operator's action moves, and whose; null: it moves none, or the row is of an earlier
-- version. `approval`: the approval request by which it was made; null: by one operator.
ALTER TABLE operator_log ADD COLUMN tenant TEXT;
ALTER TABLE operator_log ADD COLUMN currency TEXT;
ALTER TABLE operator_log ADD COLUMN amount INTEGER;
ALTER TABLE operator_log ADD COLUMN approval TEXT;
CREATE INDEX operator_log_single_handed ON operator_log (at)
  WHERE amount IS NOT NULL AND approval IS NULL;
-- The rate at the beginning of the UTC day of `opened_at`, or the last one since that two operators set:
-- changes of the day are compared with it. Null in rows of earlier versions: the rate itself.
ALTER TABLE rates ADD COLUMN opening_rate TEXT;
ALTER TABLE rates ADD COLUMN opened_at INTEGER;
