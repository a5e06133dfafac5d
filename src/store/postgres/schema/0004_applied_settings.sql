CREATE TABLE applied_settings (
  version bigint PRIMARY KEY CHECK (version > 0),
  kind text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  set_at bigint NOT NULL,
  actor text NOT NULL,
  applied_at bigint NOT NULL
);
