-- Idempotency keys that are too old for the index in memory, by fingerprint: the first four bytes of
-- `key` as a little-endian word, and the next four below it, as one signed integer.
CREATE TABLE idempotency_index (
  fingerprint bigint NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (fingerprint, sequence)
);

-- Every key with a sequence up to `through` is in `idempotency_index` since `at`. Younger ones may
-- be: a move that a crash interrupted is repeated.
CREATE TABLE idempotency_index_moves (
  through bigint PRIMARY KEY,
  at bigint NOT NULL
);
