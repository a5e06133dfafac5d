-- `rates` is production's from now on, and the sandbox begins with a copy.
ALTER TABLE rates ADD COLUMN actor text;
ALTER TABLE rates ADD COLUMN before_rate text;
ALTER TABLE rates ADD COLUMN removed_at bigint;
CREATE TABLE sandbox_rates (
  currency text PRIMARY KEY,
  rate text NOT NULL,
  set_at bigint NOT NULL,
  opening_rate text,
  opened_at bigint,
  actor text,
  before_rate text,
  removed_at bigint
);
INSERT INTO sandbox_rates (currency, rate, set_at, opening_rate, opened_at)
  SELECT currency, rate, set_at, opening_rate, opened_at FROM rates;
