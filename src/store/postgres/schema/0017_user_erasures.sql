-- Requests to erase a partner's user. An intent of the user, up to the number `last_intent`, gets the
-- id of the request in place of the user's, once it may; `waiting` are those that may not yet, NULL
-- before all were looked at. The user's id is here until the end only.
CREATE TABLE user_erasures (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  user_id text NOT NULL,
  last_intent bigint NOT NULL CHECK (last_intent > 0),
  payments bigint NOT NULL,
  waiting bigint,
  requested_at bigint NOT NULL,
  ended_at bigint,
  CHECK ((ended_at IS NULL) = (user_id <> ''))
);

CREATE INDEX user_erasures_open ON user_erasures (id) WHERE ended_at IS NULL;
