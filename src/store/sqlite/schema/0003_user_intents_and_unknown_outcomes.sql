-- Links each user's intents. A row holds the intents of one commit, numbered from `first` on:
-- `prints` has the 8-byte user fingerprint of each, `links` has [intent id, number of the same
-- user's previous intent or 0] of each. An index in memory, loaded from `prints`, has the latest
-- intent of each user: an index here would write one page per new intent.
CREATE TABLE intent_users (
  first INTEGER PRIMARY KEY,
  prints BLOB NOT NULL,
  links TEXT NOT NULL
) STRICT;

-- Payments that are submitted, or about to be, and have no outcome.
CREATE INDEX intents_under_way ON intents (id) WHERE state = 'authorized';
CREATE INDEX payouts_under_way ON payouts (id) WHERE state = 'processing';
