-- Settings for all shards of a cluster that these books have applied: version 1, 2, 3 …, each in the
-- commit of its effect. `set_at` is when the operator set it. Books outside a cluster have none.
CREATE TABLE applied_settings (
  version INTEGER PRIMARY KEY CHECK (version > 0),
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;
