ALTER TABLE fx_quotes ADD COLUMN request_id text;

CREATE TABLE request_actions (
  request_id text NOT NULL,
  action text NOT NULL,
  entity text NOT NULL,
  tenant text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (request_id, action, entity)
);
