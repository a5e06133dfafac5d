CREATE TABLE rail_routes (
  route text PRIMARY KEY,
  rail text NOT NULL,
  set_at bigint NOT NULL,
  actor text NOT NULL
);
