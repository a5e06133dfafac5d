-- A partner whose rows are set apart for its move while it works, and what is left to do after it.
-- `shifts`: what is added to numbers in the other shard; `cursors`: how far each table is read;
-- `sums`: of the entries that are set apart, by account. All are JSON.
CREATE TABLE partner_copies (
  partner text PRIMARY KEY REFERENCES placements,
  from_shard text NOT NULL REFERENCES shards,
  to_shard text NOT NULL REFERENCES shards,
  actor text NOT NULL,
  reason text NOT NULL,
  phase text NOT NULL CHECK (phase IN ('copying', 'ready', 'settling', 'undoing')),
  begun_at bigint,
  shifts text NOT NULL DEFAULT '{}',
  cursors text NOT NULL DEFAULT '{}',
  sums text NOT NULL DEFAULT '{}',
  payments bigint NOT NULL DEFAULT 0,
  attempts bigint NOT NULL DEFAULT 0,
  CHECK (from_shard <> to_shard)
);
