-- The setting that the owner of a shard cannot apply. While a shard has one, it takes no writes of
-- partners.
CREATE TABLE settings_faults (
  shard text PRIMARY KEY REFERENCES shards,
  version bigint NOT NULL REFERENCES settings,
  cause text NOT NULL,
  since bigint NOT NULL
);

-- Settings that a shard passes over when it cannot apply them: an operator decided so, for good.
CREATE TABLE skipped_settings (
  version bigint PRIMARY KEY REFERENCES settings,
  at bigint NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL
);
