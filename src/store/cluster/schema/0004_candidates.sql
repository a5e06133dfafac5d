-- The processors that wait for a shard, each by its own word. A row counts while its heartbeat is recent.
CREATE TABLE candidates (
  name text PRIMARY KEY,
  address text NOT NULL,
  -- The shard that it takes first. Null if it prefers none.
  prefers text,
  -- Gateways that are connected to the address.
  gateways bigint NOT NULL,
  -- JSON: the shards that it cannot take, and why.
  cannot_take text NOT NULL,
  beat_at bigint NOT NULL
);
