-- A rate is of one environment. Rates of before applied to both: `rates` is production's from now on,
-- so that a former version goes on with production's, and the sandbox begins with a copy.
-- `actor`, `before_rate`: who set it, and the rate until then; null in rows of former versions, and
-- `before_rate` also where there was none. `removed_at`: the rate is no longer set.
ALTER TABLE rates ADD COLUMN actor TEXT;
ALTER TABLE rates ADD COLUMN before_rate TEXT;
ALTER TABLE rates ADD COLUMN removed_at INTEGER;
CREATE TABLE sandbox_rates (
  currency TEXT NOT NULL PRIMARY KEY,
  rate TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  opening_rate TEXT,
  opened_at INTEGER,
  actor TEXT,
  before_rate TEXT,
  removed_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO sandbox_rates (currency, rate, set_at, opening_rate, opened_at)
  SELECT currency, rate, set_at, opening_rate, opened_at FROM rates;
