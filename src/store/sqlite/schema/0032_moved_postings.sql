-- Entries of a partner that came from another shard have new postings here: `posted_as` is the first
-- posting that they had, which their public ids are made of. NULL: `posting` is the first one.
ALTER TABLE ledger_entries ADD COLUMN posted_as INTEGER;
CREATE INDEX ledger_entries_posted_as ON ledger_entries (tenant, posted_as)
  WHERE posted_as IS NOT NULL;

-- The postings from `first`, below `below`, of one partner that came: their moments do not fall, but
-- are older than those of the postings before.
CREATE TABLE moved_postings (
  first INTEGER PRIMARY KEY,
  below INTEGER NOT NULL CHECK (below > first)
) STRICT;
