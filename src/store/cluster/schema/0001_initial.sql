-- One for all shards of a PostgreSQL cluster: which processor serves a shard, and which shard has a
-- partner.

CREATE TABLE version (
  only_row bigint PRIMARY KEY CHECK (only_row = 1),
  schema_version bigint NOT NULL
);
INSERT INTO version VALUES (1, 0);

-- A shard is a schema of the same name, which its first owner creates. `epoch`, `holder` and
-- `address` are those of the last owner that served; the lease is in the shard (table `owner`).
-- While a shard moves, `move_to` is the processor that takes a released lease at once.
CREATE TABLE shards (
  shard text PRIMARY KEY CHECK (shard ~ '^[a-z][a-z0-9_]{0,40}$'),
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  address text NOT NULL DEFAULT '',
  move_to text,
  move_requested_at bigint,
  moves bigint NOT NULL DEFAULT 0,
  CHECK ((move_to IS NULL) = (move_requested_at IS NULL))
);

-- Decided once, before the partner is created: names are unique in the cluster.
CREATE TABLE placements (
  partner text PRIMARY KEY,
  shard text NOT NULL REFERENCES shards,
  since bigint NOT NULL
);
CREATE INDEX placements_of_shard ON placements (shard);
