-- The outcomes of each processor are read apart: one that is away does not hide those of others.
DROP INDEX events_unreported;
CREATE INDEX events_unreported ON events (tenant, position) WHERE open = 0 AND reported = 0;
