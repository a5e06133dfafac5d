-- Which intents are of one partner's user. A row holds the intents of one commit, in order, with the
-- numbers `first`, `first` + 1, …: eight bytes each in `prints`, which stand for the user, and in
-- `links` [the intent's id, the number of the same user's intent before it; 0: there is none].
-- Which intent of a user is the last is known in memory, from the prints: an index by user would
-- write a page of its own for each new intent.
CREATE TABLE intent_users (
  first INTEGER PRIMARY KEY,
  prints BLOB NOT NULL,
  links TEXT NOT NULL
) STRICT;

-- What is at the rail, or on its way there: as long as nobody knows what became of it.
CREATE INDEX intents_under_way ON intents (id) WHERE state = 'authorized';
CREATE INDEX payouts_under_way ON payouts (id) WHERE state = 'processing';
