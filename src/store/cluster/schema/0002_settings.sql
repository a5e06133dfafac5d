-- What operators set for all shards: appended as 1, 2, 3 …, never changed. Each shard applies every
-- version in this order, in a commit of its books (their table `applied_settings`).
-- kind 'rate': key is the currency, value the rate; kind 'route': key is `country currency`, value
-- the route as JSON.
CREATE TABLE settings (
  version bigint PRIMARY KEY CHECK (version > 0),
  kind text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  at bigint NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  request_id text
);
