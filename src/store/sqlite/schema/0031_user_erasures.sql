-- Requests to erase a partner's user. An intent of the user, up to the number `last_intent`, gets the
-- id of the request in place of the user's, once it may; `waiting` are those that may not yet, NULL
-- before all were looked at. The user's id is here until the end only.
CREATE TABLE user_erasures (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  user_id TEXT NOT NULL,
  last_intent INTEGER NOT NULL CHECK (last_intent > 0),
  payments INTEGER NOT NULL,
  waiting INTEGER,
  requested_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((ended_at IS NULL) = (user_id <> ''))
) STRICT, WITHOUT ROWID;

CREATE INDEX user_erasures_open ON user_erasures (id) WHERE ended_at IS NULL;
