-- The rail that an operator chose for the new payments of a route: `production/TH/THB`,
-- `sandbox/th_promptpay`. A route without a row has the first rail of the file that carries it.
CREATE TABLE rail_routes (
  route TEXT PRIMARY KEY,
  rail TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  actor TEXT NOT NULL
) STRICT, WITHOUT ROWID;
