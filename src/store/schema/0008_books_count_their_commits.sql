-- Who may commit, and how many commits there are: each one that writes rows moves `last_batch` from
-- n - 1 to n under the epoch of its owner. Books of before begin at 0.
CREATE TABLE owner (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  epoch INTEGER NOT NULL CHECK (epoch >= 1),
  last_batch INTEGER NOT NULL CHECK (last_batch >= 0)
) STRICT;
INSERT INTO owner (only_row, epoch, last_batch) VALUES (1, 1, 0);

-- Tells these books from all others, also after they were deleted and made anew.
INSERT INTO meta (name, value) VALUES ('books_id', lower(hex(randomblob(16))));

-- What others knew and these books had lost, when an operator accepted that: the newest event, and
-- instructions.
CREATE TABLE accepted_losses (
  kind TEXT NOT NULL CHECK (kind IN ('event', 'instruction')),
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
