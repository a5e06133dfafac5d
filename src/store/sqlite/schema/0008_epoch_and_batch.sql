-- The owner's epoch and the number of commits: each commit that writes rows moves `last_batch` from
-- n - 1 to n under the epoch of its owner. Existing databases start at 0.
CREATE TABLE owner (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  epoch INTEGER NOT NULL CHECK (epoch >= 1),
  last_batch INTEGER NOT NULL CHECK (last_batch >= 0)
) STRICT;
INSERT INTO owner (only_row, epoch, last_batch) VALUES (1, 1, 0);

-- Identifies this database; a re-created one has another id.
INSERT INTO meta (name, value) VALUES ('books_id', lower(hex(randomblob(16))));

-- Losses that an operator accepted: the newest event and instructions that other components had and
-- these books lack.
CREATE TABLE accepted_losses (
  kind TEXT NOT NULL CHECK (kind IN ('event', 'instruction')),
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
