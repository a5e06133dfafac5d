CREATE TABLE submission_pauses (
  subject text PRIMARY KEY,
  reason text NOT NULL,
  actor text NOT NULL,
  paused_at bigint NOT NULL,
  resumed_at bigint
);
