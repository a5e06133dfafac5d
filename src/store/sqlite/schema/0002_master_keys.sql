-- Master keys that encrypt, or can have encrypted, stored rows. `sealing_since` is set on the first
-- key of the key file. From `emptied_at` on no row is encrypted with that key.
CREATE TABLE master_keys (
  kid TEXT PRIMARY KEY,
  sealing_since INTEGER,
  emptied_at INTEGER,
  CHECK (sealing_since IS NULL OR emptied_at IS NULL)
) STRICT, WITHOUT ROWID;

-- Derived keys that outlive their master key; encrypted with the first master key.
CREATE TABLE lasting_keys (
  id TEXT PRIMARY KEY,
  sealed TEXT NOT NULL
) STRICT, WITHOUT ROWID;
