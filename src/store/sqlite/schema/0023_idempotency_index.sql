-- Idempotency keys that are too old for the index in memory, by fingerprint: the first four bytes of
-- `key` as a little-endian word, and the next four below it, as one signed integer.
CREATE TABLE idempotency_index (
  fingerprint INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (fingerprint, sequence)
) STRICT, WITHOUT ROWID;

-- Every key with a sequence up to `through` is in `idempotency_index` since `at`. Younger ones may
-- be: a move that a crash interrupted is repeated.
CREATE TABLE idempotency_index_moves (
  through INTEGER PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT;
