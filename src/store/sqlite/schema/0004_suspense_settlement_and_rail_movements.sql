-- A settlement can also clear suspense: toward the partner, or as our own loss or gain. SQLite
-- cannot alter a CHECK, so the table is re-created.
CREATE TABLE settled_discrepancies (
  id TEXT PRIMARY KEY,
  tenant TEXT,
  entity TEXT NOT NULL,
  reason TEXT NOT NULL,
  report TEXT NOT NULL,
  plan TEXT CHECK (plan IN ('discrepancy_paid', 'discrepancy_returned')),
  currency TEXT,
  amount INTEGER CHECK (amount > 0),
  at INTEGER NOT NULL,
  resolved_at INTEGER,
  settlement TEXT CHECK (settlement IN
    ('undo', 'keep', 'charge_partner', 'credit_partner', 'write_off')),
  CHECK ((plan IS NULL) = (amount IS NULL) AND (plan IS NULL) = (currency IS NULL)),
  CHECK ((resolved_at IS NULL) = (settlement IS NULL)),
  CHECK (plan IS NOT NULL OR settlement IS NULL OR settlement = 'keep')
) STRICT, WITHOUT ROWID;
INSERT INTO settled_discrepancies SELECT * FROM discrepancies;
DROP TABLE discrepancies;
ALTER TABLE settled_discrepancies RENAME TO discrepancies;
CREATE INDEX discrepancies_open ON discrepancies (at, id) WHERE resolved_at IS NULL;
CREATE INDEX discrepancies_resolved ON discrepancies (at, id) WHERE resolved_at IS NOT NULL;
CREATE INDEX discrepancies_of_entity ON discrepancies (entity);

-- Rail movements in booking order.
CREATE INDEX ledger_entries_of_rail ON ledger_entries (at, posting, line)
  WHERE account GLOB '*:rail_clearing';
