-- The salt of fingerprints, from the first shard that was served. Later shards take it, so that a
-- partner's fingerprints are valid in each of them.
CREATE TABLE fingerprint_salt (
  only_row bigint PRIMARY KEY CHECK (only_row = 1),
  salt text NOT NULL
);

-- The last move of a partner to another shard. `ended_at`: null while it is requested; `cause`: why
-- it was given up.
CREATE TABLE partner_moves (
  partner text PRIMARY KEY REFERENCES placements,
  from_shard text NOT NULL REFERENCES shards,
  to_shard text NOT NULL REFERENCES shards,
  requested_at bigint NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  ended_at bigint,
  cause text,
  CHECK (from_shard <> to_shard),
  CHECK (cause IS NULL OR ended_at IS NOT NULL)
);

-- Reports of a rail that a shard got for a partner that has moved away. The shard that has the
-- partner applies them and deletes them.
CREATE TABLE moved_reports (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner text NOT NULL REFERENCES placements,
  rail text NOT NULL,
  finality_window_ms bigint NOT NULL,
  report text NOT NULL
);
