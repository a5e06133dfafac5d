-- The set of books that sent the instruction. Null: the only one, or from before this was kept.
ALTER TABLE instructions ADD COLUMN shard TEXT;
