-- Master keys that have sealed something here, or may have. `sealing_since` is set on the one that
-- is first in the key file. From `emptied_at` on nothing is sealed with that key.
CREATE TABLE master_keys (
  kid TEXT PRIMARY KEY,
  sealing_since INTEGER,
  emptied_at INTEGER,
  CHECK (sealing_since IS NULL OR emptied_at IS NULL)
) STRICT, WITHOUT ROWID;

-- Keys that outlive the master key they were derived from; sealed with the first one.
CREATE TABLE lasting_keys (
  id TEXT PRIMARY KEY,
  sealed TEXT NOT NULL
) STRICT, WITHOUT ROWID;
